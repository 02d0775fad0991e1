//! Counts how long the medium was in use, and for which frames.

use super::air_frame::FrameKind;
use super::counters::Airtime;
use std::time::Duration;

/// The use of the medium so far. Times are in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct MediumUse {
    frames: usize,
    since: u64,
    busy: u64,
    overlapped: u64,
    data: u64,
    acks: u64,
    reservations: u64,
    beacons: u64,
}

impl MediumUse {
    /// A frame of `duration` begins.
    pub(crate) fn begin(&mut self, at: u64, kind: FrameKind, duration: u64) {
        self.settle(at);
        self.frames += 1;
        *match kind {
            FrameKind::Data => &mut self.data,
            FrameKind::Ack => &mut self.acks,
            FrameKind::Rts | FrameKind::Cts => &mut self.reservations,
            FrameKind::Beacon => &mut self.beacons,
        } += duration;
    }

    /// A frame ends.
    pub(crate) fn end(&mut self, at: u64) {
        self.settle(at);
        self.frames -= 1;
    }

    fn settle(&mut self, at: u64) {
        let time = at - self.since;
        self.since = at;
        if self.frames > 0 {
            self.busy += time;
        }
        if self.frames > 1 {
            self.overlapped += time;
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
        Airtime {
            data: Duration::from_nanos(self.data),
            acks: Duration::from_nanos(self.acks),
            reservations: Duration::from_nanos(self.reservations),
            beacons: Duration::from_nanos(self.beacons),
        }
    }
}
