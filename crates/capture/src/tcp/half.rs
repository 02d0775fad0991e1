//! What did one side of a connection send, and what became of it? Counted segment by segment as they pass.
//!
//! A segment that takes sequence numbers (payload, SYN, FIN) is one of these:
//! - *new*: it begins where nothing was seen beyond;
//! - a *retransmission*: it begins before the newest octet seen, and holds at least one octet that passed before;
//! - *out of order*: it begins before the newest octet seen, and none of its octets passed before: it fills a hole;
//! - a *keep-alive*: at most one octet, the last one before the newest, already acknowledged (RFC 9293 section 3.8.4);
//! - a *window probe*: one octet, next in turn, into a window of zero (RFC 9293 section 3.8.6.1).
//!
//! At the sender every octet passes, so nothing is out of order there. tcptrace tells retransmissions by octets as well. Wireshark
//! tells by time: what begins before the newest octet is out of order where it comes within the first round trip time (or
//! 3 ms) after the newest segment, else a retransmission; so the two together are what agrees. It further says *fast* (after
//! two duplicate acknowledgements and within 20 ms) and *spurious* (all of it already acknowledged); both are retransmissions, and
//! ours are split into spurious and others alike.

use super::round_trip::{Outstanding, RoundTrips};
use super::sequence::{Line, Seen};
use crate::datagram::{Datagram, Segment};
use crate::distribution::Distribution;
use crate::trace::Trace;
use lastmile_units::{Bytes, Instant};
use std::time::Duration;

/// What one side of a connection sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sent {
    /// Packets.
    pub packets: u64,
    /// IP packets, headers and all; what stands before them on a link apart.
    pub bytes: Bytes,
    /// Headers of IP and TCP in them.
    pub headers: Bytes,
    /// Payload, what was sent again included.
    pub payload: Bytes,
    /// Payload, each octet once.
    pub payload_once: Bytes,
    /// Segments that hold at least one octet that passed before, SYN and FIN counting as one.
    pub retransmissions: u64,
    /// Those among them that hold payload, and nothing but what was already acknowledged.
    pub spurious_retransmissions: u64,
    /// Octets in them that passed before, SYN and FIN counting as one.
    pub retransmitted: Bytes,
    /// Segments that fill a hole.
    pub out_of_order: u64,
    /// Segments beyond a hole: what is missing was lost before it came here, or was not captured.
    pub after_hole: u64,
    /// Acknowledgements that say once more what the last one said, as RFC 5681 section 2 has it. Whether data is outstanding, which it
    /// asks for, cannot be seen near a receiver; so, as in Wireshark, answers to keep-alives and window probes alone are left out.
    pub duplicate_acknowledgements: u64,
    /// Times that the other side acknowledged more than had been seen: what it acknowledges was not captured.
    pub acknowledged_unseen: u64,
    /// Segments that ask whether the other side still lives.
    pub keep_alives: u64,
    /// Segments that ask whether a window has opened.
    pub window_probes: u64,
    /// Segments that announce a window of zero.
    pub zero_windows: u64,
    /// How long its window was zero.
    pub zero_window_time: Duration,
    /// From its segments to their acknowledgements.
    pub round_trips: RoundTrips,
    /// Octets sent and not acknowledged, after each segment with payload; where acknowledgements are seen.
    pub in_flight: Distribution,
    /// What its SYN announced.
    pub maximum_segment_size: Option<u16>,
    /// Whether it said that it will send no more.
    pub fin: bool,
    /// Whether it broke the connection off.
    pub reset: bool,
    /// What was drawn while it passed.
    pub drawn: Drawn,
}

/// Octets from the beginning of a direction, over time: what a time-sequence plot shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The newest octet sent.
    pub sent: Trace,
    /// The newest octet acknowledged.
    pub acknowledged: Trace,
    /// Where retransmissions begin.
    pub retransmissions: Trace,
    /// Where segments begin that fill a hole.
    pub out_of_order: Trace,
    /// Where segments begin that the capture's writer says were dropped.
    pub dropped: Trace,
}

/// One side of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Half {
    pub(super) sent: Sent,
    line: Line,
    seen: Seen,
    outstanding: Outstanding,
    /// Where drawings begin to count.
    origin: Option<i64>,
    /// What the other side acknowledged of it.
    acknowledged: Option<i64>,
    /// The window that the other side announced last.
    granted: Option<u16>,
    /// Since when its own window is zero.
    closed_since: Option<Instant>,
    /// Whether its last segment was a keep-alive or a window probe, which asks for an answer that repeats the last.
    is_asking: bool,
}

/// Where a segment lies in its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Where its payload begins.
    pub(super) payload: i64,
}

impl Half {
    /// A segment of this side passes.
    pub(super) fn send(&mut self, at: Instant, datagram: &Datagram<'_>, segment: &Segment<'_>, dropped: bool) -> Place {
        let sent = &mut self.sent;
        sent.packets += 1;
        sent.bytes += Bytes::new(datagram.length.into());
        sent.headers += Bytes::new(datagram.header_length.into());
        sent.payload += Bytes::new(segment.length.into());
        sent.fin |= segment.has(Segment::FIN);
        sent.reset |= segment.has(Segment::RST);
        sent.maximum_segment_size = sent.maximum_segment_size.or_else(|| segment.maximum_segment_size());
        let from = self.line.place(segment.sequence);
        if segment.has(Segment::RST) {
            // What it carries is no data (RFC 9293 section 3.5.3), and its number may be any.
            return Place { payload: from };
        }
        let payload = from + i64::from(segment.has(Segment::SYN));
        let origin = *self.origin.get_or_insert(payload);
        if dropped {
            self.sent.drawn.dropped.add(at, from - origin);
        }
        let asked = self.sent.keep_alives + self.sent.window_probes;
        self.classify(at, from, segment);
        self.is_asking = self.sent.keep_alives + self.sent.window_probes > asked;
        Place { payload }
    }

    fn classify(&mut self, at: Instant, from: i64, segment: &Segment<'_>) {
        let (span, until) = (segment.span(), from + segment.span());
        let newest = self.line.newest();
        let is_plain = !segment.has(Segment::SYN | Segment::FIN);
        let is_acknowledged = self.acknowledged.is_some_and(|acknowledged| until <= acknowledged);
        if is_plain && span <= 1 && newest == Some(from + 1) && (span == 0 || is_acknowledged) {
            self.sent.keep_alives += 1;
            return;
        }
        if is_plain && span == 1 && newest == Some(from) && self.granted == Some(0) {
            self.sent.window_probes += 1;
            return;
        }
        if span == 0 {
            self.line.advance(from);
            return;
        }
        let (payload, length) = (from + i64::from(segment.has(Segment::SYN)), i64::from(segment.length));
        let payload_again = self.seen.add(payload, payload + length);
        let again = self.seen.add(from, payload) + payload_again + self.seen.add(payload + length, until);
        self.sent.payload_once += Bytes::new((length - payload_again) as u64);
        let origin = self.origin.unwrap_or(from);
        let drawn = &mut self.sent.drawn;
        if newest.is_some_and(|newest| from < newest) {
            if again > 0 {
                self.sent.retransmissions += 1;
                self.sent.retransmitted += Bytes::new(again as u64);
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
        self.line.advance(until);
        if newest.is_none_or(|newest| until > newest) {
            drawn.sent.add(at, until - origin);
        }
        if let Some(acknowledged) = self.acknowledged.filter(|_| segment.length > 0) {
            let newest = self.line.newest().unwrap_or(until);
            self.sent.in_flight.add((newest - acknowledged).max(0) as f64);
        }
    }

    /// The other side acknowledges with `segment`. Tells whether it says what it said before, without being asked to.
    pub(super) fn acknowledge(&mut self, at: Instant, segment: &Segment<'_>) -> bool {
        if !segment.has(Segment::ACK) || segment.has(Segment::RST) {
            return false;
        }
        let until = self.line.place(segment.acknowledgement);
        match self.line.newest() {
            // This side was not heard yet; its numbers are known from now on.
            None => self.line.advance(until),
            Some(newest) if until > newest && self.acknowledged < Some(until) => self.sent.acknowledged_unseen += 1,
            Some(_) => {}
        }
        let bare = segment.length == 0 && !segment.has(Segment::SYN | Segment::FIN);
        let same = self.acknowledged == Some(until) && self.granted == Some(segment.window);
        let is_duplicate = bare && same && segment.window > 0 && !self.is_asking;
        self.granted = Some(segment.window);
        if self.acknowledged.is_none_or(|acknowledged| until > acknowledged) {
            self.acknowledged = Some(until);
            self.outstanding.acknowledged(until, at, &mut self.sent.round_trips);
            self.seen.acknowledged(until);
            if let Some(origin) = self.origin {
                self.sent.drawn.acknowledged.add(at, until - origin);
            }
        }
        is_duplicate
    }

    /// This side announces its window.
    pub(super) fn announce(&mut self, at: Instant, segment: &Segment<'_>) {
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
    pub(super) fn is_asking(&self) -> bool {
        self.is_asking
    }

    /// How much of this side the other one is known to have.
    pub(super) fn acknowledged(&self) -> Option<i64> {
        self.acknowledged
    }

    /// The end of what was seen furthest.
    pub(super) fn newest(&self) -> Option<i64> {
        self.line.newest()
    }
}
