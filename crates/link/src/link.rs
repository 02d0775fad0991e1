//! What happens to a frame on one direction of a wire, and when?
//!
//! A frame waits in the queue, is serialised, may be lost, and is delayed, in that order. Each part has a file of its
//! own; this one joins them in time. Two directions make a link: they share nothing.

use crate::direction::{DirectionSpec, Queue};
use crate::loss::LossProcess;
use crate::queue::FrameQueue;
use crate::transmitter::Transmitter;
use crate::wire::Wire;
use crate::{DropCause, Event, Frame, Medium, Rejected};
use lastmile_units::{Bytes, Instant, Seed};
use std::collections::VecDeque;

/// One direction of a wire.
///
/// A frame's fate is decided when it enters service, so a wire that neither loses nor reorders wakes its driver once a
/// frame: at its delivery.
///
/// ```
/// use lastmile_link::{DirectionSpec, Event, Frame, Link, Medium, Capacity, Station};
/// use lastmile_units::{Bytes, Instant, Seed};
/// use std::time::Duration;
///
/// let modem = DirectionSpec {
///     capacity: Capacity::Rate("56 kbit/s".parse().unwrap()),
///     one_way_delay: Duration::from_millis(75),
///     ..DirectionSpec::IDEAL
/// };
/// let mut link = Link::new(&modem, Seed::new(1));
/// let frame = Frame { from: Station(0), to: Station(1), size: Bytes::new(700), payload: "hello" };
/// link.offer(Instant::START, frame).unwrap();
/// let at = link.next_at().unwrap();
/// assert_eq!(at.since_start(), Duration::from_millis(100 + 75)); // 5,600 bits, then the wire
/// link.poll(at, &mut |event| assert!(matches!(event, Event::Delivered { frame, .. } if frame.payload == "hello")));
/// ```
#[derive(Debug)]
pub struct Link<P> {
    queue: FrameQueue<P>,
    transmitter: Transmitter,
    loss: LossProcess,
    wire: Wire<P>,
    /// Frames that are lost, until it is told; their times never decrease.
    lost: VecDeque<Lost<P>>,
    /// A frame that still waits may be dropped, lost or delivered before one that has left.
    later_frames_can_be_first: bool,
    now: Instant,
    counters: Counters,
    longest_queue: u64,
}

#[derive(Debug)]
struct Lost<P> {
    at: Instant,
    frame: Frame<P>,
    cause: DropCause,
}

/// What became of the frames offered so far. `offered` is always the sum of delivered, dropped and in flight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames offered, taken or not.
    pub offered: u64,
    /// IP bytes of those.
    pub bytes_offered: Bytes,
    /// Frames delivered.
    pub delivered: u64,
    /// IP bytes of those.
    pub bytes_delivered: Bytes,
    /// Frames that found the queue full.
    pub dropped_by_full_queue: u64,
    /// Frames that CoDel dropped.
    pub dropped_by_active_queue_management: u64,
    /// Frames that the wire lost.
    pub dropped_by_random_loss: u64,
    /// Frames that wait, are in service or on the wire, or whose loss is not told yet.
    pub in_flight: u64,
}

impl Counters {
    /// Frames dropped, whatever the cause.
    pub const fn dropped(&self) -> u64 {
        self.dropped_by_full_queue + self.dropped_by_active_queue_management + self.dropped_by_random_loss
    }
}

impl<P> Link<P> {
    /// An empty wire that behaves as `direction` says; chance comes from `seed` alone, so the two
    /// directions of a link are given seeds of their own.
    pub fn new(direction: &DirectionSpec, seed: Seed) -> Self {
        let loss = LossProcess::new(&direction.loss, seed.derive("loss"));
        let wire = Wire::new(direction, seed);
        let codel = matches!(direction.queue, Queue::CoDel(_));
        Self {
            queue: FrameQueue::new(direction),
            transmitter: Transmitter::new(&direction.capacity, direction.framing_overhead),
            later_frames_can_be_first: codel || loss.can_lose() || wire.can_reorder(),
            loss,
            wire,
            lost: VecDeque::new(),
            now: Instant::START,
            counters: Counters::default(),
            longest_queue: 0,
        }
    }

    /// What became of the frames offered so far, as told by [`Medium::offer`] and [`Medium::poll`].
    pub fn counters(&self) -> Counters {
        let in_flight = (self.queue.len() + self.wire.len() + self.lost.len()) as u64;
        Counters {
            in_flight,
            ..self.counters
        }
    }

    /// The most frames that have waited at once, besides the one in service.
    pub const fn longest_queue(&self) -> u64 {
        self.longest_queue
    }

    /// Serves every frame whose turn comes at or before `now`.
    ///
    /// The fate of a frame is settled as it enters service. In a queue that is not empty, each frame enters service as the
    /// one before leaves it, however late this is called: that is what makes the model independent of polling.
    fn advance(&mut self, now: Instant) {
        assert!(now >= self.now, "a medium is driven with times that never decrease");
        self.now = now;
        while let Some(since) = self.queue.head_since() {
            let start = self.transmitter.free_at().max(since);
            if start > now {
                break;
            }
            let lost = &mut self.lost;
            let dropped = |frame| {
                lost.push_back(Lost {
                    at: start,
                    frame,
                    cause: DropCause::ActiveQueueManagement,
                });
            };
            let Some(frame) = self.queue.pop(start, dropped) else {
                break;
            };
            let sent_at = self.transmitter.serialise(start, frame.size);
            if self.loss.takes() {
                self.lost.push_back(Lost {
                    at: sent_at,
                    frame,
                    cause: DropCause::RandomLoss,
                });
            } else {
                self.wire.send(sent_at, frame);
            }
        }
    }

    fn tell_lost(&mut self) -> Option<Event<P>> {
        let Lost { at, frame, cause } = self.lost.pop_front()?;
        match cause {
            DropCause::QueueFull => self.counters.dropped_by_full_queue += 1,
            DropCause::ActiveQueueManagement => self.counters.dropped_by_active_queue_management += 1,
            DropCause::RandomLoss => self.counters.dropped_by_random_loss += 1,
        }
        Some(Event::Dropped { at, frame, cause })
    }

    fn tell_arrived(&mut self, at: Instant) -> Option<Event<P>> {
        let frame = self.wire.receive()?;
        self.counters.delivered += 1;
        self.counters.bytes_delivered += frame.size;
        Some(Event::Delivered { at, frame })
    }

    /// The next thing that happened at or before `now`, of those whose frames have left the queue.
    fn next_event(&mut self, now: Instant) -> Option<Event<P>> {
        let lost_at = self.lost.front().map(|lost| lost.at);
        let arrives_at = self.wire.next_at();
        match (lost_at, arrives_at) {
            (Some(lost), Some(arrives)) if lost <= arrives && lost <= now => self.tell_lost(),
            (Some(lost), None) if lost <= now => self.tell_lost(),
            (_, Some(arrives)) if arrives <= now => self.tell_arrived(arrives),
            _ => None,
        }
    }
}

impl<P> Medium<P> for Link<P> {
    fn offer(&mut self, now: Instant, frame: Frame<P>) -> Result<(), Rejected<P>> {
        self.advance(now);
        self.counters.offered += 1;
        self.counters.bytes_offered += frame.size;
        let idle = self.queue.is_empty() && self.transmitter.free_at() <= now;
        if !idle && !self.queue.has_room(frame.size) {
            self.counters.dropped_by_full_queue += 1;
            return Err(Rejected {
                frame,
                cause: DropCause::QueueFull,
            });
        }
        self.queue.push(now, frame);
        if idle {
            self.advance(now);
        }
        self.longest_queue = self.longest_queue.max(self.queue.len() as u64);
        Ok(())
    }

    fn next_at(&self) -> Option<Instant> {
        let service = (self.later_frames_can_be_first && !self.queue.is_empty()).then(|| self.transmitter.free_at());
        let lost = self.lost.front().map(|lost| lost.at);
        // What is overdue, since frames were offered without polling, is due now.
        [service, lost, self.wire.next_at()]
            .into_iter()
            .flatten()
            .min()
            .map(|at| at.max(self.now))
    }

    fn poll(&mut self, now: Instant, on_event: &mut dyn FnMut(Event<P>)) {
        self.advance(now);
        while let Some(event) = self.next_event(now) {
            on_event(event);
        }
    }
}

#[cfg(test)]
mod tests;
