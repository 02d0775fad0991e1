//! Whether a run's own figures can be trusted: how far the sender was off its schedule, what it skipped, and what it cost.

use crate::distribution::Distribution;
use crate::measurement::{Ending, Measurement};
use std::time::Duration;

/// What a generator used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GeneratorCost {
    /// CPU time, user and system, of all of its threads.
    pub cpu: Duration,
    /// From the first to the last moment of the run.
    pub elapsed: Duration,
    /// The number of threads.
    pub threads: u32,
}

/// Why the figures of a run do not count.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Spoilt {
    /// The generator gave up.
    #[error("the generator fell more than a second behind its schedule, and stopped; it cannot hold this rate here")]
    RateNotHeld,
    /// The run was stopped.
    #[error("the run was stopped before its end")]
    Interrupted,
    /// The sender's lateness makes up too much of the response times.
    #[error(
        "the sender's own lateness ({lateness:?} at {quantile}) is more than {} % of the response time there ({response:?})",
        100.0 * LATENESS_SHARE
    )]
    Late {
        /// The quantile: p50 or p99.
        quantile: &'static str,
        /// The lateness there.
        lateness: Duration,
        /// The response time there.
        response: Duration,
    },
}

/// The largest share of a response time that the sender's lateness may make up: our own choice.
pub const LATENESS_SHARE: f64 = 0.1;
/// Lateness up to this much is no fault at the median, and at the 99th percentile: what a timer of Linux and one switch of tasks take. Our
/// own choice.
const LATENESS_FLOORS: [(&str, f64, Duration); 2] = [
    ("p50", 0.5, Duration::from_micros(100)),
    ("p99", 0.99, Duration::from_millis(1)),
];

/// Whether the figures of a run count.
///
/// # Errors
/// Why they do not.
pub fn check(measurement: &Measurement) -> Result<(), Spoilt> {
    match measurement.ending {
        Ending::Complete => check_lateness(&measurement.lateness, &measurement.response),
        Ending::Interrupted => Err(Spoilt::Interrupted),
        Ending::RateNotHeld => Err(Spoilt::RateNotHeld),
    }
}

fn check_lateness(lateness: &Distribution, response: &Distribution) -> Result<(), Spoilt> {
    for (name, probability, floor) in LATENESS_FLOORS {
        let (Some(late), Some(found)) = (lateness.quantile(probability), response.quantile(probability)) else {
            continue;
        };
        if late > floor && late > found.mul_f64(LATENESS_SHARE) {
            return Err(Spoilt::Late {
                quantile: name,
                lateness: late,
                response: found,
            });
        }
    }
    Ok(())
}

impl GeneratorCost {
    /// CPU time as a share of the elapsed time of one core.
    pub fn cpu_share(&self) -> f64 {
        if self.elapsed.is_zero() {
            return 0.0;
        }
        self.cpu.as_secs_f64() / self.elapsed.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(lateness: Duration, response: Duration) -> Measurement {
        let mut measurement = Measurement::default();
        for _ in 0..100 {
            measurement.lateness.record(lateness);
            measurement.response.record(response);
        }
        measurement
    }

    #[test]
    fn a_late_sender_spoils_a_run_where_it_shows_in_the_response_times() {
        let (millisecond, second) = (Duration::from_millis(1), Duration::from_secs(1));
        assert_eq!(check(&measured(5 * millisecond, second)), Ok(()));
        assert_eq!(check(&measured(50 * millisecond / 1_000, millisecond / 10)), Ok(()));
        let spoilt = check(&measured(5 * millisecond, 20 * millisecond))
            .unwrap_err()
            .to_string();
        assert!(spoilt.contains("p50") && spoilt.contains("10 %"), "{spoilt}");
    }

    #[test]
    fn a_run_that_did_not_end_well_does_not_count() {
        let ended = |ending| {
            check(&Measurement {
                ending,
                ..Measurement::default()
            })
        };
        assert_eq!(ended(Ending::Complete), Ok(()));
        assert_eq!(ended(Ending::Interrupted), Err(Spoilt::Interrupted));
        assert_eq!(ended(Ending::RateNotHeld), Err(Spoilt::RateNotHeld));
    }
}
