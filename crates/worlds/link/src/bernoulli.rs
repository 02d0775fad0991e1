//! Draws events with a given probability, by one integer comparison per draw.

use lastmile_units::{Probability, Rng};
use rand_core::Rng as _;

/// A probability, prepared for drawing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chance {
    /// The event happens where 63 random bits, read as a number, are below this: from 0 (never) to 2^63 (always).
    below: u64,
}

impl Chance {
    /// The probability, rounded down to a multiple of 2^-63.
    pub(crate) fn new(probability: Probability) -> Self {
        Self {
            below: (probability.get() * 2f64.powi(63)) as u64,
        }
    }

    /// Draws whether the event happens.
    pub(crate) fn draw(self, rng: &mut Rng) -> bool {
        (rng.next_u64() >> 1) < self.below
    }
}
