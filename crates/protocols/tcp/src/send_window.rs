//! The window that the other end offers, and the probes of a closed window.

use super::round_trip::RoundTrip;
use lastmile_units::Instant;

/// The other end's window as the sender knows it, and the probes sent while it is closed (RFC 9293 section 3.8.6.1).
#[derive(Debug)]
pub(super) struct PeerWindow {
    /// The furthest right edge that was offered, as an offset.
    ends: u64,
    largest: u64,
    last: u64,
    shift: u8,
    /// When the next probe is sent.
    pub(super) probe_at: Option<Instant>,
    probe_due: bool,
    /// Probes sent since the window closed, and since the other end was last heard from.
    probes: u32,
    probes_unanswered: u32,
}

impl PeerWindow {
    /// A window of `window` bytes from offset 1, where data begins; later windows are shifted by `shift`.
    pub(super) const fn new(window: u64, shift: u8) -> Self {
        Self {
            ends: 1 + window,
            largest: window,
            last: window,
            shift,
            probe_at: None,
            probe_due: false,
            probes: 0,
            probes_unanswered: 0,
        }
    }

    /// Reads the window field of a segment that acknowledges `acknowledged`. A receiver never takes back what it offered (RFC
    /// 9293 section 3.8.6), so the furthest offer stands. Returns whether the window differs from the last one.
    pub(super) fn on_offer(&mut self, acknowledged: u64, field: u16) -> bool {
        let window = u64::from(field) << self.shift;
        let moved = window != self.last;
        self.last = window;
        self.ends = self.ends.max(acknowledged + window);
        self.largest = self.largest.max(window);
        self.probes_unanswered = 0;
        moved
    }

    /// How many bytes from `next` on may be sent.
    pub(super) const fn room(&self, next: u64) -> u64 {
        self.ends.saturating_sub(next)
    }

    /// Whether to use room for less than a segment: where it is half of the largest window seen, or nothing is outstanding that
    /// would open more (RFC 9293 section 3.8.6.2.1).
    pub(super) const fn is_worth_using(&self, room: u64, outstanding: bool) -> bool {
        2 * room >= self.largest || (room > 0 && !outstanding)
    }

    /// The sender may send, or has nothing to send: no probe is needed.
    pub(super) const fn stop_probing(&mut self) {
        (self.probe_at, self.probes) = (None, 0);
    }

    /// The window blocks the sender, and nothing is in flight that would open it: probes are sent from time to time.
    pub(super) fn begin_probing(&mut self, now: Instant, round_trip: &RoundTrip) {
        if self.probe_at.is_none() {
            self.probe_at = Some(now + round_trip.timeout());
        }
    }

    /// Schedules a probe if its time has come. False where `retries` of them found no answer: as long as the other end answers,
    /// it may keep its window closed (RFC 9293 section 3.8.6.1).
    pub(super) fn on_timer(&mut self, now: Instant, round_trip: &RoundTrip, retries: u32) -> bool {
        if self.probe_at.is_none_or(|at| at > now) {
            return true;
        }
        if self.probes_unanswered >= retries {
            return false;
        }
        self.probes += 1;
        self.probes_unanswered += 1;
        self.probe_due = true;
        self.probe_at = Some(now + round_trip.timeout_doubled(self.probes));
        true
    }

    /// Whether a probe is to leave now; it then counts as sent.
    pub(super) const fn take_probe(&mut self) -> bool {
        std::mem::replace(&mut self.probe_due, false)
    }
}
