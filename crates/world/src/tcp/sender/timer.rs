//! When does a sender do something though nothing arrives, and what?

use super::Sender;
use crate::tcp::recovery::Progress;
use lastmile_units::Instant;

impl Sender {
    pub(in crate::tcp) fn next_deadline(&self) -> Option<Instant> {
        let deadline = [
            self.timeout_at,
            self.peer_window.next_deadline(),
            self.recovery.reordering_ends(),
        ]
        .into_iter()
        .flatten()
        .min();
        match self.paced.as_ref().and_then(|paced| paced.next_deadline()) {
            None => deadline,
            Some(paced) => Some(deadline.map_or(paced, |deadline| deadline.min(paced))),
        }
    }

    pub(super) fn arm_timeout(&mut self, now: Instant) {
        // A timeout allows for the wait of what is paced (Linux's `tcp_pacing_delay`).
        self.timeout_at = (!self.board.is_empty()).then(|| match &self.paced {
            None => now + self.round_trip.timeout(),
            Some(paced) => now + self.round_trip.timeout() + paced.delay(now),
        });
    }

    /// Does what has become due. False where the other end must be given up.
    pub(in crate::tcp) fn on_timer(&mut self, now: Instant) -> bool {
        if self.recovery.reordering_ends().is_some_and(|at| at <= now) {
            let found = self.recovery.find_lost(&mut self.board, &self.round_trip, now);
            let (acknowledged, next) = (self.acknowledged, self.next);
            let progress = Progress {
                acknowledged,
                next,
                advanced: false,
                delivered: 0,
            };
            self.recovery
                .on_progress(&progress, &self.board, &mut self.congestion, found);
            self.observe_losses(found);
        }
        if !self.peer_window.on_timer(now, &self.round_trip, self.retries) {
            return false;
        }
        if self.timeout_at.is_some_and(|at| at <= now) {
            if self.round_trip.backoff() >= self.retries {
                return false;
            }
            self.counters.timeouts += 1;
            let in_flight = self.board.in_flight();
            self.recovery
                .on_timeout(&mut self.board, &self.round_trip, &mut self.congestion, now, self.next);
            self.observe_timeout(now, in_flight - self.board.in_flight());
            self.round_trip.back_off();
            self.arm_timeout(now);
        }
        true
    }
}
