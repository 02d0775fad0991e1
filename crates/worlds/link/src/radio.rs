//! A radio: stations on one half-duplex medium, by the distributed coordination function of IEEE 802.11.
//!
//! Each part is a file: `phy` (rates and airtimes), `channel` (powers, who senses whom) with `fading`, `error_rate` and `error_table` (bits), `contention` (a
//! station's view of the medium, and its back-off), `station` (its queue and attempts), `transmission` (frames on the air and collisions),
//! `dcf` (the events in time) with `exchange` (what follows a frame) and `report_bound` (when a driver hears of them), `arf` (rate
//! fallback), `interference`. `spec` is what a radio is, `notation` and `parameters` how one is written. `counters`, `medium_use`, `depth_series` and `air_frame` are what can be seen of it.
//!
//! Departures from the standard: propagation takes no time (300 m are 1 us, and a slot of 20 us allows for it), stations' clocks agree,
//! and carrier sense is instant, save that stations which begin at the same nanosecond do not sense each other. There is no
//! fragmentation, power saving, encryption or access point.

mod air_frame;
mod arf;
mod channel;
mod contention;
mod counters;
mod dcf;
mod depth_series;
mod error_rate;
mod error_table;
mod exchange;
mod fading;
mod interference;
mod medium_use;
mod notation;
mod parameters;
mod phy;
mod report_bound;
mod spec;
mod station;
mod transmission;

pub use air_frame::{AirFrame, FrameKind};
pub use arf::Arf;
pub use counters::{Airtime, FrameCounters, RadioCounters, StationCounters};
pub use depth_series::{DepthSample, DepthSeries};
pub use notation::RadioChanges;
pub use phy::{Phy, Preamble, Rate};
pub use spec::{Beacons, Fading, Interferer, PathLoss, Position, PowerStates, RadioSpec, RateControl};

use crate::{Counters, DropCause, Event, Frame, Medium, Rejected, Station};
use channel::Channel;
use contention::{Contender, NEVER, Spaces};
use dcf::NextEvents;
use interference::InterfererSchedule;
use lastmile_units::{Decibels, Instant, Rng, Seed};
use medium_use::MediumUse;
use phy::{LLC_SNAP, MAC_OVERHEAD};
use station::{Packet, StationState};
use std::collections::VecDeque;
use std::time::Duration;
use transmission::{PendingResponse, Transmission};

/// A radio that stations share: frames go from any of them to any other, one at a time or in vain.
///
/// ```
/// use lastmile_link::radio::{Position, Radio, RadioSpec};
/// use lastmile_link::{Event, Frame, Medium, Station};
/// use lastmile_units::{ByteCount, Instant, Seed};
/// use std::time::Duration;
///
/// let stations = [(Station(0), Position { x: 0.0, y: 0.0 }), (Station(1), Position { x: 10.0, y: 0.0 })];
/// let mut radio = Radio::new(&RadioSpec::dot11b(), &stations, Seed::new(1));
/// let frame = Frame { from: Station(0), to: Station(1), size: ByteCount::new(1500), payload: "hello" };
/// radio.offer(Instant::START, frame).unwrap();
/// let mut delivered_at = None;
/// while let Some(at) = radio.next_at() {
///     radio.poll(at, &mut |event| delivered_at = Some(event.at()));
/// }
/// // The medium is idle. The preamble takes 192 us, and 1,536 bytes at 11 Mbit/s take 1,118.
/// assert_eq!(delivered_at.unwrap().since_start(), Duration::from_micros(192 + 1118));
/// ```
#[derive(Debug)]
pub struct Radio<P> {
    spec: RadioSpec,
    spaces: Spaces,
    sifs: u64,
    response_timeout: u64,
    capture: Option<f64>,
    /// The least duration of a frame, and of an ACK or a CTS.
    shortest_frame: u64,
    shortest_response: u64,
    channel: Channel,
    stations: Vec<StationState<P>>,
    contenders: Vec<Contender>,
    /// When each station will send if nothing changes.
    access_at: Vec<u64>,
    /// How long the next data frame of each station is on the air that brings about a report, at least; never where none does.
    data_durations: Vec<u64>,
    on_air: Vec<Transmission>,
    responses: Vec<PendingResponse>,
    /// The stations whose turn it is; a buffer for reuse.
    turns: Vec<usize>,
    /// The stations that await a response, and until when.
    timeouts: Vec<(u64, usize)>,
    last_serial: u64,
    next_beacon: u64,
    /// What happens next; found again after each change.
    next: NextEvents,
    interferer: Option<InterfererSchedule>,
    reception: Rng,
    /// The packets in all queues.
    queued: usize,
    now: u64,
    /// Events that are not reported yet, in order of time.
    reports: VecDeque<Event<P>>,
    counters: Counters,
    medium_use: MediumUse,
    /// Recorded frames, and how to copy a packet for them; none while nobody wants them.
    record: Option<AirRecord<P>>,
}

/// The record of the frames on the air.
#[derive(Debug)]
struct AirRecord<P> {
    copy: fn(&P) -> P,
    frames: Vec<AirFrame<P>>,
}

impl<P> Radio<P> {
    /// A radio with these stations, whose medium has been idle. All randomness comes from `seed`.
    ///
    /// # Panics
    /// Where two stations are the same, or there are more than 65,535.
    pub fn new(spec: &RadioSpec, stations: &[(Station, Position)], seed: Seed) -> Self {
        let phy = spec.phy;
        let nanos = |duration: Duration| duration.as_nanos() as u64;
        let positions: Vec<Position> = stations.iter().map(|(_, position)| *position).collect();
        for (number, (station, _)) in stations.iter().enumerate() {
            let is_new = stations[..number].iter().all(|(other, _)| other != station);
            assert!(is_new, "a station is on a radio once");
        }
        let state =
            |(station, _): &(Station, Position)| StationState::new(*station, stations.len(), phy, spec.rate, seed);
        let interferer = spec.interferer.as_ref().map(|interferer| {
            let is_sensed = interferer.received_power >= spec.energy_detection_threshold;
            InterfererSchedule::new(interferer, is_sensed, seed.derive("interferer"))
        });
        let spaces = Spaces {
            slot: nanos(phy.slot()),
            difs: nanos(phy.difs()),
            eifs: nanos(phy.eifs()),
        };
        let mut radio = Self {
            spaces,
            sifs: nanos(phy.sifs()),
            response_timeout: nanos(phy.response_timeout()),
            capture: spec.capture.map(Decibels::ratio),
            shortest_frame: nanos(phy.header_duration(phy.highest_rate())),
            shortest_response: phy.frame_nanos(phy.control_rate(phy.highest_rate(), spec.highest_basic_rate), phy::ACK),
            channel: Channel::new(spec, &positions, seed.derive("fading")),
            stations: stations.iter().map(state).collect(),
            contenders: vec![Contender::default(); stations.len()],
            access_at: vec![NEVER; stations.len()],
            data_durations: vec![NEVER; stations.len()],
            on_air: Vec::new(),
            responses: Vec::new(),
            turns: Vec::new(),
            timeouts: Vec::new(),
            last_serial: 0,
            next_beacon: spec.beacons.map_or(NEVER, |beacons| nanos(beacons.interval).max(1)),
            next: NextEvents::NONE,
            interferer,
            reception: seed.derive("reception").rng(),
            queued: 0,
            now: 0,
            reports: VecDeque::new(),
            counters: Counters::default(),
            medium_use: MediumUse::default(),
            record: None,
            spec: spec.clone(),
        };
        if radio.interferer.as_ref().is_some_and(|interferer| interferer.is_on) {
            for contender in &mut radio.contenders {
                contender.begin_sensing(0, spaces);
            }
        }
        radio.find_next_events();
        radio
    }

    /// What it was made from.
    pub const fn spec(&self) -> &RadioSpec {
        &self.spec
    }

    /// The index of a station.
    fn index_of(&self, station: Station) -> usize {
        let is_it = |state: &StationState<P>| state.station == station;
        // Stations are mostly numbered from 0 on.
        let likely = usize::from(station.0);
        if self.stations.get(likely).is_some_and(is_it) {
            return likely;
        }
        let index = self.stations.iter().position(is_it);
        index.unwrap_or_else(|| panic!("station {} is not on this radio", station.0))
    }

    /// Does what happens up to `now`, for the counters. The next poll reports it.
    ///
    /// # Panics
    /// As [`Medium::poll`] does, for a time before that of an earlier call.
    pub fn catch_up(&mut self, now: Instant) {
        self.advance(now.as_nanos());
    }

    /// The counters of the radio and its stations, at the time up to which it was driven.
    pub fn radio_counters(&self) -> RadioCounters {
        let (busy, overlapped) = self.medium_use.times(self.now);
        RadioCounters {
            elapsed: Duration::from_nanos(self.now),
            busy,
            overlapped,
            airtime: self.medium_use.airtime(),
            alone: self.medium_use.alone(self.now),
            stations: (0..self.stations.len())
                .map(|index| self.station_counters(index))
                .collect(),
        }
    }

    fn station_counters(&self, index: usize) -> StationCounters {
        let state = &self.stations[index];
        let (transmitting, receiving) = self.contenders[index].times(self.now);
        let idle = self.now - transmitting - receiving;
        let mut queue = state.depth.clone();
        queue.settle(self.now);
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        let power = &self.spec.power_states;
        StationCounters {
            station: state.station,
            transmitting: Duration::from_nanos(transmitting),
            receiving: Duration::from_nanos(receiving),
            idle: Duration::from_nanos(idle),
            energy_joules: power.transmit_watts * seconds(transmitting)
                + power.receive_watts * seconds(receiving)
                + power.idle_watts * seconds(idle),
            frames: state.frames,
            attempts_by_rate: self
                .spec
                .phy
                .rates()
                .iter()
                .copied()
                .zip(state.attempts_by_rate.iter().copied())
                .collect(),
            longest_queue: state.longest_queue,
            queue,
        }
    }

    /// The recorded frames since the last call, in the order of their ends; none where [`record_air`](Self::record_air) was not called.
    pub fn take_air_frames(&mut self) -> Vec<AirFrame<P>> {
        self.record
            .as_mut()
            .map_or_else(Vec::new, |record| std::mem::take(&mut record.frames))
    }
}

impl<P: Clone> Radio<P> {
    /// Records every frame on the air from now on, for [`take_air_frames`](Self::take_air_frames).
    pub fn record_air(&mut self) {
        self.record.get_or_insert_with(|| AirRecord {
            copy: P::clone,
            frames: Vec::new(),
        });
    }
}

/// A frame is delivered when its last bit is received for the first time; the ACK comes later. A frame that its receiver has got and
/// whose ACKs are all lost is delivered, not dropped.
///
/// Beacons and interference go on while the medium is empty, and make no events: they are caught up with at the next call.
impl<P> Medium<P> for Radio<P> {
    /// # Panics
    /// Where the frame's stations are not on this radio, or are the same.
    fn offer(&mut self, now: Instant, frame: Frame<P>) -> Result<(), Rejected<P>> {
        self.advance(now.as_nanos());
        let (from, to) = (self.index_of(frame.from), self.index_of(frame.to));
        assert!(from != to, "a frame goes to another station");
        self.counters.offered += 1;
        self.counters.bytes_offered += frame.size;
        let station = &mut self.stations[from];
        station.frames.packets_offered += 1;
        if station.queue.len() > self.spec.queue_packets {
            station.frames.dropped_by_full_queue += 1;
            self.counters.dropped_by_full_queue += 1;
            return Err(Rejected {
                frame,
                cause: DropCause::QueueFull,
            });
        }
        let was_empty = station.queue.is_empty();
        station.queue.push_back(Packet {
            to,
            bytes: frame.size.get() as u32 + MAC_OVERHEAD + LLC_SNAP,
            frame: Some(frame),
            copy: None,
            sequence: None,
            is_retry: false,
        });
        station.note_depth(self.now);
        self.queued += 1;
        if was_empty {
            self.begin_service(from);
            self.find_next_events();
        } else if self.data_durations[from] == NEVER {
            // The one in service is delivered.
            self.update_data_duration(from);
        }
        Ok(())
    }

    fn next_at(&self) -> Option<Instant> {
        let at = match self.reports.front() {
            Some(report) => Some(report.at().as_nanos()),
            None if self.queued == 0 => None,
            None => Some(self.next_report_bound()),
        };
        at.map(|at| Instant::from_nanos(at.max(self.now)))
    }

    fn poll(&mut self, now: Instant, on_event: &mut dyn FnMut(Event<P>)) {
        self.advance(now.as_nanos());
        while let Some(event) = self.reports.pop_front() {
            match &event {
                Event::Delivered { frame, .. } => {
                    self.counters.delivered += 1;
                    self.counters.bytes_delivered += frame.size;
                }
                Event::Dropped { .. } => self.counters.dropped_by_retry_limit += 1,
            }
            on_event(event);
        }
    }

    fn counters(&self) -> Counters {
        let queued: u64 = self.stations.iter().map(StationState::undelivered).sum();
        Counters {
            in_flight: queued + self.reports.len() as u64,
            ..self.counters
        }
    }

    fn longest_queue(&self) -> u64 {
        self.stations
            .iter()
            .map(|station| station.longest_queue)
            .max()
            .unwrap_or(0)
    }

    fn queue_length(&self) -> u64 {
        self.stations.iter().map(|station| station.waiting() as u64).sum()
    }
}

#[cfg(test)]
mod tests;
