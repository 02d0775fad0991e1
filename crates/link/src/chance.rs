//! Does it happen this time? A probability made into one integer comparison a frame.

use lastmile_units::{Probability, Rng};
use rand_core::Rng as _;

/// A probability, ready to be drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chance {
    /// Happens where 63 random bits, read as a number, are below this: from 0 (never) to 2^63 (always).
    below: u64,
}

impl Chance {
    /// The probability, rounded down to a multiple of 2^-63.
    pub(crate) fn new(probability: Probability) -> Self {
        Self {
            below: (probability.get() * 2f64.powi(63)) as u64,
        }
    }

    /// Draws once.
    pub(crate) fn happens(self, rng: &mut Rng) -> bool {
        (rng.next_u64() >> 1) < self.below
    }
}

/// A number from 0 to `bound` inclusive, each as likely as the others to within 2^-64 x `bound`.
pub(crate) fn up_to(bound: u64, rng: &mut Rng) -> u64 {
    ((u128::from(rng.next_u64()) * (u128::from(bound) + 1)) >> 64) as u64
}

/// A number above 0 and at most 1, a multiple of 2^-53.
pub(crate) fn fraction_above_zero(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / 2f64.powi(53)
}
