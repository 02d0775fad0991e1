//! The sender's timers: when it acts without an arrival, and how.

use super::Sender;
use crate::deadline::earlier;
use crate::recovery::TailLossProbe;
use crate::retransmission_timer::TimerPurpose;
use lastmile_units::Instant;
use std::time::Duration;

/// The least delay of a timer: it fires after the present events.
const AT_ONCE: Duration = Duration::from_micros(1);

impl Sender {
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let paced = self.paced.as_ref().and_then(|paced| paced.pacing.next_deadline());
        earlier(earlier(self.timer.fires_at(), self.peer_window.probe_at), paced)
    }

    /// A timeout allows for the wait of paced segments (Linux's `tcp_pacing_delay`).
    fn allowance(&self, now: Instant) -> Duration {
        match &self.paced {
            None => Duration::ZERO,
            Some(paced) => paced.pacing.delay(now),
        }
    }

    /// Data was acknowledged: the timer restarts.
    pub(super) fn set_timer(&mut self, now: Instant) {
        if !self.schedule_probe(now, self.round_trip.timeout()) {
            self.arm_timeout(now);
        }
    }

    /// Sets the timer for the retransmission timeout. Where it was set for something earlier, the time since the head was sent
    /// counts.
    pub(super) fn arm_timeout(&mut self, now: Instant) {
        let Some(head) = self.board.head() else {
            return self.timer.stop();
        };
        let timeout = self.round_trip.timeout();
        let delay = match self.timer.purpose() {
            Some(TimerPurpose::Probe | TimerPurpose::Reordering) => {
                (head.at + timeout).saturating_since(now).max(AT_ONCE)
            }
            Some(TimerPurpose::Timeout) | None => timeout,
        };
        self.timer.set(TimerPurpose::Timeout, now, delay + self.allowance(now));
    }

    /// Sets the timer for a probe, or for the timeout that comes in `timeout` if that is sooner. False where no probe is to be
    /// sent: while something is out of order or lost (RFC 8985 section 7.2).
    fn schedule_probe(&mut self, now: Instant, timeout: Duration) -> bool {
        if self.board.is_empty() || !self.recovery.is_open() {
            return false;
        }
        let mut delay = TailLossProbe::timeout(&self.round_trip, self.board.outstanding());
        if !timeout.is_zero() {
            delay = delay.min(timeout);
        }
        self.timer.set(TimerPurpose::Probe, now, delay + self.allowance(now));
        true
    }

    /// New data was sent.
    pub(super) fn set_timer_after_sending(&mut self, now: Instant) {
        if matches!(self.timer.purpose(), None | Some(TimerPurpose::Probe)) {
            self.arm_timeout(now);
        }
        if let Some(head) = self.board.head() {
            let timeout = (head.at + self.round_trip.timeout()).saturating_since(now);
            self.schedule_probe(now, timeout);
        }
    }

    /// The first segment was sent again.
    pub(super) fn set_timer_after_resending_head(&mut self, now: Instant) {
        if self.timer.purpose() != Some(TimerPurpose::Reordering) {
            self.timer.stop();
            self.arm_timeout(now);
        }
    }

    /// Does what is due. False where the connection has to be given up.
    pub(crate) fn on_timer(&mut self, now: Instant) -> bool {
        if !self.peer_window.on_timer(now, &self.round_trip, self.retries) {
            return false;
        }
        match self.timer.is_due(now) {
            Some(TimerPurpose::Reordering) => {
                let found = self.recovery.on_reordering_timer(
                    now,
                    self.next,
                    &mut self.board,
                    &self.round_trip,
                    &mut self.congestion,
                );
                self.congestion.on_losses_by_time(found.lost);
                self.arm_timeout(now);
            }
            Some(TimerPurpose::Probe) => {
                // One probe at a time (RFC 8985 section 7.3).
                self.probe_due = !self.recovery.probe.is_outstanding();
                if self.probe_due {
                    self.timer.stop();
                }
                self.arm_timeout(now);
            }
            Some(TimerPurpose::Timeout) => return self.on_timeout(now),
            None => {}
        }
        true
    }

    fn on_timeout(&mut self, now: Instant) -> bool {
        let expiries = self.timer.expiries;
        if expiries >= self.retries {
            return false;
        }
        self.counters.timeouts += 1;
        let in_flight = self.board.in_flight();
        self.recovery
            .on_timeout(now, self.next, expiries, &mut self.board, &mut self.congestion);
        self.observe_timeout(now, in_flight - self.board.in_flight());
        self.timer.expiries += 1;
        self.round_trip.back_off();
        self.arm_timeout(now);
        true
    }
}
