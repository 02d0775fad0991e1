//! Splits a total into object sizes that add up to it exactly.

use crate::WorkloadError;
use lastmile_units::random::shuffle;
use lastmile_units::{ByteCount, Seed};

/// The least and the most that an object of mixed sizes adds to a stream: those of the smallest and the largest objects in the
/// report's cases ("the main range of the size of TestExecution objects is from 1 to 17 k byte").
const SIZE_MIN: f64 = 550.0;
const SIZE_MAX: f64 = 16_619.0;

/// Splits `total` into shares that differ by at most a byte, the larger ones first.
pub(super) fn even(objects: usize, total: u64) -> Vec<ByteCount> {
    let objects = objects as u64;
    (0..objects)
        .map(|index| ByteCount::new(total / objects + u64::from(index < total % objects)))
        .collect()
}

/// Splits `total` into shares of a bounded Pareto distribution, in random order.
///
/// Sizes of stored objects have heavy tails, so we chose this family. Its bounds are the report's range, and its exponent is the one
/// with which the shares add up to the total. The shares are the distribution's quantiles at (i + 1/2)/n, not n independent draws,
/// whose sum would miss the total by some 10 %; the rounding remainder goes to the largest.
pub(super) fn mixed(objects: usize, total: u64, seed: Seed) -> Result<Vec<ByteCount>, WorkloadError> {
    let shares = |exponent: f64| -> Vec<u64> {
        (0..objects)
            .map(|index| quantile((index as f64 + 0.5) / objects as f64, exponent).round() as u64)
            .collect()
    };
    let sum = |exponent: f64| shares(exponent).iter().sum::<u64>();
    let (mut heavy, mut light) = (-20.001, 20.0);
    if !(sum(light)..=sum(heavy)).contains(&total) {
        let problem = format!(
            "{objects} objects of mixed sizes cannot add up to {total} B; each adds {SIZE_MIN} to {SIZE_MAX} B, so change objects or total"
        );
        return Err(WorkloadError::spec("test-executions", problem));
    }
    // The sum falls as the exponent grows. 60 bisections leave less than 1e-16 of the interval.
    for _ in 0..60 {
        let middle = (heavy + light) / 2.0;
        if sum(middle) > total {
            heavy = middle;
        } else {
            light = middle;
        }
    }
    let mut shares = shares(light);
    let left_over = total - shares.iter().sum::<u64>();
    *shares.last_mut().expect("there is an object") += left_over;
    shuffle(&mut seed.rng(), &mut shares);
    Ok(shares.into_iter().map(ByteCount::new).collect())
}

/// The quantile of a bounded Pareto distribution at `probability`: L (1 - p (1 - (L/H)^a))^(-1/a), with L and H the bounds and a the
/// exponent (Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions 1, chapter 20).
fn quantile(probability: f64, exponent: f64) -> f64 {
    let tail = libm::pow(SIZE_MIN / SIZE_MAX, exponent);
    SIZE_MIN * libm::pow(1.0 - probability * (1.0 - tail), -1.0 / exponent)
}
