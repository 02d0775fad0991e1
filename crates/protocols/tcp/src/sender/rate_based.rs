//! The additional tasks of a sender whose congestion control models the path.
//!
//! It keeps a pacing clock, samples the delivery rate, and reports every acknowledgement to the control.

use super::Sender;
use crate::congestion::{AckSample, ConnectionStart};
use crate::delivery_rate::DeliveryRate;
use crate::pacing::{Pacing, segments_per_burst, short_path_allowance};
use lastmile_units::{ByteCount, Instant};
use std::time::Duration;

/// The additional state of such a sender.
#[derive(Debug)]
pub(super) struct RateBasedState {
    pub(super) pacing: Pacing,
    pub(super) delivery: DeliveryRate,
}

/// The effect of an acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(super) struct AckEffect {
    /// Everything before this offset has arrived, after and before the acknowledgement.
    pub(super) acknowledged: u64,
    pub(super) acknowledged_before: u64,
    /// Segments newly known to have arrived, and newly thought lost.
    pub(super) delivered: u32,
    pub(super) lost: u32,
    /// The round trip of the segment acknowledged last.
    pub(super) round_trip: Option<Duration>,
    /// Segments in flight, and known to have arrived out of order, before the acknowledgement.
    pub(super) in_flight_before: u32,
    pub(super) sacked_before: u32,
}

/// Linux's `tcp_tso_should_defer`: a burst cut short by the window is deferred only where the last was sent at most this long
/// ago...
const RECENT: Duration = Duration::from_millis(1);
/// ...and where less than this part of the window is open (`tcp_tso_win_divisor`).
const OPEN_PART: u32 = 3;

impl RateBasedState {
    pub(super) fn new(beginning: &ConnectionStart) -> Self {
        Self {
            pacing: Pacing::new(beginning.now),
            delivery: DeliveryRate::new(beginning.now, beginning.handshake),
        }
    }
}

impl Sender {
    /// Whether pacing lets a segment leave now that the window has room for: one to be sent again, or else a new one.
    pub(super) fn may_depart(&mut self, now: Instant, has_new: bool) -> bool {
        let resends = self.board.lost() > self.board.resent();
        if !resends && !has_new {
            return true;
        }
        let Some(paced) = &mut self.paced else { return true };
        let Some(rate) = self.congestion.pacing_rate() else {
            return true;
        };
        if paced.pacing.is_in_burst(now) {
            return true;
        }
        if !paced.pacing.may_begin(now) {
            return false;
        }
        if resends {
            paced.pacing.begin(now, 1);
            return true;
        }
        let segment_size = ByteCount::new(self.segment_size);
        let allowance = short_path_allowance(paced.delivery.round_trip_minimum.unwrap_or(Duration::MAX));
        let burst = segments_per_burst(rate, allowance, segment_size);
        if self.defers(now, burst) {
            return false;
        }
        let window = self.congestion.window();
        let room = window - self.board.in_flight();
        let ready = (self.end() - self.next).div_ceil(self.segment_size);
        let segments = burst.min((window / 2).max(1)).min(room).min(ready as u32);
        if let Some(paced) = &mut self.paced {
            paced.pacing.begin(now, segments);
        }
        true
    }

    /// Whether the window cuts a burst short that will soon have room (Linux's `tcp_tso_should_defer`).
    fn defers(&self, now: Instant, burst: u32) -> bool {
        let (Some(paced), Some(head), Some(smoothed)) = (&self.paced, self.board.head(), self.round_trip.smoothed())
        else {
            return false;
        };
        let window = self.congestion.window();
        let room = u64::from(window - self.board.in_flight()) * self.segment_size;
        let open = room.min(self.peer_window.room(self.next));
        let idle = now.saturating_since(paced.pacing.departs_at);
        !self.recovery.is_recovering()
            && burst > 1
            && idle <= RECENT
            && open < u64::from(burst) * self.segment_size
            && open < u64::from(window / OPEN_PART) * self.segment_size
            && open < self.end() - self.next
            // The next acknowledgement will come soon.
            && now.saturating_since(head.at) >= smoothed / 2
    }

    /// A piece of the stream that ends at `end` is about to leave, with `payload` bytes.
    pub(super) fn on_departure(&mut self, now: Instant, end: u64, payload: u64) {
        let Some(paced) = &mut self.paced else { return };
        if self.board.in_flight() == 0 && paced.delivery.is_program_limited() {
            self.congestion.on_restart(now, paced.delivery.delivered_at);
        }
        paced.delivery.on_sent(now, end);
        if let Some(rate) = self.congestion.pacing_rate() {
            paced.pacing.on_sent(ByteCount::new(payload), rate);
        }
    }

    /// The program writes: where everything was waiting for it, samples show its pace (Linux's `tcp_rate_check_app_limited`).
    pub(super) fn note_write(&mut self) {
        let in_flight = self.board.in_flight();
        let has_less_than_a_segment = self.buffer.end().saturating_sub(self.next) < self.segment_size;
        let window_is_open = in_flight < self.congestion.window();
        let nothing_waits_to_be_resent = self.board.lost() <= self.board.resent();
        if has_less_than_a_segment
            && window_is_open
            && nothing_waits_to_be_resent
            && let Some(paced) = &mut self.paced
        {
            paced.delivery.mark_program_limited(in_flight);
        }
    }

    /// Reports an acknowledgement to the congestion control, after the search for losses.
    pub(super) fn observe(&mut self, now: Instant, arrived: &AckEffect) {
        let Some(paced) = &mut self.paced else { return };
        let delivered_before = paced.delivery.delivered - u64::from(arrived.delivered);
        let rate = paced.delivery.sample(now, arrived.acknowledged, arrived.round_trip);
        // A lone segment that was not full, with nothing else to be acknowledged.
        let maybe_delayed = arrived.delivered == 1
            && arrived.sacked_before == 0
            && arrived.acknowledged - arrived.acknowledged_before < self.segment_size
            && rate.is_some_and(|rate| rate.delivered_before == delivered_before);
        let in_flight = self.board.in_flight();
        let holds_back = self.congestion.on_observed(&AckSample {
            now,
            acknowledged: arrived.delivered,
            lost: arrived.lost,
            round_trip: arrived.round_trip,
            smoothed_round_trip: self.round_trip.smoothed(),
            maybe_delayed,
            rate,
            delivered: paced.delivery.delivered,
            delivered_at: paced.delivery.delivered_at,
            in_flight_before: arrived.in_flight_before,
            in_flight,
            departs_at: paced.pacing.departs_at,
            phase: self.recovery.reason(),
        });
        if holds_back {
            paced.delivery.mark_program_limited(in_flight);
        }
    }

    /// A timeout expired and found `lost` losses.
    pub(super) fn observe_timeout(&mut self, now: Instant, lost: u32) {
        self.congestion.on_losses_by_time(lost);
        if let Some(paced) = &mut self.paced {
            let delivery = &paced.delivery;
            self.congestion
                .on_round_by_timeout(delivery.delivered, delivery.delivered_at);
            // What it resends does not wait for the clock.
            paced.pacing.begin(now, 1);
        }
    }
}
