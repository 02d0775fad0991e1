//! Draws shards with unequal probabilities, round by round.
//!
//! Shards lie side by side on an axis in the order of the transcript, each with a length proportional to its weight. The axis is divided
//! into equal parts, and a point is drawn from each part: the shard at that point is in the sample. Then each part is halved, and a point
//! is drawn from the half that has none; and so on. A shard that fills a part is drawn with certainty. A shard that several points hit
//! counts once, with the probability that any would hit it (Horvitz and Thompson, A Generalization of Sampling Without Replacement From a
//! Finite Universe, 1952).

use lastmile_units::{Rng, Seed, random};
use std::ops::Range;

/// The approximate length of the axis; points on it are integers.
const AXIS: f64 = (1_u64 << 40) as f64;

/// The state of the draw.
pub(super) struct ShardSampler {
    rng: Rng,
    /// Where each shard ends on the axis, which is where the next begins.
    ends: Vec<u64>,
    /// Parts of the axis, each with the point that was drawn from it.
    parts: Vec<(Range<u64>, u64)>,
    /// Every shard that a point hit, in the order drawn.
    drawn: Vec<usize>,
}

impl ShardSampler {
    /// Draws from each of `parts` parts of the axis, on which the length of each shard is proportional to its `worth`.
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
            let drawn_index = draw_in(&mut rng, &range);
            (range, drawn_index)
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

    /// Halves every part, and draws from the half that has no point yet.
    pub(super) fn split_strata(&mut self) {
        for (range, had) in std::mem::take(&mut self.parts) {
            let middle = range.start + (range.end - range.start) / 2;
            for half in [range.start..middle, middle..range.end] {
                if half.contains(&had) {
                    self.parts.push((half, had));
                } else if !half.is_empty() {
                    let drawn_index = draw_in(&mut self.rng, &half);
                    self.parts.push((half, drawn_index));
                }
            }
        }
        self.collect();
    }

    /// Every shard drawn so far, those of earlier rounds first.
    pub(super) fn drawn(&self) -> &[usize] {
        &self.drawn
    }

    /// The probability that a shard was drawn by now.
    pub(super) fn chance(&self, shard: usize) -> f64 {
        let begin = shard.checked_sub(1).map_or(0, |before| self.ends[before]);
        let end = self.ends[shard];
        let is_missed = |(part, _): &(Range<u64>, u64)| {
            let shared = end.min(part.end).saturating_sub(begin.max(part.start));
            1.0 - shared as f64 / (part.end - part.start) as f64
        };
        1.0 - self.parts.iter().map(is_missed).product::<f64>()
    }

    /// Adds the shards that new points hit.
    fn collect(&mut self) {
        for (_, drawn_index) in &self.parts {
            let shard = self.ends.partition_point(|end| end <= drawn_index);
            if !self.drawn.contains(&shard) {
                self.drawn.push(shard);
            }
        }
    }
}

/// A point of `range`, which is not empty.
fn draw_in(rng: &mut Rng, range: &Range<u64>) -> u64 {
    range.start + random::up_to(rng, range.end - range.start - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_draws_no_shard_twice_and_in_the_end_all() {
        let mut draw = ShardSampler::new(Seed::new(3), &[1.0; 100], 7);
        assert!(draw.drawn.is_sorted() && draw.drawn.len() == 7);
        for _ in 0..8 {
            let before = draw.drawn.clone();
            draw.split_strata();
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
                let mut draw = ShardSampler::new(Seed::new(seed), &worth, 4);
                for _ in 0..rounds {
                    draw.split_strata();
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
