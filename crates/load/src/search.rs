//! Finds the highest rate within a limit: bracketing, then bisection over runs, repeated with other seeds.
//!
//! The runs of one repeat share their seed, so that two rates differ by the rate alone. Sans-IO: the caller makes the runs.

use crate::rate::RequestRate;
use lastmile_statistics::interval::interval_95;
use lastmile_units::Seed;

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
}

/// The highest rate within a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct HighestRate {
    /// That of each repeat: the highest rate that was found to be within the limit.
    pub repeats: Vec<f64>,
    /// What broke the limit at the lowest rate above, in the last repeat that found one.
    pub broken_by: Option<String>,
}

/// What a run showed: within the limit, or what broke it.
pub type Judged = Result<(), String>;

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
    judge: &mut impl FnMut(RequestRate, Seed) -> Result<Judged, E>,
) -> Result<HighestRate, E> {
    let mut found = HighestRate {
        repeats: Vec::new(),
        broken_by: None,
    };
    for repeat in 0..options.repeats {
        let seed = seed.derive_index(u64::from(repeat));
        let mut bracket = Bracket::default();
        let (first, factor) = match found.repeats.first() {
            None => (options.start.per_second(), 2.0),
            Some(rate) => (rate * NEIGHBOURHOOD, NEIGHBOURHOOD * NEIGHBOURHOOD),
        };
        let mut next = Some(first.min(options.highest.per_second()));
        while let Some(rate) = next.and_then(RequestRate::new) {
            bracket.narrow(rate.per_second(), judge(rate, seed)?);
            next = bracket.next(options, factor);
        }
        let Some(rate) = bracket.within else { break };
        found.repeats.push(rate);
        if bracket.broken_by.is_some() {
            found.broken_by = bracket.broken_by;
        }
    }
    Ok(found)
}

impl HighestRate {
    /// The mean over repeats; none where every rate broke the limit.
    pub fn mean(&self) -> Option<f64> {
        lastmile_statistics::mean(&self.repeats)
    }

    /// The 95 % interval of the mean over repeats; none where there are too few, or they do not differ.
    pub fn interval(&self, seed: Seed) -> Option<[f64; 2]> {
        interval_95(&self.repeats, seed)
    }
}

/// A rate within the limit, and a higher one that breaks it.
#[derive(Debug, Default)]
struct Bracket {
    within: Option<f64>,
    broken: Option<f64>,
    broken_by: Option<String>,
    lowest_tried: Option<f64>,
}

impl Bracket {
    fn narrow(&mut self, rate: f64, judged: Judged) {
        self.lowest_tried = Some(self.lowest_tried.map_or(rate, |lowest| lowest.min(rate)));
        match judged {
            Ok(()) => self.within = Some(self.within.map_or(rate, |within| within.max(rate))),
            Err(cause) => {
                self.broken = Some(rate);
                self.broken_by = Some(cause);
            }
        }
    }

    /// The next rate to try; none where the search has ended.
    fn next(&self, options: &SearchOptions, factor: f64) -> Option<f64> {
        match (self.within, self.broken) {
            (Some(within), Some(broken)) => {
                (broken - within > options.resolution * within).then_some(f64::midpoint(within, broken))
            }
            (Some(within), None) => {
                let highest = options.highest.per_second();
                (within < highest).then_some((within * factor).min(highest))
            }
            (None, _) => {
                let next = self.lowest_tried? / factor;
                (next >= options.start.per_second() * LOWEST_SHARE).then_some(next)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn options(start: f64, repeats: u32) -> SearchOptions {
        SearchOptions {
            start: RequestRate::new(start).unwrap(),
            highest: RequestRate::new(10_000.0).unwrap(),
            resolution: 0.01,
            repeats,
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
            let rate = found.mean().unwrap();
            assert!((84.0 / 1.01..=84.0).contains(&rate), "{rate}");
            assert_eq!(found.broken_by.as_deref(), Some("p99"));
            assert!(runs < 20, "{runs}");
        }
    }

    #[test]
    fn repeats_have_seeds_of_their_own_and_give_an_interval() {
        let (found, runs) = search(&options(10.0, 5), |seed| 80.0 + (seed.get() % 9) as f64);
        let [low, high] = found.interval(Seed::new(1)).unwrap();
        assert_eq!(found.repeats.len(), 5);
        assert!(low > 79.0 && high < 89.0 && low < high);
        assert!(runs < 60, "{runs}");
    }

    #[test]
    fn a_search_without_a_bracket_ends() {
        let (found, _) = search(&options(10.0, 3), |_| f64::INFINITY);
        assert_eq!((found.mean(), found.broken_by), (Some(10_000.0), None));
        let (found, runs) = search(&options(10.0, 3), |_| 0.0);
        assert_eq!((found.mean(), runs), (None, 13));
    }
}
