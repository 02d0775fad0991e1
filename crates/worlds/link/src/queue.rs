//! The queue of one direction: first in, first out, with a limit and optional CoDel.

use crate::Frame;
use crate::codel::{CoDelControl, Verdict};
use crate::direction::{DirectionSpec, Queue};
use lastmile_units::{ByteCount, Instant};
use std::collections::VecDeque;

/// First in, first out, within a limit; CoDel may drop frames at the head.
#[derive(Debug)]
pub(crate) struct FrameQueue<P> {
    waiting: VecDeque<QueuedFrame<P>>,
    /// IP bytes waiting.
    bytes: ByteCount,
    packets_max: u64,
    bytes_max: ByteCount,
    codel: Option<CoDelControl>,
}

/// A frame in the queue.
#[derive(Debug)]
pub(crate) struct QueuedFrame<P> {
    /// When it was queued.
    pub(crate) since: Instant,
    pub(crate) frame: Frame<P>,
}

const NO_LIMIT: ByteCount = ByteCount::new(u64::MAX);

impl<P> FrameQueue<P> {
    pub(crate) fn new(direction: &DirectionSpec) -> Self {
        let (bytes_max, codel) = match direction.queue {
            Queue::Bytes(bytes) => (bytes, None),
            Queue::CoDel(codel) => (NO_LIMIT, Some(CoDelControl::new(codel))),
            Queue::Auto | Queue::Unlimited | Queue::Packets(_) => (NO_LIMIT, None),
        };
        Self {
            waiting: VecDeque::new(),
            bytes: ByteCount::ZERO,
            packets_max: direction.queue_packets().unwrap_or(u64::MAX),
            bytes_max,
            codel,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When the frame at the head was queued.
    pub(crate) fn head_since(&self) -> Option<Instant> {
        self.waiting.front().map(|head| head.since)
    }

    /// Whether there is room for a frame of `size`.
    pub(crate) fn has_room(&self, size: ByteCount) -> bool {
        (self.waiting.len() as u64) < self.packets_max && size <= self.bytes_max.saturating_sub(self.bytes)
    }

    pub(crate) fn push(&mut self, since: Instant, frame: Frame<P>) {
        self.bytes += frame.size;
        self.waiting.push_back(QueuedFrame { since, frame });
    }

    /// Removes the frame to serve at `now`; passes those that CoDel drops before it to `on_drop`.
    pub(crate) fn pop(&mut self, now: Instant, mut on_drop: impl FnMut(Frame<P>)) -> Option<Frame<P>> {
        loop {
            let Some(QueuedFrame { since, frame }) = self.waiting.pop_front() else {
                if let Some(codel) = &mut self.codel {
                    codel.found_empty();
                }
                return None;
            };
            self.bytes -= frame.size;
            let Some(codel) = &mut self.codel else {
                return Some(frame);
            };
            match codel.judge(now, now - since, frame.size, self.bytes) {
                Verdict::Serve => return Some(frame),
                Verdict::Drop => on_drop(frame),
            }
        }
    }
}
