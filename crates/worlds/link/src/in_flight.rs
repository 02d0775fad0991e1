//! Frames in flight: holds them between the sender's last bit and the receiver's.

use crate::Frame;
use crate::delay::{DelayProcess, Reordering};
use crate::direction::DirectionSpec;
use lastmile_units::{Instant, Seed};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// Frames in flight.
#[derive(Debug)]
pub(crate) struct Wire<P> {
    delay: DelayProcess,
    in_flight: InFlight<P>,
    /// When the last frame that keeps its order arrives.
    in_order_until: Instant,
    /// Jitter may let a frame overtake another.
    overtaking: bool,
}

#[derive(Debug)]
enum InFlight<P> {
    /// Arrival times never decrease.
    InOrder(VecDeque<InFlightFrame<P>>),
    /// Some frames overtake others.
    AnyOrder {
        heap: BinaryHeap<InFlightFrame<P>>,
        sent: u64,
    },
}

#[derive(Debug)]
struct InFlightFrame<P> {
    at: Instant,
    /// Frames that arrive at the same instant do so in the order they were sent.
    number: u64,
    frame: Frame<P>,
}

impl<P> Wire<P> {
    pub(crate) fn new(direction: &DirectionSpec, seed: Seed) -> Self {
        let under_way = match direction.reordering {
            Reordering::None => InFlight::InOrder(VecDeque::new()),
            Reordering::ByJitter | Reordering::Late { .. } => InFlight::AnyOrder {
                heap: BinaryHeap::new(),
                sent: 0,
            },
        };
        Self {
            delay: DelayProcess::new(direction.one_way_delay, direction.jitter, direction.reordering, seed),
            in_flight: under_way,
            in_order_until: Instant::START,
            overtaking: direction.reordering == Reordering::ByJitter,
        }
    }

    /// Whether a frame may arrive before one that was sent earlier.
    pub(crate) const fn can_reorder(&self) -> bool {
        matches!(self.in_flight, InFlight::AnyOrder { .. })
    }

    pub(crate) fn len(&self) -> usize {
        match &self.in_flight {
            InFlight::InOrder(fifo) => fifo.len(),
            InFlight::AnyOrder { heap, .. } => heap.len(),
        }
    }

    /// Sends a frame whose last bit leaves at `sent_at`.
    pub(crate) fn send(&mut self, sent_at: Instant, frame: Frame<P>) {
        let (delay, late) = self.delay.draw();
        let mut at = sent_at + delay;
        if !late && !self.overtaking {
            at = at.max(self.in_order_until);
            self.in_order_until = at;
        }
        match &mut self.in_flight {
            InFlight::InOrder(fifo) => fifo.push_back(InFlightFrame { at, number: 0, frame }),
            InFlight::AnyOrder { heap, sent } => {
                heap.push(InFlightFrame {
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
        match &self.in_flight {
            InFlight::InOrder(fifo) => fifo.front().map(|arrival| arrival.at),
            InFlight::AnyOrder { heap, .. } => heap.peek().map(|arrival| arrival.at),
        }
    }

    /// Removes the next frame to arrive.
    pub(crate) fn receive(&mut self) -> Option<Frame<P>> {
        let arrival = match &mut self.in_flight {
            InFlight::InOrder(fifo) => fifo.pop_front(),
            InFlight::AnyOrder { heap, .. } => heap.pop(),
        };
        arrival.map(|arrival| arrival.frame)
    }
}

/// The earliest arrival compares as the greatest, because a heap's top is its greatest element.
impl<P> Ord for InFlightFrame<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl<P> PartialOrd for InFlightFrame<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> PartialEq for InFlightFrame<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<P> Eq for InFlightFrame<P> {}
