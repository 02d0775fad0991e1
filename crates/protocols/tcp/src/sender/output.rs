//! Chooses what a sender sends next.

use super::{Piece, Sender};
use crate::config::Nagle;
use crate::cwnd_validation::Burst;
use crate::recovery::RetransmitAllowance;
use crate::segment::milliseconds;
use lastmile_units::Instant;

/// Segments that are handed down together, the last of them with PSH: Linux's `tcp_min_tso_segs`, which applies up to some 24
/// Mbit/s.
const OFFLOADED: u32 = 2;

impl Sender {
    /// Whether the window is in use, so that it may grow.
    pub(super) fn window_limited(&self) -> bool {
        self.usage
            .is_in_use(self.congestion.window(), self.congestion.in_slow_start())
    }

    /// How many bytes (the FIN counts as one) may be sent for the first time now.
    pub(super) fn may_send_new(&self) -> u64 {
        if self.next == self.end() {
            return 0;
        }
        let room = self.peer_window.room(self.next);
        let data = (self.buffer.end() - self.next).min(self.segment_size);
        // The FIN rides on the last data, and is not subject to Nagle.
        let last = self.finishing && self.next + data == self.buffer.end();
        let length = data + u64::from(last);
        if room >= length {
            return if data == self.segment_size || last || self.small_may_leave() {
                length
            } else {
                0
            };
        }
        let used = self.peer_window.is_worth_using(room, !self.board.is_empty());
        if used { room } else { 0 }
    }

    pub(super) const fn small_may_leave(&self) -> bool {
        match self.nagle {
            Nagle::Off => true,
            Nagle::Minshall => self.small_ends <= self.acknowledged,
            Nagle::Classic => self.next == self.acknowledged,
        }
    }

    /// The next piece to be sent, if anything may be sent. Call it until it returns nothing.
    pub(crate) fn next_piece(&mut self, now: Instant) -> Option<Piece> {
        if self.peer_window.take_probe() {
            // A segment without data, just before the window: it asks for an acknowledgement, as in Linux.
            return Some(Piece::without_data(self.acknowledged - 1));
        }
        if let Some(paced) = &mut self.paced {
            paced.pacing.stop_waiting();
        }
        if std::mem::take(&mut self.probe_due) {
            return self.next_probe(now);
        }
        let new = self.may_send_new();
        if new > 0 && self.board.is_empty() {
            self.restart_after_idle(now);
        }
        let window_is_full = self.board.in_flight() >= self.congestion.window();
        let mut resending = self.recovery.resending;
        if resending == RetransmitAllowance::UnlessNew
            && self.next == self.recovery.until
            && (new == 0 || window_is_full)
        {
            self.recovery.accept_timeout_as_genuine();
            resending = RetransmitAllowance::Lost;
        }
        if window_is_full {
            self.note_usage(now, new > 0 || self.burst > 0);
            return None;
        }
        if self.paced.is_some() && !self.may_depart(now, new > 0) {
            self.burst = 0;
            return None;
        }
        if resending == RetransmitAllowance::Lost
            && let Some(piece) = self.next_resend(now)
        {
            return Some(piece);
        }
        if new == 0 {
            self.note_usage(now, false);
            if self.next < self.end() && self.board.is_empty() && self.peer_window.room(self.next) == 0 {
                self.peer_window.begin_probing(now, &self.round_trip);
            }
            return None;
        }
        Some(self.next_new(now, new))
    }

    /// The next `length` bytes that were never sent; the FIN counts as one.
    pub(super) fn next_new(&mut self, now: Instant, length: u64) -> Piece {
        let (start, end) = (self.next, self.next + length);
        let data_end = end.min(self.buffer.end());
        if data_end - start < self.segment_size && data_end > start {
            self.small_ends = data_end;
        }
        if self.paced.is_some() {
            self.on_departure(now, end, data_end - start);
        }
        self.next = end;
        self.burst += 1;
        self.board.push(start, end, now);
        self.set_timer_after_sending(now);
        self.note_sent(now);
        let mut piece = self.piece(start, end);
        piece.push |= self.burst.is_multiple_of(OFFLOADED);
        piece
    }

    pub(super) fn next_resend(&mut self, now: Instant) -> Option<Piece> {
        let (start, end) = self.board.next_to_resend().map(|sent| (sent.start, sent.end))?;
        let is_head = self.board.head().is_some_and(|head| head.start == start);
        if self.paced.is_some() {
            self.on_departure(now, end, end.min(self.buffer.end()) - start);
        }
        self.board.resend(start, now);
        self.recovery.on_resent(milliseconds(now));
        if is_head {
            self.set_timer_after_resending_head(now);
        }
        self.counters.retransmissions += 1;
        self.note_sent(now);
        Some(self.piece(start, end))
    }

    /// The probe of a silent receiver: new data, whatever the window and Nagle say, or else the last segment again (RFC 8985
    /// section 7.3).
    pub(super) fn next_probe(&mut self, now: Instant) -> Option<Piece> {
        let data = (self.buffer.end() - self.next.min(self.buffer.end())).min(self.segment_size);
        let length =
            data + u64::from(self.finishing && self.next < self.end() && self.next + data == self.buffer.end());
        let is_new = length > 0 && self.peer_window.room(self.next) >= length;
        let piece = if is_new {
            self.next_new(now, length)
        } else {
            let (start, end) = self.board.last_range()?;
            self.on_departure(now, end, end.min(self.buffer.end()) - start);
            self.board.repeat_last(now);
            self.counters.retransmissions += 1;
            self.last_sent = Some(now);
            self.piece(start, end)
        };
        self.recovery.probe.on_sent(self.next, !is_new);
        self.timer.stop();
        self.arm_timeout(now);
        Some(piece)
    }

    fn piece(&self, start: u64, end: u64) -> Piece {
        let data_end = end.min(self.buffer.end());
        Piece {
            offset: start,
            payload: self.buffer.slice(start, data_end),
            push: data_end == self.buffer.end(),
            fin: end > self.buffer.end(),
        }
    }

    pub(super) fn note_sent(&mut self, now: Instant) {
        self.recovery.on_sent();
        self.last_sent = Some(now);
    }

    /// Nothing more can be sent now; `held_back` where the window is the reason.
    fn note_usage(&mut self, now: Instant, held_back: bool) {
        if std::mem::take(&mut self.burst) == 0 && !held_back {
            return;
        }
        let burst = Burst {
            now,
            acknowledged: self.acknowledged,
            next: self.next,
            outstanding: self.board.outstanding(),
            held_back,
        };
        let (window, in_slow_start) = (self.congestion.window(), self.congestion.in_slow_start());
        self.usage.note(&burst, window, in_slow_start);
        // A program that waits for room in the buffer does not leave the window unused.
        if !self.window_limited()
            && self.recovery.is_open()
            && self.room() > 0
            && let Some(used) = self.usage.unused_for(now, self.round_trip.timeout())
        {
            self.congestion.on_unused(used);
        }
    }

    fn restart_after_idle(&mut self, now: Instant) {
        if let Some(last_sent) = self.last_sent.replace(now) {
            let (idle, timeout) = (now.saturating_since(last_sent), self.round_trip.timeout());
            self.congestion.on_idle(idle, timeout);
            if idle > timeout {
                self.usage.restart(now);
            }
        }
    }
}
