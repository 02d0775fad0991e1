//! Reassembles the received stream: data in order for the program, and data after holes.

use bytes::{Buf, Bytes};
use std::collections::{BTreeMap, VecDeque};

/// The receiving half's data, by stream offset: read from the front, filled by segments in any order.
#[derive(Debug)]
pub(super) struct Reassembly {
    /// In order, not yet read.
    ready: VecDeque<Bytes>,
    pub(super) ready_bytes: u64,
    /// The next offset expected (RCV.NXT).
    pub(super) next: u64,
    /// Segments after a hole, by their first offset; they may overlap.
    beyond: BTreeMap<u64, Bytes>,
    /// The ranges that `beyond` covers, the most recently grown first (RFC 2018 section 4).
    pub(super) ranges: Vec<(u64, u64)>,
    /// The range of the last payload that had arrived before (RFC 2883 section 4), if any.
    pub(super) repeated: Option<(u64, u64)>,
}

/// What the payload of a segment added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It was next in order, and nothing waited after it.
    InOrder,
    /// It filled a hole, completely or in part.
    FilledHole,
    /// It is after a hole.
    OutOfOrder,
    /// All of it had arrived before.
    Duplicate,
}

impl Reassembly {
    pub(super) const fn new(next: u64) -> Self {
        Self {
            ready: VecDeque::new(),
            ready_bytes: 0,
            next,
            beyond: BTreeMap::new(),
            ranges: Vec::new(),
            repeated: None,
        }
    }

    /// The bytes in the buffer: unread data, and data after a hole.
    pub(super) fn held_bytes(&self) -> u64 {
        self.ready_bytes + self.ranges.iter().map(|(start, end)| end - start).sum::<u64>()
    }

    /// How far the furthest arrived byte is beyond the next offset expected.
    pub(super) fn reach(&self) -> u64 {
        let furthest = self.ranges.iter().map(|(_, end)| *end).max();
        furthest.map_or(0, |end| end - self.next)
    }

    /// Whether `start..end` touches neither of the two most recently grown ranges, where there are two.
    pub(super) fn is_apart(&self, start: u64, end: u64) -> bool {
        let newest = self.ranges.iter().take(2);
        newest.len() == 2 && newest.into_iter().all(|(from, to)| end < *from || *to < start)
    }

    /// Inserts a payload whose first byte is at `offset`.
    pub(super) fn insert(&mut self, offset: u64, mut payload: Bytes) -> Arrival {
        let end = offset + payload.len() as u64;
        self.repeated = (offset < self.next).then_some((offset, end.min(self.next)));
        if end <= self.next {
            return Arrival::Duplicate;
        }
        if offset > self.next {
            return self.insert_beyond(offset, end, payload);
        }
        payload.advance((self.next - offset) as usize);
        self.append(payload);
        if self.ranges.is_empty() {
            return Arrival::InOrder;
        }
        while let Some(entry) = self.beyond.first_entry() {
            if *entry.key() > self.next {
                break;
            }
            let (at, mut piece) = entry.remove_entry();
            let known = (self.next - at) as usize;
            if known < piece.len() {
                piece.advance(known);
                self.append(piece);
            }
        }
        self.ranges.retain(|(_, end)| *end > self.next);
        Arrival::FilledHole
    }

    fn append(&mut self, piece: Bytes) {
        self.next += piece.len() as u64;
        self.ready_bytes += piece.len() as u64;
        self.ready.push_back(piece);
    }

    fn insert_beyond(&mut self, offset: u64, end: u64, payload: Bytes) -> Arrival {
        let overlap = self.ranges.iter().find(|(from, to)| *from < end && offset < *to);
        self.repeated = overlap.map(|(from, to)| (offset.max(*from), end.min(*to)));
        if self.ranges.iter().any(|(from, to)| *from <= offset && end <= *to) {
            return Arrival::Duplicate;
        }
        let mut grown = (offset, end);
        self.ranges.retain(|&(from, to)| {
            let apart = to < grown.0 || grown.1 < from;
            if !apart {
                grown = (grown.0.min(from), grown.1.max(to));
            }
            apart
        });
        self.ranges.insert(0, grown);
        let kept = self.beyond.entry(offset).or_default();
        if kept.len() < payload.len() {
            *kept = payload;
        }
        Arrival::OutOfOrder
    }

    /// Moves the data in order into `to`; returns how much.
    pub(super) fn read(&mut self, to: &mut [u8]) -> usize {
        let mut filled = 0;
        while filled < to.len() {
            let Some(piece) = self.ready.front_mut() else { break };
            let taken = piece.len().min(to.len() - filled);
            to[filled..filled + taken].copy_from_slice(&piece[..taken]);
            piece.advance(taken);
            if piece.is_empty() {
                self.ready.pop_front();
            }
            filled += taken;
        }
        self.ready_bytes -= filled as u64;
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(start: u64, end: u64) -> Bytes {
        (start..end).map(|offset| offset as u8).collect()
    }

    #[test]
    fn a_range_is_apart_that_touches_neither_of_the_two_newest() {
        let mut reassembly = Reassembly::new(0);
        reassembly.insert(10, piece(10, 20));
        assert!(!reassembly.is_apart(70, 80), "one range is not in the way");
        reassembly.insert(30, piece(30, 40));
        reassembly.insert(50, piece(50, 60));
        // The newest are those at 50 and 30.
        assert!(reassembly.is_apart(70, 80) && reassembly.is_apart(20, 25));
        assert!(!reassembly.is_apart(60, 70) && !reassembly.is_apart(20, 30));
    }

    #[test]
    fn ranges_beyond_a_hole_merge_and_the_newest_stands_first() {
        let mut reassembly = Reassembly::new(0);
        assert_eq!(reassembly.insert(10, piece(10, 20)), Arrival::OutOfOrder);
        assert_eq!(reassembly.insert(30, piece(30, 40)), Arrival::OutOfOrder);
        assert_eq!(reassembly.ranges, [(30, 40), (10, 20)]);
        assert_eq!(reassembly.insert(20, piece(20, 30)), Arrival::OutOfOrder);
        assert_eq!(reassembly.ranges, [(10, 40)]);
        assert_eq!(reassembly.insert(0, piece(0, 10)), Arrival::FilledHole);
        assert_eq!((reassembly.next, reassembly.ranges.len()), (40, 0));
        assert_eq!(reassembly.insert(5, piece(5, 15)), Arrival::Duplicate);
    }

    #[test]
    fn of_what_comes_again_the_range_is_known() {
        let mut reassembly = Reassembly::new(0);
        let mut repeated = |start, end| {
            reassembly.insert(start, piece(start, end));
            reassembly.repeated
        };
        assert_eq!(repeated(0, 10), None);
        assert_eq!(repeated(0, 10), Some((0, 10)));
        assert_eq!(repeated(5, 15), Some((5, 10)));
        assert_eq!(repeated(20, 30), None);
        assert_eq!(repeated(22, 26), Some((22, 26)));
        assert_eq!(repeated(25, 35), Some((25, 30)));
    }

    proptest! {
        #[test]
        fn the_stream_is_whole_whatever_the_order_and_overlap(pieces in prop::collection::vec((0u64..200, 1u64..40), 1..60)) {
            let mut reassembly = Reassembly::new(0);
            for (start, length) in pieces {
                reassembly.insert(start, piece(start, start + length));
            }
            for start in (0..240).step_by(10) {
                reassembly.insert(start, piece(start, start + 10));
            }
            let mut read = vec![0; 300];
            let length = reassembly.read(&mut read);
            prop_assert_eq!(length, 240);
            prop_assert_eq!(&read[..240], &piece(0, 240)[..]);
            prop_assert!(reassembly.ranges.is_empty());
        }
    }
}
