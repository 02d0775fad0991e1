//! Intended start times of requests: deterministic, in nanoseconds from the start of a run.
//!
//! The schedule knows nothing of responses: that is what makes the loop open.

use crate::rate::RequestRate;
use lastmile_units::{Rng, Seed, random};
use std::sync::Arc;
use std::time::Duration;

/// How requests arrive.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// Equal intervals: request `i` starts at `i / rate`, rounded down to a nanosecond.
    Constant(RequestRate),
    /// Independent exponential intervals of mean `1 / rate`.
    Poisson(RequestRate),
    /// A rate that changes linearly over the duration.
    Ramp {
        /// The rate at the start.
        from: RequestRate,
        /// The rate at the end.
        to: RequestRate,
    },
    /// Start times as recorded, in ascending order.
    Recorded(Arc<[Duration]>),
}

impl Arrivals {
    /// The start times within `duration`, in ascending order. The same seed gives the same times.
    pub fn schedule(&self, duration: Duration, seed: Seed) -> Schedule {
        Schedule {
            arrivals: self.clone(),
            end: duration.as_nanos() as u64,
            index: 0,
            elapsed: 0.0,
            rng: seed.derive("arrivals").rng(),
        }
    }

    /// The rate in requests per second, on average over `duration`.
    pub fn mean_rate(&self, duration: Duration) -> f64 {
        match self {
            Self::Constant(rate) | Self::Poisson(rate) => rate.per_second(),
            Self::Ramp { from, to } => f64::midpoint(from.per_second(), to.per_second()),
            Self::Recorded(times) => {
                times.iter().filter(|time| **time < duration).count() as f64 / duration.as_secs_f64()
            }
        }
    }
}

/// An iterator over start times, in nanoseconds from the start of the run.
#[derive(Debug, Clone)]
pub struct Schedule {
    arrivals: Arrivals,
    end: u64,
    index: u64,
    /// The time of the last Poisson arrival, in nanoseconds.
    elapsed: f64,
    rng: Rng,
}

impl Iterator for Schedule {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let index = self.index as f64;
        let at = match &self.arrivals {
            // Exact to a nanosecond for 104 days: a product below 2^53.
            Arrivals::Constant(rate) => index * rate.interval_nanos(),
            Arrivals::Poisson(rate) => {
                // The inverse of the exponential distribution function, -ln(1 - u) / rate, with 1 - u in (0, 1].
                self.elapsed -= libm::log(random::positive_unit_fraction(&mut self.rng)) * rate.interval_nanos();
                self.elapsed
            }
            Arrivals::Ramp { from, to } => {
                ramp_time(from.per_second(), to.per_second(), self.end as f64 / 1e9, index)? * 1e9
            }
            Arrivals::Recorded(times) => {
                let time = times.get(usize::try_from(self.index).ok()?)?;
                self.index += 1;
                let at = time.as_nanos() as u64;
                return (at < self.end).then_some(at);
            }
        };
        self.index += 1;
        // Rounding down: a time past the end is at least a nanosecond past it.
        let at = at as u64;
        (at < self.end).then_some(at)
    }
}

/// When `count` requests have started, in seconds, where the rate goes from `from` to `to` over `duration`: the solution `t` of
/// `from t + (to - from) t^2 / (2 duration) = count`. None where the rate falls to its end before that many have.
fn ramp_time(from: f64, to: f64, duration: f64, count: f64) -> Option<f64> {
    let slope = (to - from) / duration;
    let discriminant = from * from + 2.0 * slope * count;
    // The form that loses no digits when the slope is small or 0.
    (discriminant >= 0.0).then(|| 2.0 * count / (from + discriminant.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn rate(per_second: f64) -> RequestRate {
        RequestRate::new(per_second).unwrap()
    }

    fn times(arrivals: &Arrivals, duration: Duration) -> Vec<u64> {
        arrivals.schedule(duration, Seed::new(1)).collect()
    }

    #[test]
    fn a_constant_rate_has_no_drift() {
        let times = times(&Arrivals::Constant(rate(3.0)), 1_000 * SECOND);
        assert_eq!(times.len(), 3_000);
        assert_eq!(times[..4], [0, 333_333_333, 666_666_666, 1_000_000_000]);
        assert_eq!(times[2_997], 999_000_000_000);
    }

    #[test]
    fn poisson_arrivals_have_the_moments_of_the_exponential_distribution() {
        let arrivals = Arrivals::Poisson(rate(1_000.0));
        let times = times(&arrivals, 100 * SECOND);
        // A Poisson count: a mean of 100,000 and a standard deviation of 316; four of them either way.
        assert!((98_735..101_265).contains(&times.len()), "{}", times.len());
        let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // The standard error of the mean is 1/316, that of the variance sqrt(8)/316.
        assert!(
            (mean - 1.0).abs() < 0.013 && (variance - 1.0).abs() < 0.036,
            "{mean} {variance}"
        );
        assert_eq!(times, arrivals.schedule(100 * SECOND, Seed::new(1)).collect::<Vec<_>>());
        assert_ne!(times[0], arrivals.schedule(SECOND, Seed::new(2)).next().unwrap());
    }

    #[test]
    fn a_ramp_starts_as_many_requests_as_the_area_under_it() {
        for (from, to) in [(10.0, 90.0), (90.0, 10.0), (50.0, 50.0)] {
            let ramp = Arrivals::Ramp {
                from: rate(from),
                to: rate(to),
            };
            let times = times(&ramp, 10 * SECOND);
            // From 0 to 10 s the area is 500; the request that would start at 10 s exactly is not within.
            assert_eq!(times.len(), 500, "{from}..{to}");
            let first_half = times.iter().filter(|time| **time < 5_000_000_000).count() as f64;
            assert!(
                (first_half - 5.0 * (from * 0.75 + to * 0.25)).abs() <= 1.0,
                "{first_half}"
            );
        }
    }

    #[test]
    fn a_recorded_schedule_is_followed_to_the_end_of_the_run() {
        let recorded = Arrivals::Recorded([0, 5, 5, 2_000].map(Duration::from_millis).into());
        assert_eq!(times(&recorded, SECOND), [0, 5_000_000, 5_000_000]);
    }
}
