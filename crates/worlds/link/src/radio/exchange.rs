//! What follows a frame: its receiver delivers and answers, its sender goes on, tries again, or gives up.

use super::Radio;
use super::air_frame::FrameKind;
use super::phy::ACK;
use super::station::Packet;
use super::transmission::{PendingResponse, ResponseContent, Transmission};
use crate::{DropCause, Event};
use lastmile_units::{Instant, random};

impl<P> Radio<P> {
    /// Whether the station to which a frame is addressed receives it without an error.
    pub(super) fn is_received(&mut self, frame: &Transmission, to: usize) -> bool {
        if self.contenders[to].receives != frame.serial {
            return false;
        }
        if !frame.survives_collision(&self.channel, to, self.capture) {
            return false;
        }
        let ln_success = frame.ln_success(&mut self.channel, to, self.interferer.as_ref());
        // Below 10^-15 no draw of 53 bits would tell the difference.
        ln_success > -1e-15 || random::positive_unit_fraction(&mut self.reception) <= libm::exp(ln_success)
    }

    /// The receiver and the sender of a frame act when it has ended.
    pub(super) fn react(&mut self, frame: &Transmission, is_received: bool, at: u64) {
        if let Some(to) = frame.to.filter(|_| is_received) {
            match frame.kind {
                FrameKind::Data => self.receive_data(frame, to, at),
                FrameKind::Rts => self.receive_request(frame, to, at),
                FrameKind::Ack | FrameKind::Cts => self.receive_response(frame.kind, to, at),
                FrameKind::Beacon => {}
            }
        }
        if matches!(frame.kind, FrameKind::Data | FrameKind::Rts) {
            self.await_response(frame.from, at);
            self.stations[frame.from].frames.collisions += u64::from(!frame.overlaps.is_empty());
        }
    }

    fn await_response(&mut self, station: usize, at: u64) {
        self.contenders[station].is_awaiting = true;
        self.timeouts.push((at + self.response_timeout, station));
        self.update_access(station);
    }

    /// A data frame has arrived: it is delivered unless it was before, and acknowledged in either case (9.2.9).
    fn receive_data(&mut self, frame: &Transmission, to: usize, at: u64) {
        let last = &mut self.stations[to].last_sequences[frame.from];
        let is_duplicate = frame.is_retry && *last == Some(frame.sequence);
        *last = Some(frame.sequence);
        if is_duplicate {
            self.stations[to].frames.duplicates += 1;
        }
        let copy = self.record.as_ref().map(|record| record.copy);
        let sender = &mut self.stations[frame.from];
        sender.attempt_received = true;
        let packet = sender.queue.front_mut().filter(|_| !is_duplicate);
        if let Some((packet, delivered)) = packet.and_then(|packet| packet.frame.take().map(|frame| (packet, frame))) {
            packet.copy = copy.map(|copy| Box::new(copy(&delivered.payload)));
            sender.frames.packets_delivered += 1;
            self.reports.push_back(Event::Delivered {
                at: Instant::from_nanos(at),
                frame: delivered,
            });
            self.update_data_duration(frame.from);
        }
        let rate = self.spec.phy.control_rate(frame.rate, self.spec.highest_basic_rate);
        let content = ResponseContent::Control {
            kind: FrameKind::Ack,
            rate,
            reservation: 0,
        };
        self.owe(to, frame.from, content, at);
    }

    /// A CTS follows where nobody else has reserved the medium (9.2.5.7).
    fn receive_request(&mut self, frame: &Transmission, to: usize, at: u64) {
        if self.contenders[to].is_reserved(at) {
            return;
        }
        let duration = self.spec.phy.frame_nanos(frame.rate, ACK);
        let content = ResponseContent::Control {
            kind: FrameKind::Cts,
            rate: frame.rate,
            reservation: frame.reservation.saturating_sub(self.sifs + duration),
        };
        self.owe(to, frame.from, content, at);
    }

    /// `from` owes a frame to `to`, a SIFS later.
    fn owe(&mut self, from: usize, to: usize, content: ResponseContent, at: u64) {
        self.contenders[from].is_responding = true;
        self.update_access(from);
        self.responses.push(PendingResponse {
            at: at + self.sifs,
            from,
            to,
            content,
        });
    }

    fn receive_response(&mut self, kind: FrameKind, station: usize, at: u64) {
        let awaits = self.stations[station].awaits;
        let waited = self.timeouts.iter().position(|(_, of)| *of == station);
        let Some(index) = waited.filter(|_| kind == awaits) else {
            return;
        };
        self.timeouts.remove(index);
        self.contenders[station].is_awaiting = false;
        if awaits == FrameKind::Ack {
            return self.complete(station, at);
        }
        self.stations[station].short_retries = 0;
        if let Some(packet) = self.stations[station].queue.front() {
            let to = packet.to;
            self.owe(station, to, ResponseContent::Data, at);
        }
    }

    /// The packet in service is acknowledged.
    fn complete(&mut self, station: usize, at: u64) {
        let state = &mut self.stations[station];
        if let Some(packet) = state.queue.front() {
            let to = packet.to;
            state.on_attempt(to, true, self.spec.phy.rates());
        }
        self.end_service(station, at);
    }

    /// The packet in service is done with: the next one follows, after a back-off from the least contention window (9.2.5.2).
    fn end_service(&mut self, station: usize, at: u64) -> Option<Packet<P>> {
        let state = &mut self.stations[station];
        let done = state.queue.pop_front();
        self.queued -= usize::from(done.is_some());
        state.note_depth(at);
        (state.short_retries, state.long_retries) = (0, 0);
        state.contention_window = self.spec.phy.contention_window_min();
        let contender = &mut self.contenders[station];
        contender.has_packet = !state.queue.is_empty();
        contender.packet_since = 0;
        contender.set_back_off(state.draw_back_off());
        self.update_access(station);
        self.update_data_duration(station);
        done
    }

    /// An ACK or a CTS has not come. Where the station is receiving something, that may be it: it waits for its end (9.2.8).
    pub(super) fn on_timeout(&mut self, station: usize, at: u64) {
        let receives = self.contenders[station].receives;
        if let Some(frame) = self.on_air.iter().find(|frame| frame.serial == receives) {
            self.timeouts.push((frame.end, station));
            return;
        }
        self.contenders[station].is_awaiting = false;
        self.contenders[station].restart_counting(at, self.spaces);
        let (short_limit, long_limit) = (self.spec.short_retry_limit, self.spec.long_retry_limit);
        let bytes = self.stations[station].queue.front().map_or(0, |packet| packet.bytes);
        let is_long = self.needs_reservation(bytes);
        let state = &mut self.stations[station];
        state.frames.timeouts += 1;
        let is_over = if is_long && state.awaits == FrameKind::Ack {
            state.long_retries += 1;
            state.long_retries >= long_limit
        } else {
            state.short_retries += 1;
            state.short_retries >= short_limit
        };
        if state.awaits == FrameKind::Ack {
            state.frames.acks_lost += u64::from(state.attempt_received);
            if let Some(packet) = state.queue.front() {
                let to = packet.to;
                state.on_attempt(to, false, self.spec.phy.rates());
            }
        }
        if is_over {
            if let Some(frame) = self.end_service(station, at).and_then(|packet| packet.frame) {
                self.stations[station].frames.dropped_by_retry_limit += 1;
                self.reports.push_back(Event::Dropped {
                    at: Instant::from_nanos(at),
                    frame,
                    cause: DropCause::RetryLimit,
                });
            }
            return;
        }
        // The window doubles up to its maximum (9.2.4).
        state.contention_window = (2 * state.contention_window + 1).min(self.spec.phy.contention_window_max());
        self.contenders[station].set_back_off(state.draw_back_off());
        self.update_access(station);
        self.update_data_duration(station);
    }
}
