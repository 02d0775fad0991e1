//! Which setting should a direction have? The cheapest of those that leave about as little as any that fits.
//!
//! Of the settings that keep within what is allowed, one leaves the fewest octets. Those that leave at most [`SAME_SIZE`] more
//! are taken as equally small, and the one of them that computes least is chosen; those that compute at most [`SAME_TIME`] more are taken
//! as equally fast, and of them the one that takes least memory is. Who says how much may be left has said what is small: then all that
//! leave no more are equally small. Where nothing fits it is the one that comes nearest: that passes what it passes most by the smallest
//! factor, and of equals takes least memory. That a message is left as it is counts as a setting, which computes nothing and takes nothing.

use super::candidate::Candidate;
use super::memory::Holder;
use lastmile_units::Bytes;
use std::time::Duration;

/// Settings that leave at most this share more than the best are equally small: our own choice, about what another hour's messages change.
pub(super) const SAME_SIZE: f64 = 0.02;

/// Settings that compute at most this share more than the fastest are equally fast: our own choice, about what rounds spread by.
const SAME_TIME: f64 = 0.05;

/// What settings have to keep within; none where nothing was said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limits {
    pub(super) holder: Holder,
    /// For all connections together.
    pub(super) memory: Option<Bytes>,
    /// To compress a message.
    pub(super) computing: Option<Duration>,
    /// Compressed over plain octets: an estimate, where it is one.
    pub(super) ratio: Option<f64>,
}

/// A limit that a setting passes, and by how much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Excess {
    pub(super) what: Limit,
    /// In octets, seconds or as a ratio.
    pub(super) found: f64,
    pub(super) allowed: f64,
}

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    Memory,
    Computing,
    Ratio,
}

impl Excess {
    /// How many times what is allowed it takes.
    pub(super) fn factor(&self) -> f64 {
        self.found / self.allowed
    }
}

impl Limits {
    /// Whether anything is limited.
    pub(super) const fn are_any(&self) -> bool {
        self.memory.is_some() || self.computing.is_some() || self.ratio.is_some()
    }

    pub(super) fn fits(&self, candidate: &Candidate) -> bool {
        self.passed(candidate).is_empty()
    }

    /// Which limits a setting passes.
    pub(super) fn passed(&self, candidate: &Candidate) -> Vec<Excess> {
        let figures = [
            (
                Limit::Memory,
                candidate.memory(self.holder).as_f64(),
                self.memory.map(Bytes::as_f64),
            ),
            (
                Limit::Computing,
                candidate.computing(),
                self.computing.map(|time| time.as_secs_f64()),
            ),
            (Limit::Ratio, candidate.ratio, self.ratio),
        ];
        let passed = figures.into_iter().filter_map(|(what, found, allowed)| {
            let allowed = allowed.filter(|allowed| found > *allowed)?;
            Some(Excess { what, found, allowed })
        });
        passed.collect()
    }
}

/// The place of the setting to use; there is at least one.
pub(super) fn choose(candidates: &[Candidate], limits: &Limits) -> usize {
    let total = |place: &usize| candidates[*place].memory(limits.holder);
    let fitting: Vec<usize> = (0..candidates.len())
        .filter(|place| limits.fits(&candidates[*place]))
        .collect();
    let least = |places: &[usize], figure: &dyn Fn(usize) -> f64| {
        places.iter().map(|place| figure(*place)).fold(f64::INFINITY, f64::min)
    };
    let within = |places: Vec<usize>, figure: &dyn Fn(usize) -> f64, share: f64| -> Vec<usize> {
        let most = least(&places, figure) * (1.0 + share);
        places.into_iter().filter(|place| figure(*place) <= most).collect()
    };
    let small = match limits.ratio {
        Some(_) => fitting,
        None => within(fitting, &|place| candidates[place].ratio, SAME_SIZE),
    };
    let fast = within(small, &|place| candidates[place].computing(), SAME_TIME);
    // Of equal memory the smaller; `min_by` takes the first of equals.
    fast.into_iter()
        .min_by(|a, b| {
            let ratio = |place: &usize| candidates[*place].ratio;
            total(a).cmp(&total(b)).then(ratio(a).total_cmp(&ratio(b)))
        })
        .or_else(|| nearest(candidates, limits))
        .expect("there is at least one setting")
}

/// What passes limits by least, where everything passes one.
fn nearest(candidates: &[Candidate], limits: &Limits) -> Option<usize> {
    let worst = |place: &usize| {
        let passed = limits.passed(&candidates[*place]);
        passed.iter().map(Excess::factor).fold(1.0, f64::max)
    };
    let total = |place: &usize| candidates[*place].memory(limits.holder);
    (0..candidates.len()).min_by(|a, b| worst(a).total_cmp(&worst(b)).then(total(a).cmp(&total(b))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::memory::{Compressors, Contexts};
    use crate::tune::timing::Timed;
    use std::num::{NonZeroU16, NonZeroU64};

    /// A setting of so many thousandths, microseconds and KiB a connection.
    fn candidate(codec: &str, thousandths: u32, microseconds: u32, kib: u64) -> Candidate {
        let codec = codec.parse().unwrap();
        Candidate {
            ratio: f64::from(thousandths) / 1000.0,
            contexts: Contexts {
                takeover: true,
                compressing: Bytes::new(kib << 10),
                decompressing: Bytes::ZERO,
            },
            timed: Timed {
                compressing: vec![f64::from(microseconds) * 1e-6],
                ..Timed::default()
            },
            codec,
            ..Candidate::identity()
        }
    }

    fn limits(memory: Option<u64>) -> Limits {
        Limits {
            holder: Holder {
                connections: NonZeroU64::new(1024).unwrap(),
                cores: NonZeroU16::MIN,
            },
            memory: memory.map(|mib| Bytes::new(mib << 20)),
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
        let most = |ratio, computing| Limits {
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
            "all compute longer, but nothing at all"
        );
    }

    #[test]
    fn where_nothing_fits_what_comes_nearest_is_chosen_with_what_it_passes_and_by_how_much() {
        let candidates = [
            Candidate::identity(),
            candidate("deflate:9/w15/m9", 300, 14, 384),
            candidate("deflate:1/w13/m8", 350, 5, 160),
        ];
        let tight = Limits {
            ratio: Some(0.28),
            computing: Some(Duration::from_micros(4)),
            ..limits(Some(1000))
        };
        // 1 / 0.28; 14 us of 4 us; 0.35 / 0.28 and 5 us of 4 us, 1.25 times either.
        assert_eq!(choose(&candidates, &tight), 2);
        let passed = tight.passed(&candidates[2]);
        let what: Vec<Limit> = passed.iter().map(|passed| passed.what).collect();
        assert_eq!(what, [Limit::Computing, Limit::Ratio], "it fits into memory");
        assert!(
            passed.iter().all(|passed| (passed.factor() - 1.25).abs() < 1e-9),
            "{passed:?}"
        );
        assert!(!limits(None).are_any() && tight.are_any());
    }

    #[test]
    fn what_goes_to_many_is_compressed_once_where_each_receiver_of_its_own_would_compute_too_long() {
        let alone = Candidate {
            contexts: Contexts {
                takeover: false,
                ..candidate("deflate:6/w15/m8/no-takeover", 800, 8, 256).contexts
            },
            ..candidate("deflate:6/w15/m8/no-takeover", 800, 8, 256)
        };
        let candidates = [
            Candidate::identity(),
            candidate("deflate:6/w15/m8", 300, 10, 256),
            alone.once(40.0),
            alone,
        ];
        assert_eq!(candidates[2].computing(), 8e-6 / 40.0);
        assert_eq!(
            candidates[2].memory(limits(None).holder),
            Bytes::new(256 << 10),
            "one context for all"
        );
        assert_eq!(candidates[2].compressors, Compressors::One);
        assert_eq!(choose(&candidates, &limits(None)), 1, "it leaves far more");
        let fast = Limits {
            computing: Some(Duration::from_micros(1)),
            ..limits(None)
        };
        assert_eq!(choose(&candidates, &fast), 2);
    }
}
