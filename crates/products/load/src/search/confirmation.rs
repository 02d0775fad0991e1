//! Confirms the bracket that a search ends with, by runs that are spread over time.
//!
//! A wrong decision of a bisection is never corrected: what follows stays on one side of it. A noisy machine decides wrongly for seconds on end,
//! so that the runs that decide on one rate err together. So both ends of the bracket are tried in turn, with other random choices each time,
//! until each has been as it should several times in a row; an end that is not moves the bracket, twice as far each time, and half as far
//! after a run as expected. This is the
//! up-and-down method with growing steps (Dixon and Mood, "A method for obtaining and analyzing sensitivity data", JASA 43, 1948; Taylor and
//! Creelman, "PEST", JASA (acoustics) 41, 1967): it goes to the rate that half of the runs keep the limit at, wherever it begins.

use super::LimitCheck;
use crate::rate::RequestRate;
use lastmile_units::Seed;

/// A bracket that is being confirmed.
#[derive(Debug)]
pub(super) struct Confirmation {
    low: End,
    high: End,
    /// The ratio of neighbouring rates.
    step: f64,
    /// No higher rate is tried.
    highest: f64,
    /// How often each end must be as it should, in a row.
    needed: u32,
    /// The steps of the next move.
    stride: i32,
    /// The direction of the last move.
    went_up: Option<bool>,
    broken_by: Option<String>,
}

/// An end of the bracket, and how often in a row it was as it should: the low one within the limit, the high one not.
#[derive(Debug, Clone, Copy)]
struct End {
    rate: f64,
    seen: u32,
}

/// What a confirmation found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Confirmed {
    /// The highest rate within the limit.
    pub(super) rate: f64,
    /// What broke the limit above it.
    pub(super) broken_by: Option<String>,
    /// Whether both ends were confirmed before the runs were used up.
    pub(super) is_settled: bool,
}

/// The maximum number of runs at or near the bracket, per run that a confirmation needs at least: our own choice.
const EFFORT_MAX: u32 = 8;

impl Confirmation {
    pub(super) const fn new(within: f64, broken: f64, resolution: f64, highest: f64, needed: u32) -> Self {
        Self {
            low: End { rate: within, seen: 0 },
            high: End { rate: broken, seen: 0 },
            step: 1.0 + resolution,
            highest,
            needed,
            stride: 1,
            went_up: None,
            broken_by: None,
        }
    }

    /// Makes the runs.
    ///
    /// # Errors
    /// Those of `judge`.
    pub(super) fn run<E>(
        mut self,
        seed: Seed,
        judge: &mut impl FnMut(RequestRate, Seed) -> Result<LimitCheck, E>,
    ) -> Result<Confirmed, E> {
        let (mut runs, mut effort) = (0, 0);
        while effort < 2 * self.needed * EFFORT_MAX {
            let Some(rate) = self.next() else { break };
            let Some(checked) = RequestRate::new(rate) else { break };
            // Both ends of a turn have the same arrivals.
            let judged = judge(checked, seed.derive_index(runs / 2))?;
            runs += 1;
            // A bracket that is far off has its way for nothing: the steps grow, so that it is short.
            effort += u32::from(!self.take(rate, judged));
        }
        Ok(Confirmed {
            rate: self.low.rate,
            is_settled: self.next().is_none(),
            broken_by: self.broken_by,
        })
    }

    /// The next rate to try; none where both ends are confirmed.
    fn next(&self) -> Option<f64> {
        let Self { low, high, needed, .. } = self;
        let is_wide = high.rate / low.rate > self.step * self.step;
        if self.high.seen == 0 && high.rate <= self.highest {
            Some(high.rate)
        } else if low.seen == 0 {
            Some(low.rate)
        } else if is_wide {
            Some((low.rate * high.rate).sqrt())
        } else if high.seen < low.seen.min(*needed) && high.rate <= self.highest {
            Some(high.rate)
        } else {
            (low.seen < *needed).then_some(low.rate)
        }
    }

    /// Takes a run into account; returns whether it moved the bracket further in the direction of its last move.
    fn take(&mut self, rate: f64, judged: LimitCheck) -> bool {
        let is_within = judged.is_ok();
        if let Err(cause) = judged {
            self.broken_by = Some(cause);
        }
        let is_move = rate == if is_within { self.high.rate } else { self.low.rate };
        let goes_on = is_move && self.went_up == Some(is_within);
        if is_move {
            self.went_up = Some(is_within);
        }
        if rate == self.low.rate && is_within {
            self.low.seen += 1;
            self.stride = (self.stride / 2).max(1);
        } else if rate == self.high.rate && !is_within {
            self.high.seen += 1;
            self.stride = (self.stride / 2).max(1);
        } else if is_within {
            self.low = End { rate, seen: 1 };
            if is_move {
                let next = (rate * self.step.powi(self.stride)).min(self.highest.max(rate * self.step));
                self.high = End { rate: next, seen: 0 };
                self.stride *= 2;
            }
        } else {
            self.high = End { rate, seen: 1 };
            if is_move {
                let next = rate / self.step.powi(self.stride);
                self.low = End { rate: next, seen: 0 };
                self.stride *= 2;
            }
        }
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn confirm(within: f64, threshold: f64) -> (Confirmed, Vec<f64>) {
        let mut tried = Vec::new();
        let confirmation = Confirmation::new(within, within * 1.02, 0.02, 1_000.0, 2);
        let found = confirmation.run::<Infallible>(Seed::new(1), &mut |rate, _| {
            tried.push(rate.per_second());
            Ok(if rate.per_second() <= threshold {
                Ok(())
            } else {
                Err("p99".to_owned())
            })
        });
        (found.unwrap_or_else(|never| match never {}), tried)
    }

    #[test]
    fn a_right_bracket_is_tried_twice_at_both_ends_in_turn() {
        let (found, tried) = confirm(100.0, 101.0);
        assert_eq!((found.rate, found.is_settled), (100.0, true));
        // In this order a steady drift does not favour either.
        assert_eq!(tried, [102.0, 100.0, 100.0, 102.0]);
        assert_eq!(found.broken_by.as_deref(), Some("p99"));
    }

    #[test]
    fn a_bracket_that_is_far_off_is_moved() {
        for threshold in [60.0, 76.0, 90.0, 110.0, 130.0, 170.0] {
            let (found, tried) = confirm(100.0, threshold);
            assert!(found.is_settled && found.rate <= threshold, "{threshold}: {found:?}");
            assert!(found.rate > threshold / 1.05, "{threshold}: {found:?}");
            assert!(tried.len() <= 16, "{threshold}: {tried:?}");
        }
    }

    #[test]
    fn no_rate_above_the_highest_is_tried() {
        let (found, tried) = confirm(900.0, 5_000.0);
        assert!((found.rate - 1_000.0).abs() < 1e-6, "{found:?}");
        assert!(tried.iter().all(|rate| *rate <= 1_000.0), "{tried:?}");
    }
}
