use super::*;
use lastmile_units::Rng;
use rand_core::Rng as _;

fn uniform(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// Normal samples of mean 10 and standard deviation 1.
fn normal_samples(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Seed::new(seed).derive("normal").rng();
    (0..n).map(|_| 10.0 + normal::quantile(uniform(&mut rng))).collect()
}

/// Exponential samples of mean 10: the long right tail of response times.
fn exponential_samples(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Seed::new(seed).derive("exponential").rng();
    (0..n).map(|_| -10.0 * libm::log(uniform(&mut rng))).collect()
}

/// How often the interval contains the true mean, 10, over a number of seeds.
fn coverage(seeds: u64, interval: impl Fn(u64) -> Option<[f64; 2]>) -> f64 {
    let holds = |seed: &u64| interval(*seed).is_some_and(|[low, high]| (low..=high).contains(&10.0));
    (0..seeds).filter(holds).count() as f64 / seeds as f64
}

/// Three standard deviations of a binomial share of 0.95.
fn tolerance(seeds: u64) -> f64 {
    3.0 * (0.95 * 0.05 / seeds as f64).sqrt()
}

#[test]
fn five_samples_are_covered_as_promised() {
    let found = coverage(4000, |seed| interval_95(&normal_samples(5, seed), Seed::new(seed)));
    assert!((found - 0.95).abs() < tolerance(4000), "{found}");
}

#[test]
fn a_bootstrap_of_five_samples_would_not_be() {
    let found = coverage(1000, |seed| {
        bootstrap::mean_interval_95(&normal_samples(5, seed), Seed::new(seed))
    });
    assert!(found < 0.88, "{found}");
}

#[test]
fn sixty_samples_are_covered_as_promised_and_long_tails_better_than_by_a_symmetric_interval() {
    let bootstrapped = coverage(1000, |seed| interval_95(&normal_samples(60, seed), Seed::new(seed)));
    assert!((bootstrapped - 0.95).abs() < tolerance(1000), "{bootstrapped}");
    let skewed = coverage(1000, |seed| {
        interval_95(&exponential_samples(60, seed), Seed::new(seed))
    });
    assert!((skewed - 0.95).abs() < tolerance(1000), "{skewed}");
}

#[test]
fn the_interval_of_a_long_tail_reaches_further_up_than_down() {
    let samples = exponential_samples(60, 3);
    let [low, high] = interval_95(&samples, Seed::new(1)).unwrap();
    let centre = mean(&samples).unwrap();
    assert!(high - centre > centre - low, "{low} {centre} {high}");
}

#[test]
fn a_t_interval_is_what_arithmetic_gives() {
    // Mean 3, standard deviation sqrt(2.5), 4 degrees of freedom: 3 -+ 2.776 * sqrt(0.5).
    let [low, high] = interval_95(&[1.0, 2.0, 3.0, 4.0, 5.0], Seed::new(1)).unwrap();
    assert!(
        (low - (3.0 - 2.776 * 0.5_f64.sqrt())).abs() < 1e-12 && (high - (3.0 + 2.776 * 0.5_f64.sqrt())).abs() < 1e-12
    );
}

#[test]
fn where_nothing_varied_or_there_is_one_sample_there_is_no_interval() {
    for samples in [&[][..], &[1.0], &[2.0; 5], &[0.1; 50]] {
        assert_eq!(interval_95(samples, Seed::new(1)), None);
    }
}

#[test]
fn the_same_samples_and_seed_give_the_same_interval() {
    let samples = exponential_samples(50, 1);
    assert_eq!(interval_95(&samples, Seed::new(9)), interval_95(&samples, Seed::new(9)));
    assert_ne!(interval_95(&samples, Seed::new(9)), interval_95(&samples, Seed::new(8)));
}
