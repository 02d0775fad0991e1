use super::*;

const FRAMES: usize = 1_000_000;

/// How many standard errors an estimate may be off: more would occur by chance once in 1.7 million.
const STANDARD_ERRORS: f64 = 5.0;

fn models() -> Vec<Loss> {
    [
        "0.1 %",
        "1 %",
        "20 %",
        "bursty(rate=1 %, burst=3)",
        "bursty(rate=10 %, burst=1)",
        "bursty(rate=2 %, burst=20)",
    ]
    .into_iter()
    .chain([
        "gilbert-elliott(p=1 %, r=30 %)",
        "gilbert-elliott(p=0.5 %, r=10 %, loss_good=0.1 %, loss_bad=60 %)",
        "gilbert-elliott(p=40 %, r=90 %, loss_good=5 %, loss_bad=50 %)",
    ])
    .map(|text| text.parse().unwrap())
    .collect()
}

fn lost(loss: &Loss, seed: u64) -> Vec<bool> {
    let mut process = LossProcess::new(loss, Seed::new(seed));
    (0..FRAMES).map(|_| process.next_is_lost()).collect()
}

/// The lengths of the runs of lost frames.
fn bursts(lost: &[bool]) -> Vec<f64> {
    lost.split(|lost| !lost)
        .map(|run| run.len() as f64)
        .filter(|length| *length > 0.0)
        .collect()
}

/// The standard error of the loss rate over `FRAMES` frames, whose losses are correlated from frame to frame: the
/// correlation over k frames falls as (1 - p - r)^k from that of neighbours.
fn standard_error_of_rate(loss: &Loss) -> f64 {
    let rate = loss.rate().get();
    let channel = match *loss {
        Loss::Bernoulli(_) => return (rate * (1.0 - rate) / FRAMES as f64).sqrt(),
        Loss::GilbertElliott(channel) => channel,
        Loss::Bursty { rate, burst } => Loss::channel(rate.get(), burst),
    };
    let (one, two) = channel.moments();
    let variance = one * (1.0 - one);
    let persistence = 1.0 - channel.good_to_bad.get() - channel.bad_to_good.get();
    let neighbours = (two - one * one) / variance;
    (variance * (1.0 + 2.0 * neighbours / (1.0 - persistence)) / FRAMES as f64).sqrt()
}

#[test]
fn every_model_loses_its_marginal_rate() {
    for loss in models() {
        let found = lost(&loss, 1).iter().filter(|lost| **lost).count() as f64 / FRAMES as f64;
        let tolerance = STANDARD_ERRORS * standard_error_of_rate(&loss);
        assert!(
            (found - loss.rate().get()).abs() < tolerance,
            "{loss}: {found} is not {} +- {tolerance}",
            loss.rate()
        );
    }
}

#[test]
fn every_model_loses_bursts_of_its_mean_length() {
    for loss in models() {
        let bursts = bursts(&lost(&loss, 2));
        let count = bursts.len() as f64;
        let mean = bursts.iter().sum::<f64>() / count;
        let variance = bursts.iter().map(|length| (length - mean).powi(2)).sum::<f64>() / (count - 1.0);
        // A model of bursts of exactly 1 has no spread; its mean is exact.
        let tolerance = STANDARD_ERRORS * (variance / count).sqrt() + 1e-12;
        let expected = loss.burst_length_mean().unwrap();
        assert!(
            (mean - expected).abs() < tolerance,
            "{loss}: {mean} is not {expected} +- {tolerance}"
        );
    }
}

#[test]
fn the_loss_rate_holds_from_the_first_frame() {
    // 2,000 seeds, the first frame of each: a chain that always started good would lose none of them.
    let loss: Loss = "bursty(rate=20 %, burst=100)".parse().unwrap();
    let seeds = 2_000;
    let lost = (0..seeds)
        .filter(|seed| LossProcess::new(&loss, Seed::new(*seed)).next_is_lost())
        .count() as f64;
    let standard_error = (0.2 * 0.8 / seeds as f64).sqrt();
    assert!(
        (lost / seeds as f64 - 0.2).abs() < STANDARD_ERRORS * standard_error,
        "{lost} of {seeds}"
    );
}

#[test]
fn nothing_and_everything_are_exact() {
    assert_eq!(lost(&Loss::NONE, 3).iter().filter(|lost| **lost).count(), 0);
    assert_eq!(
        lost(&Loss::Bernoulli(Probability::ALWAYS), 3)
            .iter()
            .filter(|lost| **lost)
            .count(),
        FRAMES
    );
    assert_eq!(Loss::NONE.burst_length_mean(), None);
    assert_eq!(Loss::Bernoulli(Probability::ALWAYS).burst_length_mean(), None);
}

#[test]
fn gilberts_channel_has_the_text_books_rate_and_bursts() {
    let loss: Loss = "gilbert-elliott(p=1 %, r=25 %)".parse().unwrap();
    assert!((loss.rate().get() - 0.01 / 0.26).abs() < 1e-15);
    assert!((loss.burst_length_mean().unwrap() - 4.0).abs() < 1e-12);
}

#[test]
fn a_channel_whose_states_lose_alike_is_bernoulli() {
    let channel: Loss = "gilbert-elliott(p=10 %, r=20 %, loss_good=5 %, loss_bad=5 %)"
        .parse()
        .unwrap();
    let alone: Loss = "5 %".parse().unwrap();
    assert!((channel.rate().get() - alone.rate().get()).abs() < 1e-15);
    assert!((channel.burst_length_mean().unwrap() - alone.burst_length_mean().unwrap()).abs() < 1e-12);
}
