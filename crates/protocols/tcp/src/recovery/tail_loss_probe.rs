//! The tail loss probe: when a silent receiver is probed, and what its answer means.

use super::AckReport;
use crate::round_trip::RoundTrip;
use std::time::Duration;

/// The tail loss probe of RFC 8985 section 7: where the last segments of a flight are lost, no arrival shows it. So the sender
/// sends one more, new or the last again, well before the timeout.
#[derive(Debug, Default)]
pub(crate) struct TailLossProbe {
    outstanding: Option<Outstanding>,
}

/// A probe that is not answered yet.
#[derive(Debug, Clone, Copy)]
struct Outstanding {
    /// TLP.end_seq: the next offset to be sent when the probe left.
    end: u64,
    /// Whether it repeated data that had been sent before.
    again: bool,
}

/// How long the receiver of a single segment may delay its acknowledgement (RFC 8985 section 7.2, TLP.max_ack_delay; Linux uses
/// its minimum timeout).
const ACKNOWLEDGEMENT_DELAY: Duration = Duration::from_millis(200);
/// What Linux adds in other cases (`TCP_TIMEOUT_MIN_US`).
pub(super) const TIMER_ALLOWANCE: Duration = Duration::from_millis(2);

impl TailLossProbe {
    /// The silence after which a probe is sent (section 7.2: two round trips); the initial timeout where no round trip is
    /// known.
    pub(crate) fn timeout(round_trip: &RoundTrip, outstanding: u32) -> Duration {
        let Some(smoothed) = round_trip.smoothed() else {
            return Duration::from_secs(1);
        };
        let allowance = if outstanding == 1 {
            ACKNOWLEDGEMENT_DELAY
        } else {
            TIMER_ALLOWANCE
        };
        2 * smoothed + allowance
    }

    pub(crate) const fn is_outstanding(&self) -> bool {
        self.outstanding.is_some()
    }

    /// How many segments are in flight a second time because of it.
    pub(super) const fn repeats(&self) -> u32 {
        match self.outstanding {
            Some(Outstanding { again: true, .. }) => 1,
            _ => 0,
        }
    }

    /// A probe left, when `next` was the next offset to be sent.
    pub(crate) const fn on_sent(&mut self, next: u64, again: bool) {
        self.outstanding = Some(Outstanding { end: next, again });
    }

    pub(super) const fn cancel(&mut self) {
        self.outstanding = None;
    }

    /// Where the probe ends, if one is outstanding: a duplicate reported there is the probe.
    pub(crate) fn end(&self) -> Option<u64> {
        self.outstanding.map(|probe| probe.end)
    }

    /// Handles an acknowledgement (section 7.4.2). True where it shows that the segment which the probe repeated had been lost: a sign
    /// of congestion that the probe hid.
    pub(super) fn on_report(&mut self, report: &AckReport) -> bool {
        let Some(probe) = self.outstanding.filter(|probe| report.acknowledged >= probe.end) else {
            return false;
        };
        let is_harmless = !probe.again || report.probe_duplicated;
        let repaired_a_loss = !is_harmless && report.acknowledged > probe.end;
        let both_arrived = report.is_duplicate && !report.selected;
        if is_harmless || repaired_a_loss || both_arrived {
            self.outstanding = None;
        }
        repaired_a_loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip() -> RoundTrip {
        let mut round_trip = RoundTrip::new(Duration::from_millis(200));
        let sample = Duration::from_millis(100);
        round_trip.sample(sample, Some(sample), 1, 2);
        round_trip
    }

    #[test]
    fn a_probe_waits_for_two_round_trips_and_for_a_delayed_acknowledgement_of_a_lone_segment() {
        let round_trip = round_trip();
        assert_eq!(TailLossProbe::timeout(&round_trip, 1), Duration::from_millis(400));
        assert_eq!(TailLossProbe::timeout(&round_trip, 2), Duration::from_millis(202));
    }

    #[test]
    fn what_follows_the_repeated_segment_shows_that_it_had_been_lost_and_a_duplicate_that_it_had_not() {
        let report = |acknowledged, probe_duplicated, is_duplicate| AckReport {
            acknowledged,
            is_duplicate,
            probe_duplicated,
            ..AckReport::default()
        };
        for (again, report, is_answered, repaired_a_loss) in [
            (false, report(50, false, false), true, false),
            (true, report(40, false, false), false, false),
            (true, report(50, false, false), false, false),
            (true, report(50, true, true), true, false),
            (true, report(50, false, true), true, false),
            (true, report(51, false, false), true, true),
        ] {
            let mut probe = TailLossProbe::default();
            probe.on_sent(50, again);
            assert_eq!(probe.on_report(&report), repaired_a_loss);
            assert_eq!(probe.is_outstanding(), !is_answered);
        }
    }
}
