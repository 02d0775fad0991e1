use super::*;

const DRAWS: usize = 400_000;
const STANDARD_ERRORS: f64 = 5.0;
const MILLISECOND: f64 = 1e6;

/// Delays in nanoseconds, about a one-way delay of 100 ms.
fn delays(jitter: &str) -> Vec<f64> {
    let jitter = jitter.parse().unwrap();
    let mut process = DelayProcess::new(Duration::from_millis(100), jitter, Reordering::None, Seed::new(1));
    (0..DRAWS).map(|_| process.draw().0.as_nanos() as f64).collect()
}

/// Checks mean and deviation, with tolerances from the sample size: the mean's standard error is sd / sqrt(n), the
/// deviation's is sd x sqrt((kurtosis - 1) / 4n).
fn assert_mean_and_deviation(jitter: &str, mean: f64, deviation: f64, kurtosis: f64) {
    let delays = delays(jitter);
    let n = DRAWS as f64;
    let found_mean = delays.iter().sum::<f64>() / n;
    let found_deviation = (delays.iter().map(|delay| (delay - found_mean).powi(2)).sum::<f64>() / n).sqrt();
    let mean_error = STANDARD_ERRORS * deviation / n.sqrt();
    let deviation_error = STANDARD_ERRORS * deviation * ((kurtosis - 1.0) / (4.0 * n)).sqrt();
    assert!(
        (found_mean - mean).abs() < mean_error,
        "{jitter}: mean {found_mean}, not {mean} +- {mean_error}"
    );
    assert!(
        (found_deviation - deviation).abs() < deviation_error,
        "{jitter}: deviation {found_deviation}, not {deviation} +- {deviation_error}"
    );
}

#[test]
fn uniform_jitter_has_the_mean_and_spread_of_its_half_width() {
    assert_mean_and_deviation("20 ms", 100.0 * MILLISECOND, 20.0 * MILLISECOND / 3f64.sqrt(), 1.8);
}

#[test]
fn added_jitter_starts_at_the_one_way_delay() {
    assert_mean_and_deviation(
        "added(40 ms)",
        120.0 * MILLISECOND,
        40.0 * MILLISECOND / 12f64.sqrt(),
        1.8,
    );
}

#[test]
fn normal_jitter_keeps_98_7_per_cent_of_its_deviation_after_the_cut() {
    // The variance of a standard normal cut at +-3 is 1 - 2 x 3 x pdf(3) / (2 cdf(3) - 1) = 0.973337.
    assert_mean_and_deviation(
        "normal(5 ms)",
        100.0 * MILLISECOND,
        0.973_337f64.sqrt() * 5.0 * MILLISECOND,
        3.0,
    );
}

#[test]
fn no_draw_leaves_its_bounds_and_all_of_the_width_is_used() {
    for (jitter, from, to) in [
        ("20 ms", 80.0, 120.0),
        ("added(40 ms)", 100.0, 140.0),
        ("normal(5 ms)", 85.0, 115.0),
    ] {
        let delays = delays(jitter);
        let least = delays.iter().copied().fold(f64::INFINITY, f64::min) / MILLISECOND;
        let most = delays.iter().copied().fold(0.0, f64::max) / MILLISECOND;
        assert!(least >= from && most <= to, "{jitter}: {least} to {most} ms");
        // The outermost thousandth of a uniform width gets 400 draws on average; the normal's gets about one in 10,000.
        assert!(
            least < from + (to - from) / 20.0 && most > to - (to - from) / 20.0,
            "{jitter}: {least} to {most} ms"
        );
    }
}

#[test]
fn late_frames_are_as_many_and_as_late_as_stated() {
    let late = Reordering::Late {
        probability: Probability::new(0.1).unwrap(),
        extra_delay: Duration::from_millis(30),
    };
    let mut process = DelayProcess::new(Duration::from_millis(100), Jitter::None, late, Seed::new(1));
    let mut count = 0_u32;
    for _ in 0..DRAWS {
        let (delay, late) = process.draw();
        assert_eq!(delay, Duration::from_millis(if late { 130 } else { 100 }));
        count += u32::from(late);
    }
    let standard_error = (0.1 * 0.9 / DRAWS as f64).sqrt();
    assert!(
        (f64::from(count) / DRAWS as f64 - 0.1).abs() < STANDARD_ERRORS * standard_error,
        "{count}"
    );
}
