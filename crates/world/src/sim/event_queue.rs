//! The event queue of a simulated world: timers, media and deadlines in the order of time.

use super::socket::SocketId;
use crate::topology::MediumId;
use lastmile_units::Instant;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::task::Waker;

/// The pending events, in the order of time; at one instant, in the order in which they were added.
#[derive(Default)]
pub(super) struct EventQueue {
    entries: BinaryHeap<Entry>,
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

impl EventQueue {
    pub(super) fn put(&mut self, at: Instant, due: Event) {
        self.pushed += 1;
        self.entries.push(Entry {
            at,
            order: self.pushed,
            due,
        });
    }

    pub(super) fn next_at(&self) -> Option<Instant> {
        self.entries.peek().map(|entry| entry.at)
    }

    pub(super) fn pop(&mut self) -> Option<(Instant, Event)> {
        self.entries.pop().map(|entry| (entry.at, entry.due))
    }
}

impl Ord for Entry {
    /// The heap pops its largest entry first, so the earliest entry is the largest, and of those the first that was added.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}
