//! The event queue of a simulated world: timers, media and deadlines in the order of time.
//!
//! Most events are due within milliseconds, while each connection that has ended leaves a deadline a minute ahead. The near ones are in a
//! heap; the far ones wait unsorted in a compartment for each stretch of time, and come into the heap when their stretch begins. So the
//! heap stays small, and the order is the same as that of one heap.

use super::socket::SocketId;
use crate::topology::id::MediumId;
use lastmile_units::Instant;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::task::Waker;

/// The pending events, in the order of time; at one instant, in the order in which they were added.
#[derive(Default)]
pub(super) struct EventQueue {
    /// Those of stretches that have begun.
    near: BinaryHeap<Entry>,
    /// Those of later stretches, by the number of the stretch.
    far: BTreeMap<u64, Vec<Entry>>,
    /// The first stretch whose events are not in `near`.
    first_far: u64,
    /// Empty compartments for reuse.
    spare: Vec<Vec<Entry>>,
    pushed: u64,
}

/// An event.
pub(super) enum Event {
    /// A program's sleep ends.
    Wake(Waker),
    /// A medium has to be polled.
    Medium(MediumId),
    /// A connection's deadline may have come.
    Socket(SocketId),
}

struct Entry {
    at: Instant,
    order: u64,
    due: Event,
}

/// A stretch lasts 2 to this power of nanoseconds, 16.8 ms. Our own choice: long beside a frame, short beside a timeout.
const STRETCH_BITS: u32 = 24;
/// The most compartments that are kept for reuse. Our own choice.
const SPARE_MAX: usize = 64;

const fn stretch_of(at: Instant) -> u64 {
    at.as_nanos() >> STRETCH_BITS
}

impl EventQueue {
    pub(super) fn put(&mut self, at: Instant, due: Event) {
        self.pushed += 1;
        let entry = Entry {
            at,
            order: self.pushed,
            due,
        };
        let stretch = stretch_of(at);
        if stretch < self.first_far {
            self.near.push(entry);
            return;
        }
        let spare = &mut self.spare;
        let compartment = self.far.entry(stretch);
        compartment
            .or_insert_with(|| spare.pop().unwrap_or_default())
            .push(entry);
    }

    /// When the first event is due.
    pub(super) fn next_at(&mut self) -> Option<Instant> {
        if self.near.is_empty() {
            self.begin_next_stretch();
        }
        self.near.peek().map(|entry| entry.at)
    }

    pub(super) fn pop(&mut self) -> Option<(Instant, Event)> {
        if self.near.is_empty() {
            self.begin_next_stretch();
        }
        self.near.pop().map(|entry| (entry.at, entry.due))
    }

    /// Moves the events of the first stretch that has any into the heap.
    fn begin_next_stretch(&mut self) {
        let Some((stretch, mut compartment)) = self.far.pop_first() else {
            return;
        };
        self.first_far = stretch + 1;
        self.near.extend(compartment.drain(..));
        if self.spare.len() < SPARE_MAX {
            self.spare.push(compartment);
        }
    }
}

impl Ord for Entry {
    /// The heap pops its largest entry first, so the earliest entry is the largest, and of those the first that was added.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    // The heap's comparison: without a detour over an ordering.
    #[inline]
    fn le(&self, other: &Self) -> bool {
        self.at > other.at || (self.at == other.at && self.order >= other.order)
    }
}

impl PartialEq for Entry {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at && self.order == other.order
    }
}

impl Eq for Entry {}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_units::{Seed, random};

    fn medium(number: usize) -> Event {
        Event::Medium(MediumId(number))
    }

    fn number_of(event: &Event) -> usize {
        match event {
            Event::Medium(medium) => medium.0,
            Event::Wake(_) | Event::Socket(_) => unreachable!("the test puts media alone"),
        }
    }

    #[test]
    fn events_come_in_the_order_of_time_and_at_one_instant_in_that_of_their_addition() {
        const EVENTS: usize = 3000;
        let mut rng = Seed::new(4).rng();
        let (mut queue, mut expected) = (EventQueue::default(), Vec::new());
        let (mut popped, mut now) = (Vec::new(), 0);
        for number in 0..EVENTS {
            // Some at the same instant, some within a stretch, some a minute ahead.
            let ahead = [0, 7, 1_000_000, 60_000_000_000][random::below(&mut rng, 4)];
            let at = now + random::up_to(&mut rng, ahead);
            queue.put(Instant::from_nanos(at), medium(number));
            expected.push((at, number));
            if number % 3 == 0 {
                let next = queue.next_at().unwrap();
                let (at, event) = queue.pop().unwrap();
                assert!(at == next && at.as_nanos() >= now);
                now = at.as_nanos();
                popped.push((now, number_of(&event)));
            }
        }
        while let Some((at, event)) = queue.pop() {
            popped.push((at.as_nanos(), number_of(&event)));
        }
        // What is put never precedes what was popped, so the whole order is that of time and addition.
        expected.sort_unstable();
        assert_eq!(popped, expected);
        assert!(queue.next_at().is_none() && queue.pop().is_none());
    }
}
