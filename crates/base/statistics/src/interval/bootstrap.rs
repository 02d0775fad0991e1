//! The BCa bootstrap interval of the mean, which assumes no distribution.
//!
//! B. Efron, "Better Bootstrap Confidence Intervals", *Journal of the American Statistical Association* 82 (1987): percentiles of
//! resampled means, moved by a bias correction `z0` and an acceleration `a`. Seeded, so that the same samples give the same interval.

use super::normal;
use crate::{mean, quantile};
use lastmile_units::{Seed, random};

/// The number of resamples: Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), section 14.3, ask for at least 1,000.
const RESAMPLES: usize = 2000;

/// The 95 % interval of the mean; none if there are no samples. Below about 20 samples it is too narrow.
pub fn mean_interval_95(samples: &[f64], seed: Seed) -> Option<[f64; 2]> {
    let centre = mean(samples)?;
    let resampled = resampled_means(samples, seed);

    // z0: how far the resampled means lie to one side of the mean; a tie counts half.
    let below = resampled.iter().filter(|value| **value < centre).count() as f64;
    let equal = resampled.iter().filter(|value| **value == centre).count() as f64;
    let z0 = normal::quantile((below + equal / 2.0) / RESAMPLES as f64);
    let acceleration = acceleration(samples, centre);
    let bound = |tail: f64| {
        // Efron's equation (1.9), with `z0 + z(alpha)` once in the numerator and once under the acceleration.
        let z = z0 + normal::quantile(tail);
        quantile(&resampled, normal::below(z0 + z / (1.0 - acceleration * z)))
    };
    Some([bound(0.025)?, bound(0.975)?])
}

/// Means of resamples of the same size, drawn with replacement.
fn resampled_means(samples: &[f64], seed: Seed) -> Vec<f64> {
    let mut rng = seed.derive("bootstrap").rng();
    let mut any = || random::pick(&mut rng, samples);
    let one = |_| (0..samples.len()).map(|_| any()).sum::<f64>() / samples.len() as f64;
    (0..RESAMPLES).map(one).collect()
}

/// Efron's `a` by the jackknife (his equation 6.6 for n means, each without one sample): a sixth of the skewness of their influence.
/// For the mean, leaving out a sample moves it in proportion to the sample's own distance.
fn acceleration(samples: &[f64], centre: f64) -> f64 {
    let power = |exponent| samples.iter().map(|value| (value - centre).powi(exponent)).sum::<f64>();
    let squares = power(2);
    if squares == 0.0 {
        0.0
    } else {
        power(3) / (6.0 * squares * squares.sqrt())
    }
}
