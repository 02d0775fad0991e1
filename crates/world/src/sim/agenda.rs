//! What happens next, and when?

use super::socket::SocketId;
use lastmile_units::Instant;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::task::Waker;

/// Everything that is to happen, in the order of time; at one instant, in the order in which it was put down.
#[derive(Default)]
pub(super) struct Agenda {
    entries: BinaryHeap<Entry>,
    written: u64,
}

/// Something that is due.
pub(super) enum Due {
    /// A program's sleep ends.
    Wake(Waker),
    /// A medium has something to tell.
    Medium(usize),
    /// A connection's deadline may have come.
    Socket(SocketId),
}

struct Entry {
    at: Instant,
    order: u64,
    due: Due,
}

impl Agenda {
    pub(super) fn put(&mut self, at: Instant, due: Due) {
        self.written += 1;
        self.entries.push(Entry {
            at,
            order: self.written,
            due,
        });
    }

    pub(super) fn next_at(&self) -> Option<Instant> {
        self.entries.peek().map(|entry| entry.at)
    }

    pub(super) fn pop(&mut self) -> Option<(Instant, Due)> {
        self.entries.pop().map(|entry| (entry.at, entry.due))
    }
}

impl Ord for Entry {
    /// The heap gives its largest first: the earliest, and of those the first written, is made the largest.
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
