//! Which shards are drawn, and how likely was each?
//!
//! Shards lie side by side on an axis in the order of the transcript, each as long as it is worth looking at. The axis is divided into
//! equal parts, and a place is drawn from each part: the shard that lies there is in the sample. Then each part is halved, and a place
//! drawn from the half that has none; and so on. One that fills a part is drawn for sure; one that several places fall on counts
//! once, by how likely it was that any would (Horvitz and Thompson, A Generalization of Sampling Without Replacement From a Finite
//! Universe, 1952).

use lastmile_units::{Rng, Seed};
use rand_core::Rng as _;
use std::ops::Range;

/// How long the axis is, about: places on it are whole numbers.
const AXIS: f64 = (1_u64 << 40) as f64;

/// Shards as they are drawn, round by round.
pub(super) struct Draw {
    rng: Rng,
    /// Where each shard ends on the axis, which is where the next begins.
    ends: Vec<u64>,
    /// Parts of the axis, each with the place that was drawn from it.
    parts: Vec<(Range<u64>, u64)>,
    /// Every shard that a place fell on, in the order in which they were drawn.
    drawn: Vec<usize>,
}

impl Draw {
    /// From each of `parts` parts of the axis, on which each shard is as long as it has `worth`.
    pub(super) fn new(seed: Seed, worth: &[f64], parts: usize) -> Self {
        let mut rng = seed.derive("shards").rng();
        let all: f64 = worth.iter().sum();
        let mut end = 0;
        let ends: Vec<u64> = worth
            .iter()
            .map(|worth| {
                end += ((worth / all * AXIS) as u64).max(1);
                end
            })
            .collect();
        let bound = |number: usize| (u128::from(end) * number as u128 / parts as u128) as u64;
        let part = |number: usize| {
            let range = bound(number)..bound(number + 1);
            let place = one_of(&mut rng, &range);
            (range, place)
        };
        let parts = (0..parts).map(part).collect();
        let mut draw = Self {
            rng,
            ends,
            parts,
            drawn: Vec::new(),
        };
        draw.collect();
        draw
    }

    /// Halves every part, and draws from the half that has given none.
    pub(super) fn halve(&mut self) {
        for (range, had) in std::mem::take(&mut self.parts) {
            let middle = range.start + (range.end - range.start) / 2;
            for half in [range.start..middle, middle..range.end] {
                if half.contains(&had) {
                    self.parts.push((half, had));
                } else if !half.is_empty() {
                    let place = one_of(&mut self.rng, &half);
                    self.parts.push((half, place));
                }
            }
        }
        self.collect();
    }

    /// Every shard that was drawn, those of earlier rounds first.
    pub(super) fn drawn(&self) -> &[usize] {
        &self.drawn
    }

    /// How likely it was that a shard would be drawn by now.
    pub(super) fn chance(&self, shard: usize) -> f64 {
        let begin = shard.checked_sub(1).map_or(0, |before| self.ends[before]);
        let end = self.ends[shard];
        let is_missed = |(part, _): &(Range<u64>, u64)| {
            let shared = end.min(part.end).saturating_sub(begin.max(part.start));
            1.0 - shared as f64 / (part.end - part.start) as f64
        };
        1.0 - self.parts.iter().map(is_missed).product::<f64>()
    }

    /// Adds the shards that places fell on since.
    fn collect(&mut self) {
        for (_, place) in &self.parts {
            let shard = self.ends.partition_point(|end| end <= place);
            if !self.drawn.contains(&shard) {
                self.drawn.push(shard);
            }
        }
    }
}

fn one_of(rng: &mut Rng, range: &Range<u64>) -> u64 {
    // Multiply and shift (Lemire, 2019), whose bias is below length / 2^64.
    range.start + ((u128::from(rng.next_u64()) * u128::from(range.end - range.start)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_draws_no_shard_twice_and_in_the_end_all() {
        let mut draw = Draw::new(Seed::new(3), &[1.0; 100], 7);
        assert!(draw.drawn.is_sorted() && draw.drawn.len() == 7);
        for _ in 0..8 {
            let before = draw.drawn.clone();
            draw.halve();
            assert_eq!(draw.drawn[..before.len()], before);
        }
        let mut drawn = draw.drawn.clone();
        drawn.sort_unstable();
        assert_eq!(drawn, (0..100).collect::<Vec<_>>());
        assert!((0..100).all(|shard| draw.chance(shard) > 1.0 - 1e-9));
    }

    #[test]
    fn shards_are_drawn_as_often_as_their_chances_say_and_what_fills_a_part_always() {
        let worth = [1.0, 5.0, 0.5, 40.0, 1.5, 7.0, 0.0, 3.0, 12.0, 2.0];
        const SEEDS: u64 = 4000;
        for rounds in 0..3 {
            let mut times = [0_u64; 10];
            let mut chances = [0.0; 10];
            for seed in 0..SEEDS {
                let mut draw = Draw::new(Seed::new(seed), &worth, 4);
                for _ in 0..rounds {
                    draw.halve();
                }
                for shard in &draw.drawn {
                    times[*shard] += 1;
                }
                chances = std::array::from_fn(|shard| draw.chance(shard));
            }
            for (times, chance) in times.into_iter().zip(chances) {
                let expected = SEEDS as f64 * chance;
                // Four standard deviations of a binomial.
                let allowed = 4.0 * (expected * (1.0 - chance)).max(0.0).sqrt() + 1e-6;
                assert!(
                    (times as f64 - expected).abs() <= allowed,
                    "{times} times, {expected} expected"
                );
            }
            assert_eq!(times[3], SEEDS);
        }
    }
}
