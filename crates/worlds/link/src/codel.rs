//! CoDel's control law (RFC 8289): decides whether the frame at the head of a queue is dropped.
//!
//! The queue itself is left to `queue`.

use crate::direction::CoDel;
use lastmile_units::{ByteCount, Instant};
use std::time::Duration;

/// What happens to the frame at the head of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Serve,
    Drop,
}

/// CoDel's state (RFC 8289, section 5.6; the names are the RFC's).
///
/// The RFC's `deque` loops over frames; here the queue loops, and calls [`judge`](Self::judge) for one frame after
/// another with the same `now`. Departure: `maxpacket`, which the RFC sets to the interface's MTU, is the largest frame
/// seen, as in Linux.
#[derive(Debug)]
pub(crate) struct CoDelControl {
    target: Duration,
    interval: Duration,
    maxpacket: ByteCount,
    first_above_time: Option<Instant>,
    dropping: bool,
    drop_next: Instant,
    count: u64,
    lastcount: u64,
    /// What happened to the frame before this one in the same dequeue, which decides what follows.
    after: After,
}

/// What happened to the previous frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// It was served: a new dequeue begins.
    Served,
    /// It was dropped while in the dropping state.
    Drop,
    /// It was dropped on entering the dropping state.
    FirstDrop,
}

impl CoDelControl {
    pub(crate) fn new(codel: CoDel) -> Self {
        Self {
            target: codel.target,
            interval: codel.interval,
            maxpacket: ByteCount::ZERO,
            first_above_time: None,
            dropping: false,
            drop_next: Instant::START,
            count: 0,
            lastcount: 0,
            after: After::Served,
        }
    }

    /// Judges the frame at the head at `now`, after it has waited for `sojourn`, with `backlog` bytes behind it.
    pub(crate) fn judge(&mut self, now: Instant, sojourn: Duration, size: ByteCount, backlog: ByteCount) -> Verdict {
        let ok_to_drop = self.ok_to_drop(now, sojourn, size, backlog);
        let verdict = match self.after {
            After::Served if self.dropping => {
                self.dropping = ok_to_drop;
                self.drop_if_due(now)
            }
            After::Served if ok_to_drop => {
                self.after = After::FirstDrop;
                return Verdict::Drop;
            }
            After::Served => Verdict::Serve,
            After::Drop => {
                self.dropping = ok_to_drop;
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next);
                }
                self.drop_if_due(now)
            }
            After::FirstDrop => {
                self.begin_dropping(now);
                Verdict::Serve
            }
        };
        self.after = if verdict == Verdict::Drop {
            After::Drop
        } else {
            After::Served
        };
        verdict
    }

    /// The queue ran empty during a dequeue.
    pub(crate) fn found_empty(&mut self) {
        self.first_above_time = None;
        match self.after {
            After::FirstDrop => unreachable!("CoDel does not drop while no more than one packet's bytes are left"),
            After::Served | After::Drop => self.dropping = false,
        }
        self.after = After::Served;
    }

    /// The RFC's `dodeque`: whether the delay has been above the target for an interval.
    fn ok_to_drop(&mut self, now: Instant, sojourn: Duration, size: ByteCount, backlog: ByteCount) -> bool {
        self.maxpacket = self.maxpacket.max(size);
        if sojourn < self.target || backlog <= self.maxpacket {
            self.first_above_time = None;
            return false;
        }
        match self.first_above_time {
            None => {
                self.first_above_time = Some(now + self.interval);
                false
            }
            Some(first_above_time) => now >= first_above_time,
        }
    }

    fn drop_if_due(&mut self, now: Instant) -> Verdict {
        if self.dropping && now >= self.drop_next {
            self.count += 1;
            Verdict::Drop
        } else {
            Verdict::Serve
        }
    }

    /// Enters the dropping state. If the previous one ended recently, drops at the rate it had reached (the Linux
    /// version, which the RFC also gives).
    fn begin_dropping(&mut self, now: Instant) {
        let delta = self.count - self.lastcount;
        self.dropping = true;
        self.count = 1;
        if delta > 1 && now.saturating_since(self.drop_next) < self.interval * 16 {
            self.count = delta;
        }
        self.drop_next = self.control_law(now);
        self.lastcount = self.count;
    }

    /// The next drop comes `interval / sqrt(count)` after `time`.
    fn control_law(&self, time: Instant) -> Instant {
        // IEEE 754 defines the rounding of square roots and quotients, so this is the same on every machine.
        time + Duration::from_nanos((self.interval.as_nanos() as f64 / (self.count as f64).sqrt()) as u64)
    }
}

#[cfg(test)]
mod tests;
