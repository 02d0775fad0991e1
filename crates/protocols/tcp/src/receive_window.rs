//! The receive window: how much the other end may send. It grows with the rate at which the program reads.

use lastmile_units::Instant;
use std::time::Duration;

/// The advertised window, by dynamic right-sizing (Fisk and Feng 2001) as in Linux: after each round trip its limit may rise to
/// twice what the program read in it, and further while that still grows; and each segment that arrives moves the window
/// towards the limit by twice the segment's size.
#[derive(Debug)]
pub(super) struct ReceiveWindow {
    /// The offered window (Linux's `rcv_ssthresh`), and its limit (`window_clamp`).
    offered: u64,
    limit: u64,
    maximum: u64,
    shift: u8,
    /// The right edge as advertised: it never moves back.
    advertised: u64,
    round_trip: Option<Duration>,
    /// Where the window that measures a round trip began and ends: the data up to its end was sent after it was offered.
    window_began: Instant,
    window_ends: u64,
    measuring_since: Instant,
    read_at_start: u64,
    /// The bytes read in the last round trip that counted; before the first, those of an initial window.
    read_last_round: Option<u64>,
}

/// Smaller payloads do not make the window grow.
const SMALL: u64 = 128;
/// Segments that a sender may send at first (RFC 6928).
const INITIAL_SEGMENTS: u64 = 10;

impl ReceiveWindow {
    /// At first Linux offers half of its buffer; with packets of 1,500 B the buffer holds a quarter more.
    pub(super) fn new(initial: u64, maximum: u64, shift: u8, next: u64, now: Instant) -> Self {
        // A window of less than one unit of its field could never open.
        let initial = initial.max(1 << shift);
        let maximum = maximum.max(initial);
        Self {
            offered: initial,
            limit: (initial + initial / 4).min(maximum),
            maximum,
            shift,
            advertised: next,
            round_trip: None,
            window_began: now,
            window_ends: next + initial,
            measuring_since: now,
            read_at_start: next,
            read_last_round: None,
        }
    }

    /// The shift with which 16 bits can express `maximum` (RFC 7323 section 2.3).
    pub(super) fn shift_for(maximum: u64) -> u8 {
        (0..14).find(|shift| maximum >> shift <= 0xffff).unwrap_or(14)
    }

    /// The right edge that could be advertised when `held` bytes are in the buffer: unread, or waiting for a hole before them
    /// to be filled.
    fn edge(&self, next: u64, held: u64) -> u64 {
        let window = self.offered.min(self.limit.saturating_sub(held)) >> self.shift << self.shift;
        self.advertised.max(next + window)
    }

    /// The window field for a segment that acknowledges `next`; records it as advertised.
    pub(super) fn advertise(&mut self, next: u64, held: u64, segment_size: u64) -> u16 {
        let edge = self.edge(next, held);
        // RFC 9293 section 3.8.6.2.2: small steps of the edge are not advertised.
        if edge >= self.advertised + segment_size.min(self.limit / 2) {
            self.advertised = edge;
        }
        // Rounded up, so that the edge does not move back by more than scaling hides (RFC 7323 section 2.4); the excess over
        // `advertised` is not added to it, so that the window does not creep.
        let window = self.advertised.saturating_sub(next).div_ceil(1 << self.shift);
        window.min(0xffff) as u16
    }

    /// The right edge: data beyond it is not accepted.
    pub(super) const fn right_edge(&self) -> u64 {
        // The field is rounded up to a multiple of the scale, so the sender may go that much further.
        self.advertised + (1 << self.shift)
    }

    /// Whether reading has opened the window so far that the other end should be told (Linux: to twice its present size).
    pub(super) fn deserves_update(&self, next: u64, held: u64, segment_size: u64) -> bool {
        let left = self.advertised.saturating_sub(next);
        let possible = self.edge(next, held).saturating_sub(next);
        possible >= left + 2 * segment_size.min(self.limit / 4) && possible >= 2 * left
    }

    /// A payload arrived, in order or not. True where the window grows for it: its sender is to be told at once, since it may
    /// wait for it (Linux's `tcp_grow_window`).
    pub(super) fn on_payload(&mut self, length: u64, segment_size: u64) -> bool {
        let grows = length >= SMALL && self.offered < self.limit;
        if grows {
            self.offered = self.limit.min(self.offered + 2 * segment_size);
        }
        grows
    }

    /// Accepts a round-trip sample from timestamps: a shorter one replaces the estimate, longer ones are smoothed (Linux's
    /// `tcp_rcv_rtt_update`).
    pub(super) fn on_round_trip(&mut self, sample: Duration) {
        let sample = sample.max(Duration::from_millis(1));
        self.round_trip = Some(match self.round_trip {
            Some(known) if known < sample => (known * 7 + sample) / 8,
            _ => sample,
        });
    }

    /// Everything before `next` has arrived. A window that has arrived in full took at least a round trip, which is all that is
    /// known without timestamps (Linux's `tcp_rcv_rtt_measure`).
    pub(super) fn on_arrival(&mut self, now: Instant, next: u64) {
        if next >= self.window_ends {
            let took = now.saturating_since(self.window_began).max(Duration::from_millis(1));
            self.round_trip = Some(self.round_trip.map_or(took, |known| known.min(took)));
            (self.window_began, self.window_ends) = (now, self.advertised.max(next));
        }
    }

    /// The program has read everything before `offset`; out-of-order data reaches `beyond` bytes further.
    pub(super) fn on_read(&mut self, now: Instant, offset: u64, beyond: u64, segment_size: u64) {
        let Some(round_trip) = self.round_trip else { return };
        if now.saturating_since(self.measuring_since) < round_trip {
            return;
        }
        let read = offset - self.read_at_start;
        let before = self.read_last_round.unwrap_or(INITIAL_SEGMENTS * segment_size).max(1);
        if read > before {
            let wanted = u128::from(2 * read);
            // While the sender's window still doubles, this one must too, and in time (Linux's `tcp_rcvbuf_grow`).
            let wanted = wanted + 2 * wanted * u128::from(read - before) / u128::from(before);
            let wanted = u64::try_from(wanted).unwrap_or(u64::MAX).saturating_add(beyond);
            self.limit = self.limit.max(wanted.min(self.maximum));
            self.read_last_round = Some(read);
        }
        (self.measuring_since, self.read_at_start) = (now, offset);
    }
}
