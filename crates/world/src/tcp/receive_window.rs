//! How much may the other end send? The receive window, and how it grows with the rate at which the program reads.

use lastmile_units::Instant;
use std::time::Duration;

/// The advertised window. It follows dynamic right-sizing (Fisk and Feng 2001) as Linux does: whenever a round trip has
/// passed, it may become what holds twice what the program read in it, and more while that still grows; and each segment that
/// arrives brings it there by twice its size.
#[derive(Debug)]
pub(super) struct ReceiveWindow {
    /// What is offered (Linux's `rcv_ssthresh`), and may be (`window_clamp`).
    offered: u64,
    limit: u64,
    maximum: u64,
    shift: u8,
    /// The right edge as advertised: it never moves back.
    advertised: u64,
    round_trip: Option<Duration>,
    /// Where the window measured as a round trip began and ends: the data up to there was sent after it was offered.
    window_began: Instant,
    window_ends: u64,
    measuring_since: Instant,
    read_at_start: u64,
    /// What was read in the last round trip that counted; before the first, what an initial window brings.
    read_last_round: Option<u64>,
}

/// Smaller payloads do not make the window grow.
const SMALL: u64 = 128;
/// Segments that a sender may send at first (RFC 6928).
const INITIAL_SEGMENTS: u64 = 10;

impl ReceiveWindow {
    /// At first Linux offers half of its buffer; of packets of 1,500 B it holds a quarter more.
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

    /// The shift that lets 16 bits name `maximum` (RFC 7323 section 2.3).
    pub(super) fn shift_for(maximum: u64) -> u8 {
        (0..14).find(|shift| maximum >> shift <= 0xffff).unwrap_or(14)
    }

    /// The right edge that could be advertised, when `held` bytes take up buffer: they wait for the program,
    /// or for a hole before them to be filled.
    fn edge(&self, next: u64, held: u64) -> u64 {
        let window = self.offered.min(self.limit.saturating_sub(held)) >> self.shift << self.shift;
        self.advertised.max(next + window)
    }

    /// The window field for a segment that acknowledges `next`; notes it as advertised.
    pub(super) fn advertise(&mut self, next: u64, held: u64, segment_size: u64) -> u16 {
        let edge = self.edge(next, held);
        // RFC 9293 section 3.8.6.2.2: a small step of the edge is kept back.
        if edge >= self.advertised + segment_size.min(self.limit / 2) {
            self.advertised = edge;
        }
        // Rounded up, so that the edge does not move back by more than scaling hides (RFC 7323 section 2.4); what is promised
        // beyond `advertised` is not added to it, so that the window does not creep.
        let window = self.advertised.saturating_sub(next).div_ceil(1 << self.shift);
        window.min(0xffff) as u16
    }

    /// The right edge: what lies beyond is not taken.
    pub(super) const fn right_edge(&self) -> u64 {
        // The field is rounded up to a multiple of the scale, so the sender may go that much further.
        self.advertised + (1 << self.shift)
    }

    /// Whether reading has opened the window so far that the other end should hear of it (Linux: to twice what it has).
    pub(super) fn deserves_update(&self, next: u64, held: u64, segment_size: u64) -> bool {
        let left = self.advertised.saturating_sub(next);
        let possible = self.edge(next, held).saturating_sub(next);
        possible >= left + 2 * segment_size.min(self.limit / 4) && possible >= 2 * left
    }

    /// A payload arrived, in order or not. True where the window grows for it: its sender is to hear of that at once, since it
    /// may wait for it (Linux's `tcp_grow_window`).
    pub(super) fn on_payload(&mut self, length: u64, segment_size: u64) -> bool {
        let grows = length >= SMALL && self.offered < self.limit;
        if grows {
            self.offered = self.limit.min(self.offered + 2 * segment_size);
        }
        grows
    }

    /// Takes a sample of the round trip, from timestamps: one that is shorter counts as it is, longer ones are smoothed (Linux's
    /// `tcp_rcv_rtt_update`).
    pub(super) fn on_round_trip(&mut self, sample: Duration) {
        let sample = sample.max(Duration::from_millis(1));
        self.round_trip = Some(match self.round_trip {
            Some(known) if known < sample => (known * 7 + sample) / 8,
            _ => sample,
        });
    }

    /// Everything before `next` has arrived. A window that has arrived in full took a round trip or longer, which is all there
    /// is to know without timestamps (Linux's `tcp_rcv_rtt_measure`).
    pub(super) fn on_arrival(&mut self, now: Instant, next: u64) {
        if next >= self.window_ends {
            let took = now.saturating_since(self.window_began).max(Duration::from_millis(1));
            self.round_trip = Some(self.round_trip.map_or(took, |known| known.min(took)));
            (self.window_began, self.window_ends) = (now, self.advertised.max(next));
        }
    }

    /// The program has read everything before `offset`, while what has arrived out of order reaches `beyond` bytes further.
    pub(super) fn on_read(&mut self, now: Instant, offset: u64, beyond: u64, segment_size: u64) {
        let Some(round_trip) = self.round_trip else { return };
        if now.saturating_since(self.measuring_since) < round_trip {
            return;
        }
        let read = offset - self.read_at_start;
        let before = self.read_last_round.unwrap_or(INITIAL_SEGMENTS * segment_size).max(1);
        if read > before {
            let wanted = u128::from(2 * read);
            // While the sender's window still doubles, so must this one, and in time (Linux's `tcp_rcvbuf_grow`).
            let wanted = wanted + 2 * wanted * u128::from(read - before) / u128::from(before);
            let wanted = u64::try_from(wanted).unwrap_or(u64::MAX).saturating_add(beyond);
            self.limit = self.limit.max(wanted.min(self.maximum));
            self.read_last_round = Some(read);
        }
        (self.measuring_since, self.read_at_start) = (now, offset);
    }
}
