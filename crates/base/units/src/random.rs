//! Uniform draws from a seeded generator: numbers, choices, orders and fractions, the same on every machine.
//!
//! Whole numbers are drawn by multiply and shift (Lemire, ACM TOMACS 29(1), 2019) without its rejection step: the bias of a draw among
//! n numbers is below n / 2^64. Each draw takes one 64-bit number of the generator, so that draws can be counted.

use crate::Rng;
use rand_core::Rng as _;

/// A whole number from 0 to `bound - 1`.
///
/// # Panics
/// When `bound` is 0.
pub fn below(rng: &mut Rng, bound: usize) -> usize {
    assert!(bound > 0, "there must be something to choose from");
    scale(rng.next_u64(), bound)
}

/// A whole number in `low..=high`.
pub fn between(rng: &mut Rng, low: usize, high: usize) -> usize {
    low + below(rng, high - low + 1)
}

/// A whole number in `0..=bound`.
pub fn up_to(rng: &mut Rng, bound: u64) -> u64 {
    high_half(rng.next_u64(), u128::from(bound) + 1)
}

/// One of `choices`.
///
/// # Panics
/// When there are none.
pub fn pick<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[below(rng, choices.len())]
}

/// Puts `items` into a random order (Fisher and Yates).
pub fn shuffle<T>(rng: &mut Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last + 1));
    }
}

/// A fraction in [0, 1), a multiple of 2^-53.
pub fn unit_fraction(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / FRACTIONS
}

/// A fraction in (0, 1], a multiple of 2^-53: one that has a logarithm.
pub fn positive_unit_fraction(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / FRACTIONS
}

/// Scales `number`, uniform over all 64-bit numbers, to `0..bound`; to 0 if `bound` is 0. For a number that is drawn once and scaled
/// to several bounds.
pub fn scale(number: u64, bound: usize) -> usize {
    high_half(number, bound as u128) as usize
}

/// The high half of the product of `number` and `bound`, which is at most 2^64.
fn high_half(number: u64, bound: u128) -> u64 {
    ((u128::from(number) * bound) >> 64) as u64
}

/// The number of different fractions: 2^53, all that an `f64` can hold in equal steps.
const FRACTIONS: f64 = (1_u64 << 53) as f64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test]
    fn a_64_bit_number_is_scaled_to_the_whole_range() {
        assert_eq!([0, u64::MAX / 2, u64::MAX].map(|number| scale(number, 10)), [0, 4, 9]);
        assert_eq!(scale(u64::MAX, 0), 0);
        assert_eq!(high_half(u64::MAX, 1 << 64), u64::MAX);
    }

    #[test]
    fn every_number_is_drawn_about_equally_often() {
        let mut rng = Seed::new(1).rng();
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[below(&mut rng, 6)] += 1;
        }
        // Binomial: a mean of 10,000 and a standard deviation of 91.3; five of them either way.
        assert!(
            counts.iter().all(|count| (9_543..=10_457).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn bounds_are_reached_and_kept() {
        let mut rng = Seed::new(1).rng();
        let drawn: Vec<usize> = (0..200).map(|_| between(&mut rng, 3, 5)).collect();
        assert_eq!(drawn.iter().min().zip(drawn.iter().max()), Some((&3, &5)));
        let drawn: Vec<u64> = (0..200).map(|_| up_to(&mut rng, 2)).collect();
        assert_eq!(drawn.iter().min().zip(drawn.iter().max()), Some((&0, &2)));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&unit_fraction(&mut rng))));
        assert!((0..1000).all(|_| (f64::MIN_POSITIVE..=1.0).contains(&positive_unit_fraction(&mut rng))));
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..50).collect();
        shuffle(&mut Seed::new(1).rng(), &mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn every_draw_takes_one_number_of_the_generator() {
        let draws: [fn(&mut Rng); 5] = [
            |rng| _ = below(rng, 7),
            |rng| _ = up_to(rng, 7),
            |rng| _ = pick(rng, &[1, 2]),
            |rng| _ = unit_fraction(rng),
            |rng| _ = positive_unit_fraction(rng),
        ];
        for draw in draws {
            let [mut drawing, mut counting] = [(); 2].map(|()| Seed::new(1).rng());
            draw(&mut drawing);
            counting.next_u64();
            assert_eq!(drawing.next_u64(), counting.next_u64());
        }
    }
}
