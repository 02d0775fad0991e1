//! Finds the highest rate within a limit: bracketing, then bisection, then a confirmation of both ends, repeated with other seeds.
//!
//! A rate is within the limit when most of a few runs are: one pause of a busy machine breaks the limit of a run at any rate, and above its capacity
//! a server may hold out for a while. A rate on the way up needs one such run; it is confirmed if the search ends there. Runs of one
//! repeat share their seeds, so that two rates differ by the rate alone. Sans-IO: the caller makes the runs.

mod confirmation;

use crate::rate::RequestRate;
use confirmation::Confirmation;
use lastmile_statistics::interval::interval_95;
use lastmile_units::Seed;
use std::convert::Infallible;
use std::num::NonZeroU32;
use std::time::Duration;

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchOptions {
    /// The rate to begin with.
    pub start: RequestRate,
    /// No higher rate is tried.
    pub highest: RequestRate,
    /// The search ends when the bracket is this share of the rate.
    pub resolution: f64,
    /// How often it is repeated.
    pub repeats: u32,
    /// The number of runs of which most decide on a rate; odd.
    pub votes: NonZeroU32,
}

/// The default number of runs that decide on a rate: our own choice.
pub const VOTES: NonZeroU32 = NonZeroU32::new(3).expect("it is above 0");

/// How long a caller with a real server should wait after a run that broke the limit. The server still works off what an overload has left,
/// and closes its connections; the next run would inherit that, and the runs that decide on a rate would not be independent. Our own choice,
/// by measuring: after an overload with 10,000 connections, nginx broke the limit at rates from 70 % to 130 % of those that it carried.
pub const REST: Duration = Duration::from_secs(1);

/// The highest rate within a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct HighestRate {
    /// That of each repeat: the highest rate that was found to be within the limit.
    pub repeats: Vec<f64>,
    /// What broke the limit at the lowest rate above, in the last repeat that found one; where there is no rate within, at the lowest.
    pub broken_by: Option<String>,
    /// The repeats whose runs went on to disagree: their rates are less certain.
    pub unsettled: u32,
}

/// What a run showed: within the limit, or what broke it.
pub type LimitCheck = Result<(), String>;

impl SearchOptions {
    /// The number of runs that a search takes where nothing varies, and the highest rate is a hundred times the first.
    pub fn expected_runs(&self) -> u32 {
        let highest = self.start.per_second() * EXPECTED_FACTOR;
        let mut runs = 0;
        let Ok(_) = highest_rate::<Infallible>(self, Seed::new(0), &mut |rate, _| {
            runs += 1;
            Ok(if rate.per_second() <= highest {
                Ok(())
            } else {
                Err(String::new())
            })
        });
        runs
    }
}

/// The ratio of highest to first rate that the expected number of runs is for: our own choice, between a slow server and a fast one at the default rate.
const EXPECTED_FACTOR: f64 = 100.0;
/// The lowest rate that is tried, as a share of the first: our own choice.
const LOWEST_SHARE: f64 = 1.0 / 4096.0;
/// The bracket of a repeat, around the rate that the first one found: our own choice.
const NEIGHBOURHOOD: f64 = 1.1;

/// Searches. `judge` makes a run at a rate, with a seed for its arrivals.
///
/// # Errors
/// Those of `judge`.
pub fn highest_rate<E>(
    options: &SearchOptions,
    seed: Seed,
    judge: &mut impl FnMut(RequestRate, Seed) -> Result<LimitCheck, E>,
) -> Result<HighestRate, E> {
    let mut found = HighestRate {
        repeats: Vec::new(),
        broken_by: None,
        unsettled: 0,
    };
    for repeat in 0..options.repeats {
        let seed = seed.derive_index(u64::from(repeat));
        let (first, factor) = match found.repeats.first() {
            None => (options.start.per_second(), 2.0),
            Some(rate) => (rate * NEIGHBOURHOOD, NEIGHBOURHOOD * NEIGHBOURHOOD),
        };
        let mut bracket = Bracket::default();
        let mut next = Some(first.min(options.highest.per_second()));
        while let Some(rate) = next.and_then(RequestRate::new) {
            bracket.narrow(rate, options.votes, seed, judge)?;
            next = bracket.next(options, factor);
        }
        let Some(within) = bracket.within() else {
            found.broken_by = bracket.broken().and_then(|ballot| ballot.broken_by.clone());
            break;
        };
        let Some(broken) = bracket.broken() else {
            found.repeats.push(within.rate);
            continue;
        };
        let highest = options.highest.per_second();
        let needed = options.votes.get() / 2 + 1;
        let confirmation = Confirmation::new(within.rate, broken.rate, options.resolution, highest, needed);
        let confirmed = confirmation.run(seed.derive("confirmation"), judge)?;
        found.repeats.push(confirmed.rate);
        found.unsettled += u32::from(!confirmed.is_settled);
        if confirmed.broken_by.is_some() {
            found.broken_by = confirmed.broken_by;
        }
    }
    Ok(found)
}

/// Whether a rate is within the limit, by most of `votes` runs, whose seeds come from `seed`. Stops as soon as that is certain.
///
/// # Errors
/// Those of `judge`.
#[cfg(test)]
pub(crate) fn is_within<E>(
    rate: RequestRate,
    votes: NonZeroU32,
    seed: Seed,
    judge: &mut impl FnMut(RequestRate, Seed) -> Result<LimitCheck, E>,
) -> Result<bool, E> {
    let mut ballot = Ballot::new(rate);
    while ballot.is_within(votes).is_none() {
        ballot.add_run(seed, judge)?;
    }
    Ok(ballot.is_within(votes) == Some(true))
}

impl HighestRate {
    /// The median over repeats, which one repeat that went astray does not move; none where every rate broke the limit.
    pub fn median(&self) -> Option<f64> {
        lastmile_statistics::quantile(&self.repeats, 0.5)
    }

    /// The 95 % interval of the mean over repeats; none where there are too few, or they do not differ.
    pub fn interval(&self, seed: Seed) -> Option<[f64; 2]> {
        interval_95(&self.repeats, seed)
    }
}

/// What the runs at one rate showed.
#[derive(Debug, Clone)]
struct Ballot {
    rate: f64,
    within: u32,
    broken: u32,
    broken_by: Option<String>,
}

impl Ballot {
    const fn new(rate: RequestRate) -> Self {
        Self {
            rate: rate.per_second(),
            within: 0,
            broken: 0,
            broken_by: None,
        }
    }

    fn add_run<E>(
        &mut self,
        seed: Seed,
        judge: &mut impl FnMut(RequestRate, Seed) -> Result<LimitCheck, E>,
    ) -> Result<(), E> {
        let Some(rate) = RequestRate::new(self.rate) else {
            return Ok(());
        };
        match judge(rate, seed.derive_index(u64::from(self.within + self.broken)))? {
            Ok(()) => self.within += 1,
            Err(cause) => {
                self.broken += 1;
                self.broken_by = Some(cause);
            }
        }
        Ok(())
    }

    /// What most of the runs showed; none where too few were made.
    const fn is_within(&self, votes: NonZeroU32) -> Option<bool> {
        let majority = votes.get() / 2 + 1;
        if self.within >= majority {
            Some(true)
        } else if self.broken >= majority {
            Some(false)
        } else {
            None
        }
    }
}

/// The rates that were tried in one repeat.
#[derive(Debug, Default)]
struct Bracket {
    /// Each with more runs on one side than on the other.
    ballots: Vec<Ballot>,
}

impl Bracket {
    /// Makes runs at `rate`, in addition to those that there are.
    fn narrow<E>(
        &mut self,
        rate: RequestRate,
        votes: NonZeroU32,
        seed: Seed,
        judge: &mut impl FnMut(RequestRate, Seed) -> Result<LimitCheck, E>,
    ) -> Result<(), E> {
        let known = self.ballots.iter().position(|ballot| ballot.rate == rate.per_second());
        let mut ballot = known.map_or_else(|| Ballot::new(rate), |index| self.ballots.swap_remove(index));
        // On the way up, one run within the limit is enough for now.
        let is_way_up = known.is_none() && self.broken().is_none();
        while ballot.is_within(votes).is_none() {
            ballot.add_run(seed, judge)?;
            if is_way_up && ballot.broken == 0 {
                break;
            }
        }
        self.ballots.push(ballot);
        Ok(())
    }

    /// The lowest rate that breaks the limit.
    fn broken(&self) -> Option<&Ballot> {
        let broken = self.ballots.iter().filter(|ballot| ballot.broken > ballot.within);
        broken.min_by(|one, other| one.rate.total_cmp(&other.rate))
    }

    /// The highest rate within the limit, below any that breaks it.
    fn within(&self) -> Option<&Ballot> {
        let end = self.broken().map_or(f64::INFINITY, |ballot| ballot.rate);
        let within = self
            .ballots
            .iter()
            .filter(|ballot| ballot.within > ballot.broken && ballot.rate < end);
        within.max_by(|one, other| one.rate.total_cmp(&other.rate))
    }

    /// The next rate to try; none where the search has ended.
    fn next(&self, options: &SearchOptions, factor: f64) -> Option<f64> {
        let highest = options.highest.per_second();
        match (self.within(), self.broken()) {
            (Some(within), Some(broken)) if broken.rate - within.rate > options.resolution * within.rate => {
                Some(f64::midpoint(within.rate, broken.rate))
            }
            (Some(within), None) if within.rate < highest => Some((within.rate * factor).min(highest)),
            // Where there is a bracket, it is confirmed at both ends.
            (Some(_), Some(_)) => None,
            (Some(within), None) => within.is_within(options.votes).is_none().then_some(within.rate),
            (None, broken) => {
                let next = broken?.rate / factor;
                (next >= options.start.per_second() * LOWEST_SHARE).then_some(next)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(start: f64, repeats: u32) -> SearchOptions {
        SearchOptions {
            start: RequestRate::new(start).unwrap(),
            highest: RequestRate::new(10_000.0).unwrap(),
            resolution: 0.01,
            repeats,
            votes: VOTES,
        }
    }

    fn search(options: &SearchOptions, threshold: impl Fn(Seed) -> f64) -> (HighestRate, u32) {
        let mut runs = 0;
        let found = highest_rate::<Infallible>(options, Seed::new(1), &mut |rate, seed| {
            runs += 1;
            Ok(if rate.per_second() <= threshold(seed) {
                Ok(())
            } else {
                Err("p99".to_owned())
            })
        });
        (found.unwrap_or_else(|never| match never {}), runs)
    }

    #[test]
    fn the_threshold_is_found_from_below_and_from_above() {
        for start in [1.0, 83.0, 5_000.0] {
            let (found, runs) = search(&options(start, 1), |_| 84.0);
            let rate = found.median().unwrap();
            assert!((84.0 / 1.01..=84.0).contains(&rate), "{rate}");
            assert_eq!(found.broken_by.as_deref(), Some("p99"));
            assert!(runs < 40, "{runs}");
        }
    }

    #[test]
    fn repeats_have_seeds_of_their_own_and_give_an_interval() {
        let (found, runs) = search(&options(10.0, 5), |seed| 80.0 + (seed.get() % 9) as f64);
        let [low, high] = found.interval(Seed::new(1)).unwrap();
        assert_eq!(found.repeats.len(), 5);
        assert!(low > 79.0 && high < 89.0 && low < high);
        // Each run has a threshold of its own, so that the ends of a bracket are confirmed late.
        assert!(runs < 200, "{runs}");
    }

    #[test]
    fn a_search_without_a_bracket_ends() {
        let (found, _) = search(&options(10.0, 3), |_| f64::INFINITY);
        assert_eq!((found.median(), found.broken_by), (Some(10_000.0), None));
        let (found, runs) = search(&options(10.0, 3), |_| 0.0);
        assert_eq!((found.median(), runs), (None, 26), "two runs of three decide");
        assert_eq!(found.broken_by.as_deref(), Some("p99"));
    }

    /// One run of six is broken by a pause at any rate, and above the threshold one of six holds out.
    #[test]
    fn a_run_that_a_pause_breaks_does_not_end_the_search_and_one_that_holds_out_does_not_raise_it() {
        let mut off = Vec::new();
        for root in 0..20 {
            let found = highest_rate::<Infallible>(&options(10.0, 3), Seed::new(root), &mut |rate, seed| {
                let is_odd = seed.derive(&rate.to_string()).get().is_multiple_of(6);
                let is_within = (rate.per_second() <= 84.0) != is_odd;
                Ok(if is_within { Ok(()) } else { Err("p99".to_owned()) })
            });
            let Ok(found) = found;
            off.push((found.median().unwrap() / 84.0 - 1.0).abs());
        }
        off.sort_by(f64::total_cmp);
        // Three repeats of about ten decisions each, of which 7 % are wrong: confirmations correct most of them, and the median does the rest.
        assert!(off[18] < 0.05, "{off:?}");
    }

    #[test]
    fn a_rate_is_decided_on_by_most_of_its_runs() {
        let mut runs = 0;
        let mut judge = |_: RequestRate, _: Seed| -> Result<LimitCheck, Infallible> {
            runs += 1;
            Ok(if runs == 1 { Err("p99".to_owned()) } else { Ok(()) })
        };
        let rate = RequestRate::new(10.0).unwrap();
        assert_eq!(is_within(rate, VOTES, Seed::new(1), &mut judge), Ok(true));
        assert_eq!(runs, 3);
    }
}
