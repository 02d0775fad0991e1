//! Which one? Choices from a seeded generator, the same on every machine.

use lastmile_units::Rng;
use rand_core::Rng as _;

/// A whole number from 0 to `bound - 1`; `bound` is at least 1.
///
/// Multiply and shift (Lemire, ACM TOMACS 29(1), 2019) without its rejection step: the bias is below `bound / 2^64`.
pub(super) fn below(rng: &mut Rng, bound: usize) -> usize {
    assert!(bound > 0, "there must be something to choose from");
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}

/// A whole number in `low..=high`.
pub(super) fn between(rng: &mut Rng, low: usize, high: usize) -> usize {
    low + below(rng, high - low + 1)
}

/// One of `choices`.
pub(super) fn pick<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[below(rng, choices.len())]
}

/// Puts `items` into a random order (Fisher and Yates).
pub(super) fn shuffle<T>(rng: &mut Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last + 1));
    }
}
