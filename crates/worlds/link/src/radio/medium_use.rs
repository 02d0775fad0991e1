//! Counts how long the medium was in use, and for which frames.

use super::air_frame::FrameKind;
use super::counters::Airtime;
use std::time::Duration;

/// The use of the medium so far. Times are in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct MediumUse {
    /// The frames that are on the air, by kind.
    on_air: [usize; KINDS],
    frames: usize,
    since: u64,
    busy: u64,
    overlapped: u64,
    /// The airtime of frames, and that of frames while no other was on the air, by kind.
    airtime: [u64; KINDS],
    alone: [u64; KINDS],
}

/// Data, ACKs, reservations, beacons: the order of the fields of [`Airtime`].
const KINDS: usize = 4;

const fn index_of(kind: FrameKind) -> usize {
    match kind {
        FrameKind::Data => 0,
        FrameKind::Ack => 1,
        FrameKind::Rts | FrameKind::Cts => 2,
        FrameKind::Beacon => 3,
    }
}

const fn airtime([data, acks, reservations, beacons]: [u64; KINDS]) -> Airtime {
    Airtime {
        data: Duration::from_nanos(data),
        acks: Duration::from_nanos(acks),
        reservations: Duration::from_nanos(reservations),
        beacons: Duration::from_nanos(beacons),
    }
}

impl MediumUse {
    /// A frame of `duration` begins.
    #[inline]
    pub(crate) fn begin(&mut self, at: u64, kind: FrameKind, duration: u64) {
        self.settle(at);
        let index = index_of(kind);
        self.on_air[index] += 1;
        self.frames += 1;
        self.airtime[index] += duration;
    }

    /// A frame ends.
    #[inline]
    pub(crate) fn end(&mut self, at: u64, kind: FrameKind) {
        self.settle(at);
        self.on_air[index_of(kind)] -= 1;
        self.frames -= 1;
    }

    #[inline]
    fn settle(&mut self, at: u64) {
        let time = at - self.since;
        self.since = at;
        match self.frames {
            0 => {}
            1 => {
                self.busy += time;
                for (alone, on_air) in self.alone.iter_mut().zip(self.on_air) {
                    *alone += time * on_air as u64;
                }
            }
            _ => {
                self.busy += time;
                self.overlapped += time;
            }
        }
    }

    /// How long at least one frame was on the air until `at`, and how long several were.
    pub(crate) fn times(&self, at: u64) -> (Duration, Duration) {
        let mut until = self.clone();
        until.settle(at);
        (Duration::from_nanos(until.busy), Duration::from_nanos(until.overlapped))
    }

    /// The airtime of the frames that have begun, whole.
    pub(crate) const fn airtime(&self) -> Airtime {
        airtime(self.airtime)
    }

    /// How long frames of each kind were on the air alone until `at`.
    pub(crate) fn alone(&self, at: u64) -> Airtime {
        let mut until = self.clone();
        until.settle(at);
        airtime(until.alone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_alone_and_time_of_several_add_up_to_the_busy_time() {
        let mut medium = MediumUse::default();
        medium.begin(10, FrameKind::Data, 100);
        medium.begin(60, FrameKind::Beacon, 100);
        medium.end(110, FrameKind::Data);
        medium.end(160, FrameKind::Beacon);
        medium.begin(200, FrameKind::Ack, 30);
        let (busy, overlapped) = medium.times(220);
        let alone = medium.alone(220);
        let nanos = [busy, overlapped, alone.data, alone.beacons, alone.acks].map(|time| time.as_nanos());
        assert_eq!(nanos, [170, 50, 50, 50, 20]);
        assert_eq!(medium.airtime().acks.as_nanos(), 30, "whole, though it has not ended");
    }
}
