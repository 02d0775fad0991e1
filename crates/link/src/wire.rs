//! Which frame arrives next? Holds frames between the sender's last bit and the receiver's.

use crate::Frame;
use crate::delay::{DelayProcess, Reordering};
use crate::direction::DirectionSpec;
use lastmile_units::{Instant, Seed};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// Frames under way.
#[derive(Debug)]
pub(crate) struct Wire<P> {
    delay: DelayProcess,
    under_way: UnderWay<P>,
    /// When the last frame that keeps its order arrives.
    in_order_until: Instant,
    /// Jitter may put a frame before another.
    overtaking: bool,
}

#[derive(Debug)]
enum UnderWay<P> {
    /// Arrivals never decrease.
    InOrder(VecDeque<Arrival<P>>),
    /// Some frames overtake others.
    AnyOrder { heap: BinaryHeap<Arrival<P>>, sent: u64 },
}

#[derive(Debug)]
struct Arrival<P> {
    at: Instant,
    /// Frames that arrive at one instant do so in the order they were sent.
    number: u64,
    frame: Frame<P>,
}

impl<P> Wire<P> {
    pub(crate) fn new(direction: &DirectionSpec, seed: Seed) -> Self {
        let under_way = match direction.reordering {
            Reordering::None => UnderWay::InOrder(VecDeque::new()),
            Reordering::ByJitter | Reordering::Late { .. } => UnderWay::AnyOrder {
                heap: BinaryHeap::new(),
                sent: 0,
            },
        };
        Self {
            delay: DelayProcess::new(direction.one_way_delay, direction.jitter, direction.reordering, seed),
            under_way,
            in_order_until: Instant::START,
            overtaking: direction.reordering == Reordering::ByJitter,
        }
    }

    /// Whether a frame may arrive before one that was sent earlier.
    pub(crate) const fn can_reorder(&self) -> bool {
        matches!(self.under_way, UnderWay::AnyOrder { .. })
    }

    pub(crate) fn len(&self) -> usize {
        match &self.under_way {
            UnderWay::InOrder(fifo) => fifo.len(),
            UnderWay::AnyOrder { heap, .. } => heap.len(),
        }
    }

    /// Sends a frame whose last bit is out at `sent_at`.
    pub(crate) fn send(&mut self, sent_at: Instant, frame: Frame<P>) {
        let (delay, late) = self.delay.draw();
        let mut at = sent_at + delay;
        if !late && !self.overtaking {
            at = at.max(self.in_order_until);
            self.in_order_until = at;
        }
        match &mut self.under_way {
            UnderWay::InOrder(fifo) => fifo.push_back(Arrival { at, number: 0, frame }),
            UnderWay::AnyOrder { heap, sent } => {
                heap.push(Arrival {
                    at,
                    number: *sent,
                    frame,
                });
                *sent += 1;
            }
        }
    }

    /// When the next frame arrives.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        match &self.under_way {
            UnderWay::InOrder(fifo) => fifo.front().map(|arrival| arrival.at),
            UnderWay::AnyOrder { heap, .. } => heap.peek().map(|arrival| arrival.at),
        }
    }

    /// Takes the next frame to arrive.
    pub(crate) fn receive(&mut self) -> Option<Frame<P>> {
        let arrival = match &mut self.under_way {
            UnderWay::InOrder(fifo) => fifo.pop_front(),
            UnderWay::AnyOrder { heap, .. } => heap.pop(),
        };
        arrival.map(|arrival| arrival.frame)
    }
}

/// The earliest arrival is the greatest, since the heap's top is.
impl<P> Ord for Arrival<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl<P> PartialOrd for Arrival<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> PartialEq for Arrival<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<P> Eq for Arrival<P> {}
