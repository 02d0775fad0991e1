//! Figures from the samples of replays, and savings of paired replays, with confidence intervals over repeats.
//!
//! The responses of one replay depend on each other, but its repeats do not, so intervals are over repeats: for a mean, that of the
//! repeats' means; for a difference of quantiles, a bootstrap that draws whole repeats and keeps pairs together.

use crate::figure::{Moments, means};
use crate::record::Figure;
use crate::saving::Saving;
use lastmile_statistics::interval::{interval_95, student};
use lastmile_statistics::{mean, quantile, sd, varies};
use lastmile_units::{Seed, random};

/// Samples of each repeat; every repeat has the same number.
pub type Runs = Vec<Vec<f64>>;

/// The inputs to every figure: the sources of variation between repeats, and the bootstrap's seed.
#[derive(Debug, Clone)]
pub struct Figures {
    /// What varies between repeats.
    pub varied: Vec<String>,
    /// The seed of every bootstrap.
    pub seed: Seed,
}

impl Figures {
    /// The figure of the samples of runs; of nothing but zeros where there are none.
    pub fn figure(&self, unit: &str, per: &str, runs: &Runs) -> Figure {
        Figure::of_runs(unit, per, runs, &self.varied, self.seed)
            .unwrap_or_else(|| Figure::of_moments(unit, per, Moments::default(), |_| None))
    }

    /// The saving of `setting` relative to `baseline`, in pairs: the `i`th sample of a repeat of one belongs to that of the other.
    pub fn saving(&self, baseline: &Runs, setting: &Runs) -> Saving {
        let differences: Runs = baseline.iter().zip(setting).map(|(a, b)| subtract(a, b)).collect();
        let all = differences.concat();
        let mean_s = mean(&all).unwrap_or_default();
        let centre = mean(&baseline.concat()).unwrap_or_default();
        let varied = varies(&means(&differences));
        let of_quantile = |probability| {
            let pairs: Vec<usize> = (0..baseline.len()).collect();
            let estimate = quantile_difference(baseline, setting, &pairs, probability);
            (
                estimate,
                self.quantile_interval(baseline, setting, probability, estimate),
            )
        };
        let (median_s, median_ci95_s) = of_quantile(0.5);
        let (p95_s, p95_ci95_s) = of_quantile(0.95);
        Saving {
            pairs: all.len() as u64,
            mean_s,
            mean_ci95_s: interval_95(&means(&differences), self.seed),
            median_s,
            median_ci95_s,
            p95_s,
            p95_ci95_s,
            share: if centre == 0.0 { 0.0 } else { mean_s / centre },
            varied: if varied { self.varied.clone() } else { Vec::new() },
        }
    }

    /// `estimate ± t * se * sqrt(n / (n - 1))`, where se is the deviation of the estimate over resampled repeats. A percentile
    /// interval of few repeats would be too narrow by the two factors (see [`interval_95`]'s module).
    fn quantile_interval(&self, baseline: &Runs, setting: &Runs, probability: f64, estimate: f64) -> Option<[f64; 2]> {
        let n = baseline.len();
        if n < 2 {
            return None;
        }
        let mut rng = self.seed.derive("quantiles").rng();
        let resampled: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let drawn: Vec<usize> = (0..n).map(|_| random::below(&mut rng, n)).collect();
                quantile_difference(baseline, setting, &drawn, probability)
            })
            .collect();
        if !varies(&resampled) {
            return None;
        }
        let widened = sd(&resampled)? * (n as f64 / (n - 1) as f64).sqrt();
        let half = student::critical_95(n - 1).unwrap_or(NORMAL_95) * widened;
        Some([estimate - half, estimate + half])
    }
}

/// Resamples for a standard error: Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), section 6.4, find 200 enough.
const RESAMPLES: usize = 200;

/// The limit of Student's t for many repeats.
const NORMAL_95: f64 = 1.96;

fn subtract(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// The baseline's quantile minus the setting's, over the repeats `drawn`.
fn quantile_difference(baseline: &Runs, setting: &Runs, drawn: &[usize], probability: f64) -> f64 {
    let of = |runs: &Runs| {
        let samples: Vec<f64> = drawn.iter().flat_map(|repeat| &runs[*repeat]).copied().collect();
        quantile(&samples, probability).unwrap_or_default()
    };
    of(baseline) - of(setting)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> Figures {
        Figures {
            varied: vec!["CPU times".to_owned()],
            seed: Seed::new(1),
        }
    }

    #[test]
    fn a_saving_pairs_sample_by_sample() {
        let baseline = vec![vec![3.0, 5.0], vec![4.0, 6.0]];
        let setting = vec![vec![1.0, 2.0], vec![2.0, 3.0]];
        let saving = figures().saving(&baseline, &setting);
        assert_eq!((saving.pairs, saving.mean_s, saving.share), (4, 2.5, 2.5 / 4.5));
        assert_eq!(saving.mean_ci95_s, None, "both repeats save the same");
        assert!(saving.varied.is_empty());
        // Medians 4.5 and 2; 95th percentiles by linear interpolation 5.85 and 2.85.
        assert_eq!(saving.median_s, 2.5);
        assert!((saving.p95_s - 3.0).abs() < 1e-12);
    }

    #[test]
    fn intervals_hold_their_estimate_and_are_absent_where_nothing_varied() {
        let baseline: Runs = (0..7).map(|run| vec![10.0 + f64::from(run), 20.0]).collect();
        let setting: Runs = (0..7).map(|run| vec![5.0 + 0.5 * f64::from(run), 9.0]).collect();
        let saving = figures().saving(&baseline, &setting);
        let [low, high] = saving.median_ci95_s.unwrap();
        assert!(low < saving.median_s && saving.median_s < high);
        let same = figures().saving(&vec![vec![2.0]; 7], &vec![vec![1.0]; 7]);
        assert_eq!(
            (same.median_ci95_s, same.p95_ci95_s, same.mean_ci95_s),
            (None, None, None)
        );
        assert_eq!(figures().figure("s", "page", &vec![vec![2.0]; 7]).ci95, None);
    }
}
