//! The requests that are not begun: those that will be due, and those that wait for a connection.

use super::Request;
use lastmile_units::Instant;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::time::Duration;

/// Requests with a time at which they may start, earliest first.
#[derive(Debug, Default)]
pub(super) struct DueRequests {
    order: BinaryHeap<Reverse<(Instant, u64)>>,
    requests: BTreeMap<u64, Request>,
    next: u64,
}

impl DueRequests {
    pub(super) fn push(&mut self, request: Request) {
        self.order.push(Reverse((request.released, self.next)));
        self.requests.insert(self.next, request);
        self.next += 1;
    }

    pub(super) fn next_at(&self) -> Option<Instant> {
        self.order.peek().map(|Reverse((at, _))| *at)
    }

    pub(super) fn pop(&mut self) -> Option<Request> {
        let Reverse((_, number)) = self.order.pop()?;
        self.requests.remove(&number)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Removes all, and returns how many there were.
    pub(super) fn drain(&mut self) -> u64 {
        let count = self.order.len() as u64;
        self.order.clear();
        self.requests.clear();
        count
    }
}

/// Requests that wait for a connection of their client, first come first served.
#[derive(Debug)]
pub(super) struct LocalQueues {
    /// Each with its number, by client.
    queues: Vec<VecDeque<(u64, Request)>>,
    /// All of them in the order of release; one whose number is not in front of its queue has left it.
    order: VecDeque<(Instant, u32, u64)>,
    next: u64,
    waiting: u64,
}

impl LocalQueues {
    pub(super) fn new(clients: u32) -> Self {
        Self {
            queues: vec![VecDeque::new(); clients as usize],
            order: VecDeque::new(),
            next: 0,
            waiting: 0,
        }
    }

    pub(super) fn push(&mut self, request: Request) {
        self.queues[request.client as usize].push_back((self.next, request));
        self.order.push_back((request.released, request.client, self.next));
        self.next += 1;
        self.waiting += 1;
    }

    /// Whether a request of a client waits.
    pub(super) fn has(&self, client: u32) -> bool {
        !self.queues[client as usize].is_empty()
    }

    pub(super) fn pop(&mut self, client: u32) -> Option<Request> {
        let (_, request) = self.queues[client as usize].pop_front()?;
        self.waiting -= 1;
        self.forget_departed();
        Some(request)
    }

    /// The next request whose timeout is over.
    pub(super) fn pop_expired(&mut self, now: Instant, timeout: Duration) -> Option<Request> {
        self.forget_departed();
        let (released, client, _) = *self.order.front()?;
        (released + timeout <= now).then(|| self.pop(client)).flatten()
    }

    pub(super) fn next_timeout(&self, timeout: Duration) -> Option<Instant> {
        self.order.front().map(|(released, ..)| *released + timeout)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Removes all, and returns how many there were.
    pub(super) fn drain(&mut self) -> u64 {
        let count = self.waiting;
        self.queues.iter_mut().for_each(VecDeque::clear);
        self.order.clear();
        self.waiting = 0;
        count
    }

    fn forget_departed(&mut self) {
        while let Some((_, client, number)) = self.order.front() {
            let waits = self.queues[*client as usize]
                .front()
                .is_some_and(|(first, _)| first <= number);
            if waits {
                break;
            }
            self.order.pop_front();
        }
    }
}
