//! A station's queue, its attempts at the packet in service, and what it knows of others.

use super::air_frame::FrameKind;
use super::arf::Arf;
use super::counters::FrameCounters;
use super::depth_series::DepthSeries;
use super::phy::{Phy, Rate};
use super::spec::RateControl;
use crate::{Frame, Station};
use lastmile_units::{Rng, Seed, random};
use std::collections::VecDeque;

/// A station of a radio that carries `P`.
#[derive(Debug)]
pub(crate) struct StationState<P> {
    pub(crate) station: Station,
    /// The first packet is in service, the others wait.
    pub(crate) queue: VecDeque<Packet<P>>,
    pub(crate) short_retries: u32,
    pub(crate) long_retries: u32,
    pub(crate) contention_window: u32,
    /// The ACK or CTS that it waits for, while it waits.
    pub(crate) awaits: FrameKind,
    /// Whether the receiver has got the data frame of the present attempt.
    pub(crate) attempt_received: bool,
    next_sequence: u16,
    /// The last sequence number received from each station.
    pub(crate) last_sequences: Vec<Option<u16>>,
    fixed_rate: Option<Rate>,
    /// The rate towards each station.
    arfs: Vec<Arf>,
    back_off: Rng,
    beacons: Rng,
    pub(crate) frames: FrameCounters,
    pub(crate) attempts_by_rate: Vec<u64>,
    pub(crate) longest_queue: u64,
    pub(crate) depth: DepthSeries,
}

/// A packet in a station's queue.
#[derive(Debug)]
pub(crate) struct Packet<P> {
    /// None once delivered, while its ACK is still missing.
    pub(crate) frame: Option<Frame<P>>,
    /// A copy for the record of the air, after that.
    pub(crate) copy: Option<Box<P>>,
    pub(crate) to: usize,
    /// The size of its data frame.
    pub(crate) bytes: u32,
    /// Its sequence number, from its first attempt on.
    pub(crate) sequence: Option<u16>,
    /// Whether its next attempt is another one.
    pub(crate) is_retry: bool,
}

impl<P> StationState<P> {
    pub(crate) fn new(station: Station, stations: usize, phy: Phy, rate: RateControl, seed: Seed) -> Self {
        let rates = phy.rates();
        let fixed_rate = match rate {
            RateControl::Fixed(rate) => Some(rate),
            RateControl::Arf => None,
        };
        let number = u64::from(station.0);
        Self {
            station,
            queue: VecDeque::new(),
            short_retries: 0,
            long_retries: 0,
            contention_window: phy.contention_window_min(),
            awaits: FrameKind::Ack,
            attempt_received: false,
            next_sequence: 0,
            last_sequences: vec![None; stations],
            arfs: if fixed_rate.is_none() {
                vec![Arf::new(rates); stations]
            } else {
                Vec::new()
            },
            fixed_rate,
            back_off: seed.derive("back-off").derive_index(number).rng(),
            beacons: seed.derive("beacons").derive_index(number).rng(),
            frames: FrameCounters::default(),
            attempts_by_rate: vec![0; rates.len()],
            longest_queue: 0,
            depth: DepthSeries::default(),
        }
    }

    /// The packets that wait, besides the one in service.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len().saturating_sub(1)
    }

    /// The packets that their receivers have not got.
    pub(crate) fn undelivered(&self) -> u64 {
        self.queue.iter().filter(|packet| packet.frame.is_some()).count() as u64
    }

    /// The first packet that its receiver has not got, and whether it is in service: a packet that was delivered may wait for its ACK.
    pub(crate) fn next_undelivered(&self) -> Option<(&Packet<P>, bool)> {
        let in_service = self.queue.front()?;
        if in_service.frame.is_some() {
            return Some((in_service, true));
        }
        self.queue.get(1).map(|packet| (packet, false))
    }

    /// Draws a back-off from the contention window, in slots.
    pub(crate) fn draw_back_off(&mut self) -> u32 {
        random::up_to(&mut self.back_off, self.contention_window.into()) as u32
    }

    /// Draws the slots before a beacon: up to twice the least contention window (11.1.2.2).
    pub(crate) fn draw_beacon_delay(&mut self, contention_window_min: u32) -> u32 {
        random::up_to(&mut self.beacons, 2 * u64::from(contention_window_min)) as u32
    }

    /// The rate of a data frame to `to`.
    pub(crate) fn rate(&self, to: usize, rates: &[Rate]) -> Rate {
        self.fixed_rate.unwrap_or_else(|| self.arfs[to].rate(rates))
    }

    /// An ACK from `from` has come, or not.
    pub(crate) fn on_attempt(&mut self, to: usize, is_acknowledged: bool, rates: &[Rate]) {
        if let Some(arf) = self.arfs.get_mut(to) {
            if is_acknowledged {
                arf.on_success(rates);
            } else {
                arf.on_failure();
            }
        }
    }

    /// The next sequence number (7.1.3.4.1).
    pub(crate) fn take_sequence(&mut self) -> u16 {
        let sequence = self.next_sequence;
        self.next_sequence = (sequence + 1) % 4096;
        sequence
    }

    /// Notes the depth of the queue, which changes at `at`.
    pub(crate) fn note_depth(&mut self, at: u64) {
        let waiting = self.waiting() as u64;
        self.longest_queue = self.longest_queue.max(waiting);
        self.depth.change(at, waiting);
    }
}
