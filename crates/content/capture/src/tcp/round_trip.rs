//! Samples round-trip times, from segments to their acknowledgements, with and without Karn's rule.
//!
//! A sample is the time from a segment to the first acknowledgement that ends where the segment ends. Without Karn's rule it counts from
//! the first time that the segment passed, as Wireshark's `tcp.analysis.ack_rtt` does, so that it includes loss recovery. Under Karn's rule
//! (RFC 6298 section 3) there is no sample where the acknowledgement covers anything that was sent more than once, as in Linux
//! (`tcp_clean_rtx_queue`): it is unknown which transmission it answers.
//!
//! Both are times at the capture point. Near the sender of the data that is the whole round trip; near its receiver, the receiver's
//! response time.

use crate::streaming_summary::StreamingSummary;
use lastmile_units::Instant;
use std::collections::VecDeque;

/// The samples of one direction's data, in seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RoundTrips {
    /// Under Karn's rule.
    pub karn: StreamingSummary,
    /// Without it.
    pub all: StreamingSummary,
}

/// Segments that have passed and are not acknowledged.
#[derive(Debug, Clone, Default)]
pub(super) struct Outstanding {
    /// In the order of their ends, which increase.
    segments: VecDeque<Sent>,
}

#[derive(Debug, Clone, Copy)]
struct Sent {
    from: i64,
    until: i64,
    first_sent: Instant,
    resent: bool,
}

/// The most segments that are kept; the oldest are dropped: our own choice. Only a capture without acknowledgements has more.
const OUTSTANDING_MAX: usize = 1 << 16;

impl Outstanding {
    /// A segment passes that is at least partly new.
    pub(super) fn sent(&mut self, from: i64, until: i64, at: Instant) {
        if self.segments.len() == OUTSTANDING_MAX {
            self.segments.pop_front();
        }
        let sent = Sent {
            from,
            until,
            first_sent: at,
            resent: false,
        };
        let index = self.segments.partition_point(|other| other.until < until);
        self.segments.insert(index, sent);
    }

    /// Bytes pass again.
    pub(super) fn resent(&mut self, from: i64, until: i64) {
        let first = self.segments.partition_point(|sent| sent.until <= from);
        for sent in self
            .segments
            .iter_mut()
            .skip(first)
            .take_while(|sent| sent.from < until)
        {
            sent.resent = true;
        }
    }

    /// Everything up to `until` is acknowledged.
    pub(super) fn acknowledged(&mut self, until: i64, at: Instant, samples: &mut RoundTrips) {
        let covered = self.segments.partition_point(|sent| sent.until <= until);
        let mut ambiguous = false;
        let mut last = None;
        for sent in self.segments.drain(..covered) {
            ambiguous |= sent.resent;
            last = Some(sent);
        }
        if let Some(sent) = last.filter(|sent| sent.until == until) {
            let sample = at.saturating_since(sent.first_sent).as_secs_f64();
            samples.all.add(sample);
            if !ambiguous {
                samples.karn.add(sample);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Instant {
        Instant::from_nanos(milliseconds * 1_000_000)
    }

    #[test]
    fn a_segment_that_was_sent_once_gives_a_sample_to_both() {
        let (mut outstanding, mut samples) = (Outstanding::default(), RoundTrips::default());
        outstanding.sent(0, 10, ms(0));
        outstanding.sent(10, 20, ms(1));
        outstanding.acknowledged(20, ms(50), &mut samples);
        assert_eq!((samples.karn.count(), samples.all.count()), (1, 1));
        assert_eq!(samples.karn.mean(), Some(0.049));
    }

    #[test]
    fn what_was_resent_gives_none_under_karns_rule_nor_does_what_is_acknowledged_with_it() {
        let (mut outstanding, mut samples) = (Outstanding::default(), RoundTrips::default());
        outstanding.sent(0, 10, ms(0));
        outstanding.sent(10, 20, ms(1));
        outstanding.resent(0, 10);
        outstanding.acknowledged(20, ms(150), &mut samples);
        assert_eq!((samples.karn.count(), samples.all.count()), (0, 1));
        outstanding.sent(20, 30, ms(200));
        outstanding.acknowledged(25, ms(250), &mut samples);
        assert_eq!(samples.all.count(), 1, "it answers no segment to its end");
    }

    #[test]
    fn without_acknowledgements_what_is_outstanding_is_bounded() {
        let mut outstanding = Outstanding::default();
        for n in 0..3 * OUTSTANDING_MAX as i64 {
            outstanding.sent(n, n + 1, ms(0));
        }
        assert_eq!(outstanding.segments.len(), OUTSTANDING_MAX);
    }
}
