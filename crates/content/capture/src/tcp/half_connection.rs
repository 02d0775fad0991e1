//! Counts what one side of a connection sent, and what happened to it, segment by segment.
//!
//! A segment that uses sequence numbers (payload, SYN, FIN) is one of these:
//! - *new*: it begins at or after the newest byte seen;
//! - a *retransmission*: it begins before the newest byte seen, and holds at least one byte that passed before;
//! - *out of order*: it begins before the newest byte seen, and none of its bytes passed before: it fills a hole;
//! - a *keep-alive*: at most one byte, the last one before the newest, already acknowledged (RFC 9293 section 3.8.4);
//! - a *window probe*: one byte, next in turn, into a window of zero (RFC 9293 section 3.8.6.1).
//!
//! At the sender every byte passes, so nothing is out of order there. tcptrace tells retransmissions by bytes as well. Wireshark tells them
//! by time: a segment that begins before the newest byte is out of order where it comes within the first round trip time (or 3 ms) after
//! the newest segment, else a retransmission; so it is the sum of the two that agrees. It further distinguishes *fast* (after two duplicate
//! acknowledgements and within 20 ms) and *spurious* (all of it already acknowledged); both are retransmissions, and ours are split into
//! spurious and others too.

use super::round_trip::{Outstanding, RoundTrips};
use super::sequence::{SeenRanges, SequenceUnwrapper};
use crate::datagram::{Datagram, Segment};
use crate::downsampled_series::DownsampledSeries;
use crate::streaming_summary::StreamingSummary;
use lastmile_units::{ByteCount, Instant};
use std::time::Duration;

/// What one side of a connection sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SentStatistics {
    /// The number of packets.
    pub packets: u64,
    /// Bytes of IP packets, headers included, without their link-layer headers.
    pub bytes: ByteCount,
    /// Bytes of their IP and TCP headers.
    pub headers: ByteCount,
    /// Bytes of payload, retransmissions included.
    pub payload: ByteCount,
    /// Bytes of payload, each counted once.
    pub payload_once: ByteCount,
    /// Segments that hold at least one byte that passed before; SYN and FIN count as one byte.
    pub retransmissions: u64,
    /// Those among them with payload, all of which was already acknowledged.
    pub spurious_retransmissions: u64,
    /// Bytes in them that passed before; SYN and FIN count as one.
    pub retransmitted: ByteCount,
    /// Segments that fill a hole.
    pub out_of_order: u64,
    /// Segments after a hole: the missing bytes were lost before the capture point, or were not captured.
    pub after_hole: u64,
    /// Acknowledgements that repeat the last one, as RFC 5681 section 2 defines them. Its condition that data is outstanding cannot be seen
    /// near a receiver; so, as in Wireshark, only answers to keep-alives and window probes are left out.
    pub duplicate_acknowledgements: u64,
    /// How often the other side acknowledged more than had been seen: those bytes were not captured.
    pub acked_unseen_segments: u64,
    /// Segments that ask whether the other side is still there.
    pub keep_alives: u64,
    /// Segments that ask whether a window has opened.
    pub window_probes: u64,
    /// Segments that announce a window of zero.
    pub zero_windows: u64,
    /// How long its window was zero.
    pub zero_window_time: Duration,
    /// The times from its segments to their acknowledgements.
    pub round_trips: RoundTrips,
    /// Bytes sent and not acknowledged, after each segment with payload; where acknowledgements are seen.
    pub in_flight: StreamingSummary,
    /// The MSS that its SYN announced.
    pub maximum_segment_size: Option<u16>,
    /// Whether it sent a FIN.
    pub fin: bool,
    /// Whether it sent a reset.
    pub reset: bool,
    /// The series for its chart.
    pub series: TimeSequenceSeries,
}

/// Bytes from the beginning of a direction, over time: the series of a time-sequence plot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimeSequenceSeries {
    /// The newest byte sent.
    pub sent: DownsampledSeries,
    /// The newest byte acknowledged.
    pub acknowledged: DownsampledSeries,
    /// Where retransmissions begin.
    pub retransmissions: DownsampledSeries,
    /// Where segments begin that fill a hole.
    pub out_of_order: DownsampledSeries,
    /// Where segments begin that the capture's writer marked as dropped.
    pub dropped: DownsampledSeries,
}

/// One side of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct HalfConnection {
    pub(super) sent: SentStatistics,
    sequence: SequenceUnwrapper,
    seen: SeenRanges,
    outstanding: Outstanding,
    /// The position that charts count from.
    origin: Option<i64>,
    /// The position up to which the other side acknowledged it.
    acknowledged: Option<i64>,
    /// The window that the other side announced last.
    offered_window: Option<u16>,
    /// Since when its own window is zero.
    closed_since: Option<Instant>,
    /// Whether its last segment was a keep-alive or a window probe, whose answer repeats the last acknowledgement.
    is_probe: bool,
}

/// The position of a segment in its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentPosition {
    /// The position of its payload.
    pub(super) payload: i64,
}

impl HalfConnection {
    /// Accepts a segment of this side.
    pub(super) fn observe_sent(
        &mut self,
        at: Instant,
        datagram: &Datagram<'_>,
        segment: &Segment<'_>,
        dropped: bool,
    ) -> SegmentPosition {
        let sent = &mut self.sent;
        sent.packets += 1;
        sent.bytes += ByteCount::new(datagram.length.into());
        sent.headers += ByteCount::new(datagram.header_length.into());
        sent.payload += ByteCount::new(segment.length.into());
        sent.fin |= segment.has(Segment::FIN);
        sent.reset |= segment.has(Segment::RST);
        sent.maximum_segment_size = sent.maximum_segment_size.or_else(|| segment.maximum_segment_size());
        let from = self.sequence.unwrap_number(segment.sequence);
        if segment.has(Segment::RST) {
            // Its payload is not data (RFC 9293 section 3.5.3), and its number may be any.
            return SegmentPosition { payload: from };
        }
        let payload = from + i64::from(segment.has(Segment::SYN));
        let origin = *self.origin.get_or_insert(payload);
        if dropped {
            self.sent.series.dropped.add(at, from - origin);
        }
        let asked = self.sent.keep_alives + self.sent.window_probes;
        self.classify(at, from, segment);
        self.is_probe = self.sent.keep_alives + self.sent.window_probes > asked;
        SegmentPosition { payload }
    }

    fn classify(&mut self, at: Instant, from: i64, segment: &Segment<'_>) {
        let (span, until) = (segment.span(), from + segment.span());
        let newest = self.sequence.newest();
        let is_plain = !segment.has(Segment::SYN | Segment::FIN);
        let is_acknowledged = self.acknowledged.is_some_and(|acknowledged| until <= acknowledged);
        if is_plain && span <= 1 && newest == Some(from + 1) && (span == 0 || is_acknowledged) {
            self.sent.keep_alives += 1;
            return;
        }
        if is_plain && span == 1 && newest == Some(from) && self.offered_window == Some(0) {
            self.sent.window_probes += 1;
            return;
        }
        if span == 0 {
            self.sequence.advance(from);
            return;
        }
        let (payload, length) = (from + i64::from(segment.has(Segment::SYN)), i64::from(segment.length));
        let payload_again = self.seen.add(payload, payload + length);
        let again = self.seen.add(from, payload) + payload_again + self.seen.add(payload + length, until);
        self.sent.payload_once += ByteCount::new((length - payload_again) as u64);
        let origin = self.origin.unwrap_or(from);
        let drawn = &mut self.sent.series;
        if newest.is_some_and(|newest| from < newest) {
            if again > 0 {
                self.sent.retransmissions += 1;
                self.sent.retransmitted += ByteCount::new(again as u64);
                self.sent.spurious_retransmissions += u64::from(is_acknowledged && length > 0);
                drawn.retransmissions.add(at, from - origin);
                self.outstanding.resent(from, until);
            } else {
                self.sent.out_of_order += 1;
                drawn.out_of_order.add(at, from - origin);
            }
        } else {
            self.sent.after_hole += u64::from(newest.is_some_and(|newest| from > newest));
        }
        if again < span {
            self.outstanding.sent(from, until, at);
        }
        self.sequence.advance(until);
        if newest.is_none_or(|newest| until > newest) {
            drawn.sent.add(at, until - origin);
        }
        if let Some(acknowledged) = self.acknowledged.filter(|_| segment.length > 0) {
            let newest = self.sequence.newest().unwrap_or(until);
            self.sent.in_flight.add((newest - acknowledged).max(0) as f64);
        }
    }

    /// The other side acknowledges with `segment`. Returns whether that repeats its last acknowledgement without having been probed.
    pub(super) fn observe_acknowledgement(&mut self, at: Instant, segment: &Segment<'_>) -> bool {
        if !segment.has(Segment::ACK) || segment.has(Segment::RST) {
            return false;
        }
        let until = self.sequence.unwrap_number(segment.acknowledgement);
        match self.sequence.newest() {
            // Nothing was captured of this side before; its numbers are known from now on.
            None => self.sequence.advance(until),
            Some(newest) if until > newest && self.acknowledged < Some(until) => self.sent.acked_unseen_segments += 1,
            Some(_) => {}
        }
        let bare = segment.length == 0 && !segment.has(Segment::SYN | Segment::FIN);
        let same = self.acknowledged == Some(until) && self.offered_window == Some(segment.window);
        let is_duplicate = bare && same && segment.window > 0 && !self.is_probe;
        self.offered_window = Some(segment.window);
        if self.acknowledged.is_none_or(|acknowledged| until > acknowledged) {
            self.acknowledged = Some(until);
            self.outstanding.acknowledged(until, at, &mut self.sent.round_trips);
            self.seen.acknowledged(until);
            if let Some(origin) = self.origin {
                self.sent.series.acknowledged.add(at, until - origin);
            }
        }
        is_duplicate
    }

    /// This side announces its window.
    pub(super) fn observe_window(&mut self, at: Instant, segment: &Segment<'_>) {
        if segment.has(Segment::SYN | Segment::FIN | Segment::RST) {
            return;
        }
        match (segment.window, self.closed_since) {
            (0, since) => {
                self.sent.zero_windows += 1;
                self.closed_since = since.or(Some(at));
            }
            (_, Some(since)) => {
                self.sent.zero_window_time += at.saturating_since(since);
                self.closed_since = None;
            }
            (_, None) => {}
        }
    }

    /// Whether its last segment was a keep-alive or a window probe.
    pub(super) fn is_probe(&self) -> bool {
        self.is_probe
    }

    /// The position up to which the other side is known to have this side's bytes.
    pub(super) fn acknowledged(&self) -> Option<i64> {
        self.acknowledged
    }

    /// The end of the furthest byte seen.
    pub(super) fn newest(&self) -> Option<i64> {
        self.sequence.newest()
    }
}
