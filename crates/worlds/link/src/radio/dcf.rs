//! The events of a radio in time: stations begin to send, frames end, responses do not come, beacons are due.
//!
//! What a frame means to its receiver and its sender is left to `exchange`.

use super::air_frame::{AirFrame, FrameKind};
use super::contention::NEVER;
use super::phy::{ACK, RTS, Rate};
use super::transmission::{Overlap, PendingResponse, ResponseContent, Transmission};
use super::{AirRecord, Radio};
use lastmile_units::{Dbm, Instant};
use std::time::Duration;

/// When something of each kind happens next, if nothing changes before.
#[derive(Debug, Clone, Copy)]
pub(super) struct NextEvents {
    frame_end: u64,
    timeout: u64,
    response: u64,
    beacon: u64,
    interference: u64,
    /// When a station begins to send.
    pub(super) turn: u64,
}

impl NextEvents {
    pub(super) const NONE: Self = Self {
        frame_end: NEVER,
        timeout: NEVER,
        response: NEVER,
        beacon: NEVER,
        interference: NEVER,
        turn: NEVER,
    };

    /// When anything happens.
    #[inline]
    pub(super) fn first(&self) -> u64 {
        self.turn.min(self.first_but_turns())
    }

    /// When anything happens that is no station's turn.
    #[inline]
    pub(super) fn first_but_turns(&self) -> u64 {
        let frames = self.frame_end.min(self.timeout).min(self.response);
        frames.min(self.beacon).min(self.interference)
    }
}

impl<P> Radio<P> {
    /// Does everything that happens up to and including `now`.
    pub(super) fn advance(&mut self, now: u64) {
        assert!(now >= self.now, "a medium is driven with times that never decrease");
        loop {
            let next = self.next;
            let at = next.first();
            if at > now {
                break;
            }
            assert!(at >= self.now, "events come in order");
            self.now = at;
            self.step(&next, at);
            self.find_next_events();
        }
        self.now = now;
    }

    /// Finds what happens next, after a change.
    #[inline]
    pub(super) fn find_next_events(&mut self) {
        let mut next = NextEvents {
            beacon: self.next_beacon,
            interference: self
                .interferer
                .as_ref()
                .map_or(NEVER, |interferer| interferer.next_change),
            ..NextEvents::NONE
        };
        // Loops over slices, which are compared at once; nothing is called for each.
        for access in &self.access_at {
            next.turn = next.turn.min(*access);
        }
        for frame in &self.on_air {
            next.frame_end = next.frame_end.min(frame.end);
        }
        for response in &self.responses {
            next.response = next.response.min(response.at);
        }
        for (at, _) in &self.timeouts {
            next.timeout = next.timeout.min(*at);
        }
        self.next = next;
    }

    /// Does what happens at `at`, the first of `next`.
    fn step(&mut self, next: &NextEvents, at: u64) {
        if next.frame_end == at {
            while let Some(index) = self.on_air.iter().position(|frame| frame.end == at) {
                let frame = self.on_air.remove(index);
                self.end_frame(&frame, at);
            }
        }
        if next.interference == at {
            self.change_interferer(at);
        }
        if next.timeout == at {
            while let Some(index) = self.timeouts.iter().position(|(until, _)| *until == at) {
                let (_, station) = self.timeouts.remove(index);
                self.on_timeout(station, at);
            }
        }
        if next.beacon == at {
            self.schedule_beacons(at);
        }
        // Those that begin at the same time do not sense each other: who they are is settled before any of them sends.
        let has_turns = next.turn == at || next.beacon == at;
        if has_turns {
            self.turns.clear();
            for (station, access) in self.access_at.iter().enumerate() {
                if *access == at {
                    self.turns.push(station);
                }
            }
        }
        if next.response == at {
            while let Some(index) = self.responses.iter().position(|response| response.at == at) {
                let response = self.responses.remove(index);
                self.send_response(response, at);
            }
        }
        if has_turns {
            for turn in 0..self.turns.len() {
                self.send_after_contention(self.turns[turn], at);
            }
        }
    }

    /// A packet comes into service at an empty queue.
    pub(super) fn begin_service(&mut self, station: usize) {
        let contender = &mut self.contenders[station];
        contender.has_packet = true;
        contender.packet_since = self.now;
        if contender.must_defer(self.now) && contender.remaining_slots(self.now, self.spaces) == 0 {
            contender.set_back_off(self.stations[station].draw_back_off());
        }
        self.update_access(station);
        self.update_data_duration(station);
    }

    pub(super) fn update_access(&mut self, station: usize) {
        self.access_at[station] = self.contenders[station].access_at(self.spaces);
    }

    fn change_interferer(&mut self, at: u64) {
        let Some(interferer) = &mut self.interferer else { return };
        interferer.change();
        let is_on = interferer.is_on;
        for station in 0..self.contenders.len() {
            if is_on {
                self.contenders[station].begin_sensing(at, self.spaces);
            } else {
                self.contenders[station].end_sensing(at, self.spaces);
            }
            self.update_access(station);
        }
    }

    fn schedule_beacons(&mut self, at: u64) {
        let interval = self
            .spec
            .beacons
            .map_or(NEVER, |beacons| beacons.interval.as_nanos() as u64);
        self.next_beacon = at.saturating_add(interval.max(1));
        let window = self.spec.phy.contention_window_min();
        for station in 0..self.contenders.len() {
            let slots = self.stations[station].draw_beacon_delay(window);
            self.contenders[station].set_beacon(at, slots, self.spaces);
            self.update_access(station);
        }
    }

    /// A station whose turn it is sends a beacon, an RTS, or data.
    fn send_after_contention(&mut self, station: usize, at: u64) {
        if self.contenders[station].has_beacon() {
            self.contenders[station].cancel_beacon();
            let state = &mut self.stations[station];
            state.frames.beacons_sent += 1;
            let sequence = state.take_sequence();
            let phy = self.spec.phy;
            let mut beacon = self.frame(station, None, FrameKind::Beacon, phy.lowest_rate(), phy.beacon_bytes());
            beacon.sequence = sequence;
            return self.send(beacon, at);
        }
        let bytes = self.stations[station].queue.front().map_or(0, |packet| packet.bytes);
        if self.needs_reservation(bytes) {
            self.send_request(station, at);
        } else {
            self.send_data(station, at);
        }
    }

    /// Whether a data frame of this size goes after an RTS.
    pub(super) fn needs_reservation(&self, bytes: u32) -> bool {
        self.spec
            .rts_threshold
            .is_some_and(|threshold| u64::from(bytes) > threshold.get())
    }

    fn send_request(&mut self, station: usize, at: u64) {
        let phy = self.spec.phy;
        let state = &mut self.stations[station];
        let Some(packet) = state.queue.front_mut() else { return };
        let (to, is_retry, bytes) = (packet.to, packet.is_retry, packet.bytes);
        packet.is_retry = true;
        state.frames.rts_sent += 1;
        state.frames.retries += u64::from(is_retry);
        state.awaits = FrameKind::Cts;
        let rate = state.rate(to, phy.rates());
        let control = phy.control_rate(rate, self.spec.highest_basic_rate);
        let durations = 2 * phy.frame_nanos(control, ACK) + phy.frame_nanos(rate, bytes);
        let mut request = self.frame(station, Some(to), FrameKind::Rts, control, RTS);
        request.reservation = 3 * self.sifs + durations;
        request.is_retry = is_retry;
        self.send(request, at);
    }

    fn send_data(&mut self, station: usize, at: u64) {
        let phy = self.spec.phy;
        let state = &mut self.stations[station];
        let Some(packet) = state.queue.front() else { return };
        let (to, bytes, was_sent) = (packet.to, packet.bytes, packet.sequence.is_some());
        let sequence = packet.sequence.unwrap_or_else(|| state.take_sequence());
        let rate = state.rate(to, phy.rates());
        if let Some(packet) = state.queue.front_mut() {
            packet.sequence = Some(sequence);
            packet.is_retry = true;
        }
        state.frames.data_sent += 1;
        state.frames.retries += u64::from(was_sent);
        state.attempts_by_rate[rate.index()] += 1;
        state.awaits = FrameKind::Ack;
        state.attempt_received = false;
        let acknowledgement = phy.frame_nanos(phy.control_rate(rate, self.spec.highest_basic_rate), ACK);
        let mut data = self.frame(station, Some(to), FrameKind::Data, rate, bytes);
        data.reservation = self.sifs + acknowledgement;
        data.is_retry = was_sent;
        data.sequence = sequence;
        self.send(data, at);
    }

    fn send_response(&mut self, response: PendingResponse, at: u64) {
        self.contenders[response.from].is_responding = false;
        let ResponseContent::Control {
            kind,
            rate,
            reservation,
        } = response.content
        else {
            return self.send_data(response.from, at);
        };
        self.stations[response.from].frames.acks_sent += u64::from(kind == FrameKind::Ack);
        let mut control = self.frame(response.from, Some(response.to), kind, rate, ACK);
        control.reservation = reservation;
        self.send(control, at);
    }

    /// A new frame, which is not a retry, has no sequence number and reserves nothing.
    fn frame(&mut self, from: usize, to: Option<usize>, kind: FrameKind, rate: Rate, bytes: u32) -> Transmission {
        self.last_serial += 1;
        Transmission {
            serial: self.last_serial,
            from,
            to,
            kind,
            rate,
            bytes,
            start: 0,
            end: 0,
            reservation: 0,
            is_retry: false,
            sequence: 0,
            overlaps: Vec::new(),
        }
    }

    /// Puts a frame on the air.
    fn send(&mut self, mut frame: Transmission, at: u64) {
        let (from, duration) = (frame.from, self.spec.phy.frame_nanos(frame.rate, frame.bytes));
        (frame.start, frame.end) = (at, at + duration);
        for other in &mut self.on_air {
            let end = other.end.min(frame.end);
            let overlap = |from| Overlap { from, start: at, end };
            other.overlaps.push(overlap(from));
            frame.overlaps.push(overlap(other.from));
        }
        self.medium_use.begin(at, frame.kind, duration);
        self.contenders[from].begin_transmitting(at, self.spaces);
        self.access_at[from] = NEVER;
        for &station in self.channel.audience(from) {
            let station = usize::from(station);
            let contender = &mut self.contenders[station];
            contender.begin_sensing(at, self.spaces);
            self.access_at[station] = NEVER;
            if contender.is_transmitting() {
                continue;
            }
            // A receiver works on the first frame that it senses; of those that begin at once, on the strongest.
            let power = self.channel.received(from, station);
            if contender.receives == 0 || (contender.receives_since == at && power > contender.receives_power) {
                contender.receives = frame.serial;
                contender.receives_power = power;
                contender.receives_since = at;
            }
        }
        self.on_air.push(frame);
    }

    /// A frame ends: those who sense it learn whether they have received it, and its receiver acts on it.
    fn end_frame(&mut self, frame: &Transmission, at: u64) {
        self.medium_use.end(at, frame.kind);
        let is_received = frame.to.is_some_and(|to| self.is_received(frame, to));
        self.contenders[frame.from].end_transmitting(at, self.spaces);
        let mut heard_beacon = false;
        for &station in self.channel.audience(frame.from) {
            let station = usize::from(station);
            let is_addressed = frame.to == Some(station);
            let contender = &mut self.contenders[station];
            if contender.receives == frame.serial {
                let is_good = if is_addressed {
                    is_received
                } else {
                    self.channel.is_intelligible(frame.from, station, frame.rate)
                        && (frame.overlaps.is_empty() || frame.survives_collision(&self.channel, station, self.capture))
                };
                contender.end_receiving(is_good);
                if is_good && !is_addressed {
                    if frame.reservation > 0 {
                        contender.reserve(at + frame.reservation);
                    }
                    if frame.kind == FrameKind::Beacon {
                        contender.cancel_beacon();
                        self.stations[station].frames.beacons_received += 1;
                        heard_beacon = true;
                    }
                }
            }
            contender.end_sensing(at, self.spaces);
            self.access_at[station] = contender.access_at(self.spaces);
        }
        self.record_frame(frame, is_received || heard_beacon);
        self.react(frame, is_received, at);
        self.update_access(frame.from);
    }

    fn record_frame(&mut self, frame: &Transmission, is_received: bool) {
        let Some(AirRecord { copy, .. }) = self.record else {
            return;
        };
        let nearest = || {
            let audience = self.channel.audience(frame.from).iter();
            audience
                .map(|&to| self.channel.received(frame.from, usize::from(to)))
                .fold(1e-30, f64::max)
        };
        let milliwatts = match frame.to {
            Some(to) => self.channel.power(frame.from, to, frame.start),
            None => nearest(),
        };
        let is_data = frame.kind == FrameKind::Data;
        let packet = self.stations[frame.from].queue.front().filter(|_| is_data);
        let payload = packet.and_then(|packet| {
            packet
                .frame
                .as_ref()
                .map(|frame| &frame.payload)
                .or(packet.copy.as_deref())
        });
        let recorded = AirFrame {
            start: Instant::from_nanos(frame.start),
            end: Instant::from_nanos(frame.end),
            kind: frame.kind,
            rate: frame.rate,
            has_short_preamble: self.spec.phy.header_duration(frame.rate) == Duration::from_micros(96),
            bytes: frame.bytes,
            is_retry: frame.is_retry,
            sequence: frame.sequence,
            from: self.stations[frame.from].station,
            to: frame.to.map(|to| self.stations[to].station),
            reservation: Duration::from_nanos(frame.reservation),
            is_received,
            is_overlapped: !frame.overlaps.is_empty(),
            signal: Dbm::from_milliwatts(milliwatts),
            payload: payload.map(copy),
        };
        if let Some(record) = &mut self.record {
            record.frames.push(recorded);
        }
    }
}
