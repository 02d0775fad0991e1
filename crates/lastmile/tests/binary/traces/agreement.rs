//! How far a simulated trace and a kernel's must agree, for each part of the study, with the reasons.

use std::time::Duration;

/// How far the two traces of a part must agree.
#[derive(Clone, Copy)]
pub(super) struct Agreement {
    pub(super) part: &'static str,
    /// How many segments of the server are compared; all of them where the traces agree to their ends.
    pub(super) segments: usize,
    /// The largest allowed difference between the times of a segment.
    pub(super) time: Duration,
    /// Whether the byte ranges of SACK blocks are compared, rather than only which segments have blocks.
    pub(super) blocks: bool,
}

const ALL: usize = usize::MAX;
/// The lateness at which the emulated world's figures are still valid: 0.5 ms in each direction, and in a program.
const LATENESS: f64 = 1.5;
/// A kernel's timer of a quarter of a second to two seconds fires within a slot of eight ticks of 4 ms; the simulated TCP fires in the
/// middle of the slot.
const TIMER: f64 = 16.0;

impl Agreement {
    /// How far two recordings must agree, each of which may be off by this in either direction.
    pub(super) fn of_two_recordings(self) -> Self {
        Self {
            time: 2 * self.time,
            ..self
        }
    }
}

/// How much earlier or later a segment may come, in milliseconds, in addition to the lateness.
const fn agreement(part: &'static str, segments: usize, milliseconds: f64) -> Agreement {
    Agreement {
        part,
        segments,
        time: Duration::from_micros(((milliseconds + LATENESS) * 1e3) as u64),
        blocks: true,
    }
}

/// Which of two segments a delayed acknowledgement waits for depends on how many came before, and on the kernel's state: the segments
/// that it releases then leave a frame's time earlier or later, on every link. A frame has 1500 B.
const fn frame(kilobits_per_second: f64) -> f64 {
    1500.0 * 8.0 / kilobits_per_second
}

pub(super) const AGREEMENTS: [Agreement; 8] = [
    // Near the end, the kernel delays one acknowledgement by its 40 ms, and by a tick or two of its timer. (A frame takes 214 ms.)
    agreement("dial-up", ALL, 48.0),
    // Departure: when the hole that held up 46 kB is filled, the simulated receiver's window grows at once, and while it grows every
    // segment is acknowledged; the kernel's grows a round trip later. More acknowledgements allow more data before the next hole.
    // Departure: a kernel with more than four blocks drops the oldest, even where the next data adjoins it; the simulated receiver
    // reports the whole block, as RFC 2018 section 4 requires.
    Agreement {
        blocks: false,
        ..agreement("short-queue", 97, frame(512.0))
    },
    agreement("long-way", ALL, frame(2000.0)),
    // Three acknowledgements of 52 B more or less in the queue; each takes 17.3 ms at 24 kbit/s.
    agreement("slow-way-back", ALL, frame(4000.0) + 3.0 * 17.3),
    // Timers below a quarter of a second fire within a tick.
    agreement("after-pauses", ALL, frame(1600.0) + 4.0),
    agreement("losses", ALL, frame(1000.0)),
    // Several timeouts in a row, some of them of requests.
    agreement("tail-losses", ALL, frame(1000.0) + 2.0 * TIMER),
    // Two timeouts in a row.
    agreement("bursts", ALL, frame(512.0) + 2.0 * TIMER),
];
