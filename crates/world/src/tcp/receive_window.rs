//! How much may the other end send? The receive window, and how it grows with the rate at which the program reads.

use lastmile_units::Instant;
use std::time::Duration;

/// The advertised window. It follows dynamic right-sizing (Fisk and Feng 2001) as Linux does: whenever a round trip has
/// passed, it is made to hold twice what the program read in it, and more while that still grows.
#[derive(Debug)]
pub(super) struct ReceiveWindow {
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
    read_last_round: u64,
}

impl ReceiveWindow {
    pub(super) fn new(initial: u64, maximum: u64, shift: u8, next: u64, now: Instant) -> Self {
        // A window of less than one unit of its field could never open.
        let initial = initial.max(1 << shift);
        Self {
            limit: initial,
            maximum: maximum.max(initial),
            shift,
            advertised: next,
            round_trip: None,
            window_began: now,
            window_ends: next + initial,
            measuring_since: now,
            read_at_start: next,
            read_last_round: initial / 2,
        }
    }

    /// The shift that lets 16 bits name `maximum` (RFC 7323 section 2.3).
    pub(super) fn shift_for(maximum: u64) -> u8 {
        (0..14).find(|shift| maximum >> shift <= 0xffff).unwrap_or(14)
    }

    /// The right edge that could be advertised, when `unread` bytes before `next` wait for the program.
    fn edge(&self, next: u64, unread: u64) -> u64 {
        let window = self.limit.saturating_sub(unread) >> self.shift << self.shift;
        self.advertised.max(next + window)
    }

    /// The window field for a segment that acknowledges `next`; notes it as advertised.
    pub(super) fn advertise(&mut self, next: u64, unread: u64, segment_size: u64) -> u16 {
        let edge = self.edge(next, unread);
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
    pub(super) fn deserves_update(&self, next: u64, unread: u64, segment_size: u64) -> bool {
        let left = self.advertised.saturating_sub(next);
        let possible = self.edge(next, unread).saturating_sub(next);
        possible >= left + 2 * segment_size.min(self.limit / 4) && possible >= 2 * left
    }

    /// Takes a sample of the round trip, from timestamps.
    pub(super) fn on_round_trip(&mut self, sample: Duration) {
        self.round_trip = Some(
            self.round_trip
                .map_or(sample, |known| known.min(sample))
                .max(Duration::from_millis(1)),
        );
    }

    /// Everything before `next` has arrived. A window that has arrived in full took a round trip or longer, which is all there
    /// is to know without timestamps (Linux's `tcp_rcv_rtt_measure`).
    pub(super) fn on_arrival(&mut self, now: Instant, next: u64) {
        if next >= self.window_ends {
            self.on_round_trip(now.saturating_since(self.window_began));
            (self.window_began, self.window_ends) = (now, self.advertised.max(next));
        }
    }

    /// The program has read everything before `offset`.
    pub(super) fn on_read(&mut self, now: Instant, offset: u64, segment_size: u64) {
        let Some(round_trip) = self.round_trip else { return };
        if now.saturating_since(self.measuring_since) < round_trip {
            return;
        }
        let read = offset - self.read_at_start;
        if read > self.read_last_round {
            let mut wanted = 2 * read + 16 * segment_size;
            // While the sender's window still doubles, so must this one.
            let growth =
                u128::from(wanted) * u128::from(read - self.read_last_round) / u128::from(self.read_last_round.max(1));
            wanted += 2 * growth as u64;
            self.limit = self.limit.max(wanted.min(self.maximum));
            self.read_last_round = read;
        }
        (self.measuring_since, self.read_at_start) = (now, offset);
    }
}
