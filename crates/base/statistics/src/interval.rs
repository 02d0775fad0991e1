//! The 95 % confidence interval of the mean.
//!
//! Two methods, by the number of samples:
//!
//! - Below [`BOOTSTRAP_FROM`] samples, **Student's t** interval. A bootstrap resamples the samples: for five of them its spread is too
//!   small by a factor of `sqrt(4/5)` and it uses the normal's 1.96 where t has 2.78, so that it covers the mean in some 84 % of the
//!   cases instead of 95 % (Hesterberg, "What Teachers Should Know About the Bootstrap", *The American Statistician* 69 (2015),
//!   sections 3 and 5; a test beside this file measures it). t holds exactly for normal samples, and errs little for the mildly
//!   skewed ones that repeats of a measurement give.
//! - From that number on, the **bias-corrected and accelerated bootstrap** ([`bootstrap`]), which follows the skew of long-tailed times.
//!
//! The change-over at 20 is our own choice. An interval covers only what varied between the samples: equal samples have none.

pub mod bootstrap;
mod normal;
pub mod student;

use super::{mean, sd, varies};
use lastmile_units::Seed;

/// The number of samples from which on the bootstrap is used.
pub const BOOTSTRAP_FROM: usize = 20;

/// The 95 % interval of the mean of independent samples; none for fewer than two samples, or for equal ones. `seed` seeds the
/// bootstrap.
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
