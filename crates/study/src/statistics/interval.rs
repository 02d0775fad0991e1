//! Between which bounds does the mean lie, with 95 % confidence?
//!
//! Two methods, by the number of samples:
//!
//! - Below [`BOOTSTRAP_FROM`] samples, **Student's t** interval. A bootstrap resamples what it has: of five samples its spread is too
//!   small by a factor of `sqrt(4/5)` and it uses the normal's 1.96 where t has 2.78, so that it covers the mean in some 84 % of the
//!   cases instead of 95 % (Hesterberg, "What Teachers Should Know About the Bootstrap", *The American Statistician* 69 (2015),
//!   sections 3 and 5; a test beside this file measures it). t holds exactly for normal samples, and errs little for the mildly
//!   skewed ones that repeats of a measurement give.
//! - From there on, the **bias-corrected and accelerated bootstrap** ([`bootstrap`]), which follows the skew of long-tailed times.
//!
//! The change-over at 20 is our own choice. An interval is about what varied between the samples, and about nothing else: where
//! nothing did, there is none.

pub mod bootstrap;
mod normal;
pub(crate) mod student;

use super::{mean, sd, varies};
use lastmile_units::Seed;

/// From this many samples on, the bootstrap is used.
pub const BOOTSTRAP_FROM: usize = 20;

/// The 95 % interval of the mean of independent samples; none of fewer than two, or where they do not vary. `seed` decides what the
/// bootstrap draws.
pub fn interval_95(samples: &[f64], seed: Seed) -> Option<[f64; 2]> {
    if samples.len() < 2 || !varies(samples) {
        return None;
    }
    if samples.len() < BOOTSTRAP_FROM {
        student_95(samples)
    } else {
        bootstrap::mean_interval_95(samples, seed)
    }
}

/// `mean ± t * sd / sqrt(n)`, with t of n - 1 degrees of freedom.
fn student_95(samples: &[f64]) -> Option<[f64; 2]> {
    let half = student::critical_95(samples.len() - 1)? * sd(samples)? / (samples.len() as f64).sqrt();
    let mean = mean(samples)?;
    Some([mean - half, mean + half])
}

#[cfg(test)]
mod tests;
