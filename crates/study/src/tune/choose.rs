//! Which setting should a direction have? The cheapest of those that leave about as little as any that fits.
//!
//! Of the settings whose contexts fit into the memory allowed, one leaves the fewest octets. Those that leave at most [`SAME_SIZE`] more
//! are taken as equally small, and the one of them that computes least is chosen; those that compute at most [`SAME_TIME`] more are taken
//! as equally fast, and of them the one that takes least memory is. Where nothing fits it is the one that takes least memory, and does
//! not fit. That a message is left as it is counts as a setting, which computes nothing and takes nothing.

use super::candidate::Candidate;
use super::memory::Holder;
use lastmile_units::Bytes;

/// Settings that leave at most this share more than the best are equally small: our own choice, about what another hour's messages change.
const SAME_SIZE: f64 = 0.02;

/// Settings that compute at most this share more than the fastest are equally fast: our own choice, about what rounds spread by.
const SAME_TIME: f64 = 0.05;

/// What settings have to fit into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) holder: Holder,
    /// For all connections together; none where nothing was said.
    pub(super) memory: Option<Bytes>,
}

impl Limits {
    pub(super) fn fits(&self, candidate: &Candidate) -> bool {
        self.memory
            .is_none_or(|memory| candidate.contexts.total(self.holder) <= memory)
    }
}

/// The place of the setting to use; there is at least one.
pub(super) fn choose(candidates: &[Candidate], limits: &Limits) -> usize {
    let total = |place: &usize| candidates[*place].contexts.total(limits.holder);
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
    let small = within(fitting, &|place| candidates[place].ratio, SAME_SIZE);
    let fast = within(small, &|place| candidates[place].computing(), SAME_TIME);
    // Of equal memory the smaller; `min_by` takes the first of equals.
    fast.into_iter()
        .min_by(|a, b| {
            let ratio = |place: &usize| candidates[*place].ratio;
            total(a).cmp(&total(b)).then(ratio(a).total_cmp(&ratio(b)))
        })
        .or_else(|| (0..candidates.len()).min_by_key(total))
        .expect("there is at least one setting")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::memory::Contexts;
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
}
