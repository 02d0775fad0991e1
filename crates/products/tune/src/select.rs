//! Chooses the setting for a direction: the cheapest of those that compress about as well as any within the limits.
//!
//! Settings whose ratio is at most [`SAME_SIZE`] above the lowest within the limits count as equally small. Of these, settings whose CPU time
//! is at most [`SAME_TIME`] above the lowest count as equally fast. Of these, the one with the least memory is chosen. With a limit on the
//! ratio, all settings within it count as equally small. If no setting is within the limits, the closest is chosen: the one whose worst
//! excess is the smallest factor, and of equals the one with the least memory. Leaving messages uncompressed counts as a setting, which
//! costs no CPU time and no memory.

use super::candidate::Candidate;
use super::context_memory::ServerProfile;
use lastmile_units::ByteCount;
use std::time::Duration;

/// Settings with a ratio at most this share above the best are equally small: our own choice, about the change between hours of messages.
pub(super) const SAME_SIZE: f64 = 0.02;

/// Settings with a CPU time at most this share above the fastest are equally fast: our own choice, about the spread between rounds.
const SAME_TIME: f64 = 0.05;

/// The limits on a setting; none where the user set none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Constraints {
    pub(super) holder: ServerProfile,
    /// For all connections together.
    pub(super) memory: Option<ByteCount>,
    /// To compress a message.
    pub(super) computing: Option<Duration>,
    /// Compressed over raw bytes; compared with the estimate where the ratio is one.
    pub(super) ratio: Option<f64>,
}

/// A limit that a setting exceeds, and by how much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Violation {
    pub(super) what: Constraint,
    /// In bytes, seconds or as a ratio.
    pub(super) found: f64,
    pub(super) allowed: f64,
}

/// A figure that can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Constraint {
    Memory,
    CpuTime,
    Ratio,
}

impl Violation {
    /// The figure over the limit.
    pub(super) fn factor(&self) -> f64 {
        self.found / self.allowed
    }
}

impl Constraints {
    /// Whether there is any limit.
    pub(super) const fn has_any(&self) -> bool {
        self.memory.is_some() || self.computing.is_some() || self.ratio.is_some()
    }

    pub(super) fn fits(&self, candidate: &Candidate) -> bool {
        self.violations(candidate).is_empty()
    }

    /// The limits that a setting exceeds.
    pub(super) fn violations(&self, candidate: &Candidate) -> Vec<Violation> {
        let figures = [
            (
                Constraint::Memory,
                candidate.memory(self.holder).as_f64(),
                self.memory.map(ByteCount::as_f64),
            ),
            (
                Constraint::CpuTime,
                candidate.compress_seconds(),
                self.computing.map(|time| time.as_secs_f64()),
            ),
            (Constraint::Ratio, candidate.ratio, self.ratio),
        ];
        let passed = figures.into_iter().filter_map(|(what, found, allowed)| {
            let allowed = allowed.filter(|allowed| found > *allowed)?;
            Some(Violation { what, found, allowed })
        });
        passed.collect()
    }
}

/// The index of the setting to use; there is at least one candidate.
pub(super) fn choose(candidates: &[Candidate], limits: &Constraints) -> usize {
    let total = |index: &usize| candidates[*index].memory(limits.holder);
    let fitting: Vec<usize> = (0..candidates.len())
        .filter(|index| limits.fits(&candidates[*index]))
        .collect();
    let least = |indices: &[usize], figure: &dyn Fn(usize) -> f64| {
        indices.iter().map(|index| figure(*index)).fold(f64::INFINITY, f64::min)
    };
    let within = |indices: Vec<usize>, figure: &dyn Fn(usize) -> f64, share: f64| -> Vec<usize> {
        let most = least(&indices, figure) * (1.0 + share);
        indices.into_iter().filter(|index| figure(*index) <= most).collect()
    };
    let small = match limits.ratio {
        Some(_) => fitting,
        None => within(fitting, &|index| candidates[index].ratio, SAME_SIZE),
    };
    let fast = within(small, &|index| candidates[index].compress_seconds(), SAME_TIME);
    // For equal memory, the lower ratio; `min_by` takes the first of equals.
    fast.into_iter()
        .min_by(|a, b| {
            let ratio = |index: &usize| candidates[*index].ratio;
            total(a).cmp(&total(b)).then(ratio(a).total_cmp(&ratio(b)))
        })
        .or_else(|| closest(candidates, limits))
        .expect("there is at least one setting")
}

/// The setting that exceeds the limits least, where every setting exceeds one.
fn closest(candidates: &[Candidate], limits: &Constraints) -> Option<usize> {
    let worst = |index: &usize| {
        let passed = limits.violations(&candidates[*index]);
        passed.iter().map(Violation::factor).fold(1.0, f64::max)
    };
    let total = |index: &usize| candidates[*index].memory(limits.holder);
    (0..candidates.len()).min_by(|a, b| worst(a).total_cmp(&worst(b)).then(total(a).cmp(&total(b))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context_memory::{CompressorCount, ContextMemory};
    use crate::timing::Timed;
    use std::num::{NonZeroU16, NonZeroU64};

    /// A setting with this ratio in thousandths, CPU time in microseconds and memory in KiB per connection.
    fn candidate(codec: &str, thousandths: u32, microseconds: u32, kib: u64) -> Candidate {
        let codec = codec.parse().unwrap();
        Candidate {
            ratio: f64::from(thousandths) / 1000.0,
            contexts: ContextMemory {
                takeover: true,
                compressing: ByteCount::new(kib << 10),
                decompressing: ByteCount::ZERO,
            },
            timed: Timed {
                compressing: vec![f64::from(microseconds) * 1e-6],
                ..Timed::default()
            },
            codec,
            ..Candidate::identity()
        }
    }

    fn limits(memory: Option<u64>) -> Constraints {
        Constraints {
            holder: ServerProfile {
                connections: NonZeroU64::new(1024).unwrap(),
                cores: NonZeroU16::MIN,
            },
            memory: memory.map(|mib| ByteCount::new(mib << 20)),
            computing: None,
            ratio: None,
        }
    }

    #[test]
    fn the_smallest_that_fits_gives_way_to_one_about_as_small_that_computes_less() {
        let candidates = [
            candidate("deflate:9/w15/m9", 300, 14, 384),
            candidate("deflate:6/w15/m8", 305, 10, 256),
            candidate("deflate:5/w15/m8", 309, 8, 256),
            candidate("deflate:6/w12/m5", 353, 6, 32),
        ];
        assert_eq!(
            choose(&candidates, &limits(None)),
            1,
            "305 is within 2 % of 300, 309 is not"
        );
        assert_eq!(choose(&candidates, &limits(Some(300))), 2, "309 is within 2 % of 305");
        assert_eq!(choose(&candidates, &limits(Some(40))), 3);
        assert_eq!(choose(&candidates, &limits(Some(1))), 3, "nothing fits");
        assert!(!limits(Some(1)).fits(&candidates[3]));
    }

    #[test]
    fn of_equally_small_and_fast_ones_the_one_that_takes_least_memory_is_chosen() {
        let candidates = [
            candidate("deflate:6/w15/m9", 300, 100, 384),
            candidate("deflate:6/w15/m8", 300, 104, 256),
            candidate("deflate:6/w14/m8", 301, 106, 192),
        ];
        assert_eq!(choose(&candidates, &limits(None)), 1);
    }

    #[test]
    fn what_does_not_shrink_is_left_as_it_is() {
        let candidates = [Candidate::identity(), candidate("deflate:6/w15/m8", 990, 10, 256)];
        assert_eq!(choose(&candidates, &limits(None)), 0);
    }

    #[test]
    fn of_what_leaves_little_enough_the_cheapest_is_chosen_however_much_less_others_leave() {
        let candidates = [
            Candidate::identity(),
            candidate("deflate:9/w15/m9", 300, 14, 384),
            candidate("deflate:6/w15/m8", 305, 10, 256),
            candidate("deflate:1/w13/m8", 349, 5, 160),
            candidate("deflate:1/w12/m5", 351, 4, 32),
        ];
        let most = |ratio, computing| Constraints {
            computing,
            ratio,
            ..limits(None)
        };
        assert_eq!(choose(&candidates, &most(Some(0.35), None)), 3);
        assert_eq!(choose(&candidates, &most(Some(0.31), None)), 2);
        let microseconds = |count| Some(Duration::from_micros(count));
        assert_eq!(
            choose(&candidates, &most(None, microseconds(9))),
            4,
            "351 is within 2 % of 349"
        );
        assert_eq!(
            choose(&candidates, &most(None, microseconds(3))),
            0,
            "every setting takes longer, except identity"
        );
    }

    #[test]
    fn where_nothing_fits_what_comes_nearest_is_chosen_with_what_it_passes_and_by_how_much() {
        let candidates = [
            Candidate::identity(),
            candidate("deflate:9/w15/m9", 300, 14, 384),
            candidate("deflate:1/w13/m8", 350, 5, 160),
        ];
        let tight = Constraints {
            ratio: Some(0.28),
            computing: Some(Duration::from_micros(4)),
            ..limits(Some(1000))
        };
        // 1 / 0.28; 14 us of 4 us; 0.35 / 0.28 and 5 us of 4 us, 1.25 times either.
        assert_eq!(choose(&candidates, &tight), 2);
        let passed = tight.violations(&candidates[2]);
        let what: Vec<Constraint> = passed.iter().map(|passed| passed.what).collect();
        assert_eq!(what, [Constraint::CpuTime, Constraint::Ratio], "it fits into memory");
        assert!(
            passed.iter().all(|passed| (passed.factor() - 1.25).abs() < 1e-9),
            "{passed:?}"
        );
        assert!(!limits(None).has_any() && tight.has_any());
    }

    #[test]
    fn what_goes_to_many_is_compressed_once_where_each_receiver_of_its_own_would_compute_too_long() {
        let alone = Candidate {
            contexts: ContextMemory {
                takeover: false,
                ..candidate("deflate:6/w15/m8/no-takeover", 800, 8, 256).contexts
            },
            ..candidate("deflate:6/w15/m8/no-takeover", 800, 8, 256)
        };
        let candidates = [
            Candidate::identity(),
            candidate("deflate:6/w15/m8", 300, 10, 256),
            alone.compressed_once_for(40.0),
            alone,
        ];
        assert_eq!(candidates[2].compress_seconds(), 8e-6 / 40.0);
        assert_eq!(
            candidates[2].memory(limits(None).holder),
            ByteCount::new(256 << 10),
            "one context for all"
        );
        assert_eq!(candidates[2].compressors, CompressorCount::Shared);
        assert_eq!(
            choose(&candidates, &limits(None)),
            1,
            "the shared one has a far higher ratio"
        );
        let fast = Constraints {
            computing: Some(Duration::from_micros(1)),
            ..limits(None)
        };
        assert_eq!(choose(&candidates, &fast), 2);
    }
}
