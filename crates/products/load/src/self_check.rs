//! Whether a run's own figures can be trusted: how far the sender was off its schedule, what it skipped, and what it cost.

use crate::distribution::Distribution;
use crate::measurement::{Ending, Measurement};
use lastmile_report::number::quantity;
use lastmile_report::record::DoubtKind;
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
        "the sender's own lateness ({} at {quantile}) is more than {} % of the response time there ({})",
        quantity(lateness.as_secs_f64(), "s"),
        100.0 * LATENESS_SHARE,
        quantity(response.as_secs_f64(), "s")
    )]
    Late {
        /// The quantile: p50 or p99.
        quantile: &'static str,
        /// The lateness there.
        lateness: Duration,
        /// The response time there.
        response: Duration,
    },
    /// The requests in flight are not those that rate and response times say.
    #[error(
        "the figures contradict each other: {counted:.3} requests were in flight on average, and by their rate and response times {by_law:.3} (Little's \
         law); this is a fault of lastmile, please report it"
    )]
    Inconsistent {
        /// The mean number in flight, by the counter.
        counted: f64,
        /// The same by Little's law.
        by_law: f64,
    },
}

impl Spoilt {
    /// The kind of the doubt that it raises.
    pub const fn doubt_kind(&self) -> DoubtKind {
        match self {
            Self::RateNotHeld => DoubtKind::RateNotHeld,
            Self::Interrupted => DoubtKind::Interrupted,
            Self::Late { .. } => DoubtKind::LateSender,
            Self::Inconsistent { .. } => DoubtKind::InconsistentFigures,
        }
    }
}

/// The largest share of a response time that the sender's lateness may make up: our own choice.
pub const LATENESS_SHARE: f64 = 0.1;
/// Lateness up to this much is no fault at the median, and at the 99th percentile: what a timer of Linux and one switch of tasks take. Our
/// own choice.
const LATENESS_FLOORS: [(&str, f64, Duration); 2] = [
    ("p50", 0.5, Duration::from_micros(100)),
    ("p99", 0.99, Duration::from_millis(1)),
];

/// How far the two sides of Little's law may be apart, as a share of them: both are sums of the same clock's nanoseconds, and only rounding parts them.
const LAW_SHARE: f64 = 1e-6;

/// Whether the figures of a run count.
///
/// # Errors
/// Why they do not.
pub fn check(measurement: &Measurement) -> Result<(), Spoilt> {
    match measurement.ending {
        Ending::Complete => {
            check_lateness(&measurement.lateness, &measurement.response)?;
            check_in_flight(measurement)
        }
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

fn check_in_flight(measurement: &Measurement) -> Result<(), Spoilt> {
    let counted = measurement.window.in_flight_mean();
    let by_law = measurement.in_flight_by_law();
    if (counted - by_law).abs() > LAW_SHARE * counted.max(by_law) {
        return Err(Spoilt::Inconsistent { counted, by_law });
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
    use crate::sending_window::SendingWindow;

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
        assert!(
            spoilt.contains("(5.00 ms at p50) is more than 10 % of") && spoilt.contains("(20.0 ms)"),
            "{spoilt}"
        );
    }

    #[test]
    fn figures_that_break_littles_law_do_not_count() {
        let second = Duration::from_secs(1);
        let mut measurement = Measurement {
            span: second,
            window: SendingWindow::new(Duration::ZERO, second),
            ..Measurement::default()
        };
        measurement.window.begin(Duration::ZERO);
        measurement.window.complete(second / 2, second / 2, 0);
        assert_eq!(check(&measurement), Ok(()));
        measurement.span = second / 4;
        let spoilt = check(&measurement).unwrap_err().to_string();
        assert!(
            spoilt.contains("0.500 requests") && spoilt.contains("response times 2.000"),
            "{spoilt}"
        );
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
