//! How far must a simulated trace and a kernel's agree? By part of the study, with the reason.

use std::time::Duration;

/// How far the two traces of a part must agree.
#[derive(Clone, Copy)]
pub(super) struct Agreement {
    pub(super) part: &'static str,
    /// How many segments of the server are held against each other; all of them where the traces agree to their ends.
    pub(super) segments: usize,
    /// What the times of one segment may differ by.
    pub(super) time: Duration,
    /// Whether the octets that blocks of a selective acknowledgement name are compared, and not only which segments have some.
    pub(super) blocks: bool,
}

const ALL: usize = usize::MAX;
/// The lateness at which the emulated world's figures still count: 0.5 ms on the way there, on the way back, and in a program.
const LATENESS: f64 = 1.5;
/// A kernel's timer that is set for a fourth of a second to two goes off within slots of eight ticks of 4 ms; the simulated TCP waits for
/// the middle of one.
const TIMER: f64 = 16.0;

impl Agreement {
    /// How far two recordings must agree, each of which may be off by as much to either side.
    pub(super) fn of_two_recordings(self) -> Self {
        Self {
            time: 2 * self.time,
            ..self
        }
    }
}

/// By what a segment may come earlier or later, in milliseconds, besides being late.
const fn agreement(part: &'static str, segments: usize, milliseconds: f64) -> Agreement {
    Agreement {
        part,
        segments,
        time: Duration::from_micros(((milliseconds + LATENESS) * 1e3) as u64),
        blocks: true,
    }
}

/// Which of two segments an acknowledgement waits for is a matter of how many came before, and of what the kernel was at: what it lets
/// go then leaves a frame's time earlier or later, on every link. A frame has 1500 B.
const fn frame(kilobits_per_second: f64) -> f64 {
    1500.0 * 8.0 / kilobits_per_second
}

pub(super) const AGREEMENTS: [Agreement; 8] = [
    // Near the end, the kernel puts one acknowledgement off for its 40 ms, and for a tick or two of its timer. (A frame takes 214 ms.)
    agreement("dial-up", ALL, 48.0),
    // Departure: when the hole is filled that held up 46 kB, the simulated receiver's window grows at once, and while it grows every
    // segment is acknowledged; the kernel's grows a round trip later. More acknowledgements let more be sent before the next hole.
    // Departure: a kernel with more than four blocks forgets the oldest, and that what comes next may adjoin them; the simulated receiver
    // names the whole block, as RFC 2018 section 4 asks.
    Agreement {
        blocks: false,
        ..agreement("short-queue", 97, frame(512.0))
    },
    agreement("long-way", ALL, frame(2000.0)),
    // Three acknowledgements of 52 B more or less in the queue, each of which takes 17.3 ms at 24 kbit/s.
    agreement("slow-way-back", ALL, frame(4000.0) + 3.0 * 17.3),
    // Timers below a fourth of a second go off within a tick.
    agreement("after-pauses", ALL, frame(1600.0) + 4.0),
    agreement("losses", ALL, frame(1000.0)),
    // Timeouts one after another, some of them of requests.
    agreement("tail-losses", ALL, frame(1000.0) + 2.0 * TIMER),
    // Two timeouts in a row.
    agreement("bursts", ALL, frame(512.0) + 2.0 * TIMER),
];
