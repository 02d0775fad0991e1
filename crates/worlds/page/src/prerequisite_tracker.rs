//! Tells which requests of a page can be made when a part of a resource has arrived.

use crate::dependencies::{Extent, Prerequisite};
use lastmile_units::ByteCount;

/// What waits for parts of resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Waiter {
    /// A request, by its index.
    Request(usize),
    /// The document's body begins.
    Body,
}

/// The prerequisites of a page that are not met.
#[derive(Debug)]
pub(crate) struct PrerequisiteTracker {
    /// How many each request waits for; the body's number stands behind them.
    unmet: Vec<usize>,
    /// For each resource, what waits for which part of it, the least part last.
    waiting: Vec<Vec<(Extent, Waiter)>>,
}

impl PrerequisiteTracker {
    /// Gives the tracker, and what waits for nothing.
    pub(crate) fn new<'a>(
        requests: impl ExactSizeIterator<Item = &'a [Prerequisite]>,
        body: &'a [Prerequisite],
    ) -> (Self, Vec<Waiter>) {
        let count = requests.len();
        let mut waiting = vec![Vec::new(); count];
        let mut unmet = Vec::with_capacity(count + 1);
        let waiters = (0..count).map(Waiter::Request).chain([Waiter::Body]);
        let mut free = Vec::new();
        for (waiter, prerequisites) in waiters.zip(requests.chain([body])) {
            for Prerequisite { item, extent } in prerequisites {
                waiting[*item].push((*extent, waiter));
            }
            if prerequisites.is_empty() {
                free.push(waiter);
            }
            unmet.push(prerequisites.len());
        }
        for parts in &mut waiting {
            parts.sort_by(|a, b| b.cmp(a));
        }
        (Self { unmet, waiting }, free)
    }

    /// These bytes of a resource have been decoded; gives what need not wait any longer.
    pub(crate) fn decoded(&mut self, item: usize, bytes: ByteCount) -> Vec<Waiter> {
        self.met(item, Extent::Beginning(bytes))
    }

    /// All of a resource has been decoded; gives what need not wait any longer.
    pub(crate) fn ended(&mut self, item: usize) -> Vec<Waiter> {
        self.met(item, Extent::Whole)
    }

    fn met(&mut self, item: usize, arrived: Extent) -> Vec<Waiter> {
        let mut free = Vec::new();
        while let Some((extent, waiter)) = self.waiting[item].last().copied()
            && extent <= arrived
        {
            self.waiting[item].pop();
            let body = self.unmet.len() - 1;
            let unmet = &mut self.unmet[match waiter {
                Waiter::Request(request) => request,
                Waiter::Body => body,
            }];
            *unmet -= 1;
            if *unmet == 0 {
                free.push(waiter);
            }
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_free_when_every_part_that_it_waits_for_has_arrived() {
        let part = |item, bytes| Prerequisite {
            item,
            extent: Extent::Beginning(ByteCount::new(bytes)),
        };
        let whole = |item| Prerequisite {
            item,
            extent: Extent::Whole,
        };
        let requests: [&[Prerequisite]; 4] = [&[], &[part(0, 10)], &[part(0, 20), whole(1)], &[whole(0)]];
        let (mut tracker, free) = PrerequisiteTracker::new(requests.into_iter(), &[part(0, 15)]);
        assert_eq!(free, [Waiter::Request(0)]);
        assert_eq!(tracker.decoded(0, ByteCount::new(9)), []);
        assert_eq!(
            tracker.decoded(0, ByteCount::new(15)),
            [Waiter::Request(1), Waiter::Body]
        );
        assert_eq!(tracker.ended(1), []);
        assert_eq!(tracker.ended(0), [Waiter::Request(2), Waiter::Request(3)]);
    }
}
