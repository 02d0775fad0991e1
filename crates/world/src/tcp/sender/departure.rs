//! What may a sender send now?

use super::{Piece, Sender, WindowUsage};
use crate::tcp::config::Nagle;
use lastmile_units::Instant;

impl Sender {
    pub(super) fn window_limited(&self) -> bool {
        // In slow start a window in half use may still double; past it, it must have been full.
        if self.congestion.in_slow_start() {
            return self.congestion.window() < 2 * self.usage.most_outstanding;
        }
        self.usage.limited
    }

    /// How many bytes (the FIN counts for one) may be sent for the first time now.
    pub(super) fn may_send_new(&self) -> u64 {
        if self.next == self.end() {
            return 0;
        }
        let room = self.peer_window.room(self.next);
        let data = (self.buffer.end() - self.next).min(self.segment_size);
        // The FIN rides on the last of the data, and pays no heed to Nagle.
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

    /// The next piece to be sent, if anything may be sent. To be called until it returns nothing.
    pub(in crate::tcp) fn next_piece(&mut self, now: Instant) -> Option<Piece> {
        if self.peer_window.take_probe() {
            // A segment without data, just before the window: it asks for an acknowledgement, as Linux does.
            return Some(Piece::nothing(self.acknowledged - 1));
        }
        if let Some(paced) = &mut self.paced {
            paced.stop_waiting();
        }
        let new = self.may_send_new();
        if new > 0 && self.board.is_empty() {
            self.restart_after_idle(now);
        }
        if self.board.in_flight() >= self.congestion.window() {
            self.note_usage(new > 0 || self.board.lost() > 0);
            return None;
        }
        if self.paced.is_some() && !self.may_depart(now, new > 0) {
            return None;
        }
        if let Some(piece) = self.next_resend(now) {
            return Some(piece);
        }
        if new == 0 {
            self.note_usage(false);
            if self.next < self.end() && self.board.is_empty() && self.peer_window.room(self.next) == 0 {
                self.peer_window.begin_probing(now, &self.round_trip);
            }
            return None;
        }
        let (start, end) = (self.next, self.next + new);
        let data_end = end.min(self.buffer.end());
        let fin = end > self.buffer.end();
        if data_end - start < self.segment_size && data_end > start {
            self.small_ends = data_end;
        }
        if self.paced.is_some() {
            self.on_departure(now, end, data_end - start);
        }
        self.next = end;
        self.board.push(start, end, now);
        if self.timeout_at.is_none() {
            self.arm_timeout(now);
        }
        self.note_sent(now);
        let push = data_end == self.buffer.end();
        Some(Piece {
            offset: start,
            payload: self.buffer.slice(start, data_end),
            push,
            fin,
        })
    }

    pub(super) fn next_resend(&mut self, now: Instant) -> Option<Piece> {
        let (start, end) = self.board.next_to_resend().map(|sent| (sent.start, sent.end))?;
        let is_head = self.board.head().is_some_and(|head| head.start == start);
        if self.paced.is_some() {
            self.on_departure(now, end, end.min(self.buffer.end()) - start);
        }
        self.board.resend(start, now);
        if is_head {
            self.arm_timeout(now);
        }
        self.counters.retransmissions += 1;
        self.note_sent(now);
        let data_end = end.min(self.buffer.end());
        let (fin, push) = (end > self.buffer.end(), data_end == self.buffer.end());
        Some(Piece {
            offset: start,
            payload: self.buffer.slice(start, data_end),
            push,
            fin,
        })
    }

    pub(super) fn note_sent(&mut self, now: Instant) {
        self.recovery.on_sent();
        self.last_sent = Some(now);
    }

    pub(super) fn note_usage(&mut self, limited: bool) {
        let outstanding = self.board.outstanding();
        if self.acknowledged >= self.usage.until || outstanding > self.usage.most_outstanding {
            self.usage = WindowUsage {
                most_outstanding: outstanding,
                limited,
                until: self.next,
            };
        } else {
            self.usage.limited |= limited;
        }
    }

    pub(super) fn restart_after_idle(&mut self, now: Instant) {
        if let Some(last_sent) = self.last_sent.replace(now) {
            self.congestion
                .on_idle(now.saturating_since(last_sent), self.round_trip.timeout());
        }
    }
}
