//! One direction of a wire: joins queue, serialisation, loss and delay in time.
//!
//! A frame waits in the queue, is serialised, may be lost, and is delayed, in that order. Each of these has a file of
//! its own. The two directions of a link share nothing.

use crate::direction::{DirectionSpec, Queue};
use crate::in_flight::Wire;
use crate::loss::LossProcess;
use crate::queue::FrameQueue;
use crate::transmitter::Transmitter;
use crate::{DropCause, Event, Frame, Medium, Rejected};
use lastmile_units::{ByteCount, Instant, Seed};
use std::collections::VecDeque;

/// One direction of a wire.
///
/// A frame's fate is decided when it enters service, so a wire that neither loses nor reorders wakes its driver once
/// per frame: at its delivery.
///
/// ```
/// use lastmile_link::{DirectionSpec, Event, Frame, Link, Medium, Capacity, Station};
/// use lastmile_units::{ByteCount, Instant, Seed};
/// use std::time::Duration;
///
/// let modem = DirectionSpec {
///     capacity: Capacity::Rate("56 kbit/s".parse().unwrap()),
///     one_way_delay: Duration::from_millis(75),
///     ..DirectionSpec::IDEAL
/// };
/// let mut link = Link::new(&modem, Seed::new(1));
/// let frame = Frame { from: Station(0), to: Station(1), size: ByteCount::new(700), payload: "hello" };
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
    /// Dropped frames that are not reported yet; their times never decrease.
    dropped: VecDeque<DroppedFrame<P>>,
    /// A frame that still waits may be dropped or delivered before one that has already left the queue.
    later_frames_can_be_first: bool,
    now: Instant,
    counters: Counters,
    longest_queue: u64,
}

#[derive(Debug)]
struct DroppedFrame<P> {
    at: Instant,
    frame: Frame<P>,
    cause: DropCause,
}

/// What happened to the frames offered so far. `offered` is always the sum of delivered, dropped and in flight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames offered, accepted or not.
    pub offered: u64,
    /// IP bytes of those.
    pub bytes_offered: ByteCount,
    /// Frames delivered.
    pub delivered: u64,
    /// IP bytes of those.
    pub bytes_delivered: ByteCount,
    /// Frames that found the queue full.
    pub dropped_by_full_queue: u64,
    /// Frames that CoDel dropped.
    pub dropped_by_active_queue_management: u64,
    /// Frames that the wire lost.
    pub dropped_by_random_loss: u64,
    /// Frames that a radio gave up after their last attempt.
    pub dropped_by_retry_limit: u64,
    /// Frames that wait, are in service, on the wire, or lost and not reported yet.
    pub in_flight: u64,
}

impl Counters {
    /// Frames dropped, whatever the cause.
    pub const fn dropped(&self) -> u64 {
        self.dropped_by_full_queue
            + self.dropped_by_active_queue_management
            + self.dropped_by_random_loss
            + self.dropped_by_retry_limit
    }
}

impl<P> Link<P> {
    /// An empty wire that behaves as `direction` says. Its random choices come from `seed` alone, so the two directions
    /// of a link need different seeds.
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
            dropped: VecDeque::new(),
            now: Instant::START,
            counters: Counters::default(),
            longest_queue: 0,
        }
    }

    /// Serves every frame whose turn comes at or before `now`.
    ///
    /// A frame's fate is settled as it enters service. In a queue that is not empty, each frame enters service as the
    /// one before leaves it, however late this is called: that makes the model independent of polling.
    fn advance(&mut self, now: Instant) {
        assert!(now >= self.now, "a medium is driven with times that never decrease");
        self.now = now;
        while let Some(since) = self.queue.head_since() {
            let start = self.transmitter.free_at().max(since);
            if start > now {
                break;
            }
            let lost = &mut self.dropped;
            let dropped = |frame| {
                lost.push_back(DroppedFrame {
                    at: start,
                    frame,
                    cause: DropCause::ActiveQueueManagement,
                });
            };
            let Some(frame) = self.queue.pop(start, dropped) else {
                break;
            };
            let sent_at = self.transmitter.serialise(start, frame.size);
            if self.loss.next_is_lost() {
                self.dropped.push_back(DroppedFrame {
                    at: sent_at,
                    frame,
                    cause: DropCause::RandomLoss,
                });
            } else {
                self.wire.send(sent_at, frame);
            }
        }
    }

    fn pop_dropped(&mut self) -> Option<Event<P>> {
        let DroppedFrame { at, frame, cause } = self.dropped.pop_front()?;
        match cause {
            DropCause::QueueFull => self.counters.dropped_by_full_queue += 1,
            DropCause::ActiveQueueManagement => self.counters.dropped_by_active_queue_management += 1,
            DropCause::RandomLoss => self.counters.dropped_by_random_loss += 1,
            DropCause::RetryLimit => unreachable!("a wire does not try again"),
        }
        Some(Event::Dropped { at, frame, cause })
    }

    fn pop_delivered(&mut self, at: Instant) -> Option<Event<P>> {
        let frame = self.wire.receive()?;
        self.counters.delivered += 1;
        self.counters.bytes_delivered += frame.size;
        Some(Event::Delivered { at, frame })
    }

    /// The next event at or before `now`, among frames that have left the queue.
    fn next_event(&mut self, now: Instant) -> Option<Event<P>> {
        let lost_at = self.dropped.front().map(|lost| lost.at);
        let arrives_at = self.wire.next_at();
        match (lost_at, arrives_at) {
            (Some(lost), Some(arrives)) if lost <= arrives && lost <= now => self.pop_dropped(),
            (Some(lost), None) if lost <= now => self.pop_dropped(),
            (_, Some(arrives)) if arrives <= now => self.pop_delivered(arrives),
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
        let lost = self.dropped.front().map(|lost| lost.at);
        // An event that is overdue, because frames were offered without polling, is due now.
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

    fn counters(&self) -> Counters {
        let in_flight = (self.queue.len() + self.wire.len() + self.dropped.len()) as u64;
        Counters {
            in_flight,
            ..self.counters
        }
    }

    fn longest_queue(&self) -> u64 {
        self.longest_queue
    }

    fn queue_length(&self) -> u64 {
        self.queue.len() as u64
    }
}

#[cfg(test)]
mod tests;
