//! When a radio has something to report next, at the earliest.
//!
//! A driver that polls then learns the exact time, and is not woken for every change: between two reports there are frames, ACKs, spaces and
//! back-offs of which it need not know.

use super::Radio;
use super::air_frame::FrameKind;
use super::contention::NEVER;

impl<P> Radio<P> {
    /// A time before which no event is reported: the end of a data frame on the air or of the next one, or the end of a last attempt.
    pub(super) fn next_report_bound(&self) -> u64 {
        let is_last_attempt = |station: usize| {
            let state = &self.stations[station];
            state.short_retries + 1 >= self.spec.short_retry_limit
                || state.long_retries + 1 >= self.spec.long_retry_limit
        };
        let next = &self.next;
        // Every frame on the air is recorded when it ends.
        if self.record.is_some() || self.timeouts.iter().any(|(_, station)| is_last_attempt(*station)) {
            return next.first();
        }
        let mut bound = NEVER;
        for frame in &self.on_air {
            if frame.kind == FrameKind::Data {
                bound = bound.min(frame.end);
            }
        }
        // A frame that a station's turn brings about changes things for others when it ends.
        let others = next.first_but_turns();
        let event = others.min(next.turn.saturating_add(self.shortest_frame));
        for (station, &duration) in self.data_durations.iter().enumerate() {
            if duration != NEVER {
                bound = bound.min(self.data_begins(station, event).saturating_add(duration));
            }
        }
        if bound == NEVER {
            // Packets wait for their ACKs alone, and nobody for a report.
            return others.saturating_add(self.spaces.eifs);
        }
        bound
    }

    /// A time before which a station begins no data frame, where `event` is the next change: its turn, or, where it has none, one that it gets when
    /// a change has come and a DIFS and its back-off are over.
    fn data_begins(&self, station: usize, event: u64) -> u64 {
        let (access, contender) = (self.access_at[station], &self.contenders[station]);
        if access != NEVER && !contender.may_come_sooner() {
            return access;
        }
        if self.spec.rts_threshold.is_some() {
            // A CTS gives a turn at once.
            return access.min(event);
        }
        let response = if contender.is_responding {
            self.shortest_response
        } else {
            0
        };
        let wait = self.spaces.difs + u64::from(contender.slots_left_at(event)) * self.spaces.slot;
        access.min(event.saturating_add(response + wait))
    }

    /// Notes how long a station needs at least, from when it begins to send, until there is something to report.
    pub(super) fn update_data_duration(&mut self, station: usize) {
        let phy = self.spec.phy;
        let state = &self.stations[station];
        self.data_durations[station] = state.next_undelivered().map_or(NEVER, |(packet, is_in_service)| {
            if self.needs_reservation(packet.bytes) {
                // The packet is dropped when its last RTS is not answered.
                return self.shortest_frame;
            }
            let rate = if is_in_service {
                state.rate(packet.to, phy.rates())
            } else {
                // The ACK that is awaited may raise it.
                phy.highest_rate()
            };
            phy.frame_nanos(rate, packet.bytes)
        });
    }
}
