//! Frames on the air, and whether their receivers can tell them from others.

use super::air_frame::FrameKind;
use super::channel::{Channel, Interference};
use super::interference::InterfererSchedule;
use super::phy::Rate;

/// A frame on the air. Times are in nanoseconds.
#[derive(Debug, Clone)]
pub(crate) struct Transmission {
    /// Above 0, and of no other frame.
    pub(crate) serial: u64,
    pub(crate) from: usize,
    /// None for a beacon.
    pub(crate) to: Option<usize>,
    pub(crate) kind: FrameKind,
    pub(crate) rate: Rate,
    pub(crate) bytes: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// How long the medium is reserved after the end.
    pub(crate) reservation: u64,
    pub(crate) is_retry: bool,
    pub(crate) sequence: u16,
    /// What else was on the air.
    pub(crate) overlaps: Vec<Overlap>,
}

/// Another frame on the air at the same time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overlap {
    pub(crate) from: usize,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// A frame that a station owes at a time, without contention.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingResponse {
    pub(crate) at: u64,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) content: ResponseContent,
}

/// The frame that is owed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ResponseContent {
    /// An ACK or a CTS at this rate, with this reservation.
    Control {
        kind: FrameKind,
        rate: Rate,
        reservation: u64,
    },
    /// The data frame that a CTS permits.
    Data,
}

impl Transmission {
    /// Whether the frame is strong enough at `at_station` among those that overlap it, to be told from them; `capture` is the ratio that
    /// it takes, none if nothing helps.
    #[inline]
    pub(crate) fn survives_collision(&self, channel: &Channel, at_station: usize, capture: Option<f64>) -> bool {
        let sensed = |overlap: &&Overlap| channel.senses(overlap.from, at_station);
        let mut others = self.overlaps.iter().filter(sensed).peekable();
        if others.peek().is_none() {
            return true;
        }
        let power: f64 = others.map(|other| channel.received(other.from, at_station)).sum();
        capture.is_some_and(|ratio| channel.received(self.from, at_station) >= ratio * power)
    }

    /// The logarithm of the chance that `to` receives the frame, with all else on the air as noise.
    #[inline]
    pub(crate) fn ln_success(&self, channel: &mut Channel, to: usize, interferer: Option<&InterfererSchedule>) -> f64 {
        let time_on = interferer.map_or(0, |schedule| schedule.time_on(self.start, self.end));
        if self.overlaps.is_empty() && time_on == 0 {
            return channel.ln_success(self.from, to, self.rate, self.bytes, self.start);
        }
        let parts = self.parts(channel, to, time_on, interferer.map_or(0.0, |schedule| schedule.power));
        channel.ln_success_among([self.from, to], self.rate, self.bytes, self.start, &parts)
    }

    /// The parts of the frame with different powers on the air. The interferer's share is spread evenly over them.
    fn parts(&self, channel: &Channel, to: usize, time_on: u64, interferer: f64) -> Vec<Interference> {
        let mut borders: Vec<u64> = self
            .overlaps
            .iter()
            .flat_map(|other| [other.start, other.end])
            .collect();
        borders.extend([self.start, self.end]);
        borders.retain(|border| (self.start..=self.end).contains(border));
        borders.sort_unstable();
        borders.dedup();
        let duration = (self.end - self.start) as f64;
        let share_on = time_on as f64 / duration;
        let mut parts = Vec::new();
        for border in borders.windows(2) {
            let covers = |other: &&Overlap| other.start <= border[0] && border[1] <= other.end && other.from != to;
            let frames = self.overlaps.iter().filter(covers);
            let power: f64 = frames.map(|other| channel.received(other.from, to)).sum();
            let share = (border[1] - border[0]) as f64 / duration;
            parts.push(Interference {
                share: share * (1.0 - share_on),
                power,
            });
            if time_on > 0 {
                parts.push(Interference {
                    share: share * share_on,
                    power: power + interferer,
                });
            }
        }
        parts
    }
}
