//! Maps 32-bit sequence numbers to positions in a stream across wraps, and records which bytes of it were seen.

use std::collections::BTreeMap;

/// Maps a direction's sequence numbers to 64-bit positions, which do not wrap.
///
/// A number is mapped to the position nearest to the newest seen, as RFC 9293 section 3.4 compares numbers: within 2^31 bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SequenceUnwrapper {
    newest: Option<i64>,
}

impl SequenceUnwrapper {
    /// The position of a sequence number. The first is in the second 2^32, so that there is room before it.
    pub(crate) fn unwrap_number(self, sequence: u32) -> i64 {
        match self.newest {
            None => i64::from(sequence) + (1 << 32),
            Some(newest) => newest + i64::from(sequence.wrapping_sub(newest as u32) as i32),
        }
    }

    /// The end of the furthest byte seen.
    pub(crate) fn newest(self) -> Option<i64> {
        self.newest
    }

    pub(crate) fn advance(&mut self, to: i64) {
        self.newest = Some(self.newest.map_or(to, |newest| newest.max(to)));
    }
}

/// The most islands that are kept: our own choice. Only a capture that misses packets, and sees no acknowledgements, has more.
const ISLANDS_MAX: usize = 4096;

/// The bytes of a stream that were seen: everything from `from` to `until`, and islands after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SeenRanges {
    main: Option<(i64, i64)>,
    /// Beginning and end; they neither overlap nor touch.
    islands: BTreeMap<i64, i64>,
}

impl SeenRanges {
    /// Adds bytes; returns how many of them had been seen before.
    pub(crate) fn add(&mut self, from: i64, until: i64) -> i64 {
        if from >= until {
            return 0;
        }
        let Some((first, end)) = self.main else {
            self.main = Some((from, until));
            return 0;
        };
        // Bytes before the first one seen are not tracked: they count as unseen.
        let mut again = (until.min(end) - from.max(first)).max(0);
        if from > end {
            again += self.add_island(from, until);
        } else if until > end {
            again += self.extend_main(until);
        }
        again
    }

    /// Everything up to `until` counts as seen: the other side has acknowledged it, captured or not.
    pub(crate) fn acknowledged(&mut self, until: i64) {
        if self.main.is_some_and(|(_, end)| until > end) {
            self.extend_main(until);
        }
    }

    /// Moves the end of the main part to `until`, merging the islands that it meets; returns how much of them it covers.
    fn extend_main(&mut self, until: i64) -> i64 {
        let (first, _) = self.main.unwrap_or((until, until));
        let (mut end, mut again) = (until, 0);
        while let Some(island) = self.islands.first_entry().filter(|island| *island.key() <= end) {
            let (from, to) = island.remove_entry();
            again += to.min(until) - from;
            end = end.max(to);
        }
        self.main = Some((first, end));
        again
    }

    fn add_island(&mut self, mut from: i64, mut until: i64) -> i64 {
        let mut again = 0;
        while let Some((&start, &end)) = self
            .islands
            .range(..=until)
            .next_back()
            .filter(|(_, end)| **end >= from)
        {
            again += (end.min(until) - start.max(from)).max(0);
            self.islands.remove(&start);
            (from, until) = (from.min(start), until.max(end));
        }
        self.islands.insert(from, until);
        if self.islands.len() > ISLANDS_MAX
            && let Some((_, end)) = self.islands.pop_first()
        {
            self.acknowledged(end);
        }
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_where_they_wrap() {
        let mut line = SequenceUnwrapper::default();
        let first = line.unwrap_number(u32::MAX - 9);
        line.advance(first);
        assert_eq!(line.unwrap_number(5), first + 15);
        line.advance(first + 15);
        assert_eq!(line.unwrap_number(u32::MAX), first + 9);
        for step in 1..=10_u32 {
            let next = line.unwrap_number(5_u32.wrapping_add(step.wrapping_mul(1 << 30)));
            assert_eq!(next, first + 15 + (i64::from(step) << 30));
            line.advance(next);
        }
    }

    #[test]
    fn bytes_that_come_again_are_counted_wherever_they_lie() {
        let mut seen = SeenRanges::default();
        assert_eq!(seen.add(100, 200), 0);
        assert_eq!(seen.add(150, 250), 50);
        assert_eq!(seen.add(300, 400), 0, "an island");
        assert_eq!(seen.add(500, 600), 0, "another");
        assert_eq!(seen.add(350, 550), 100, "both overlapped, and joined");
        assert_eq!(seen.add(260, 290), 0);
        assert_eq!(seen.add(240, 310), 10 + 30 + 10);
        assert_eq!(seen.main, Some((100, 600)));
        assert!(seen.islands.is_empty());
        assert_eq!(seen.add(50, 100), 0, "before the first");
    }

    #[test]
    fn what_is_acknowledged_is_taken_as_seen() {
        let mut seen = SeenRanges::default();
        seen.add(0, 10);
        seen.add(20, 30);
        seen.add(40, 50);
        seen.acknowledged(25);
        assert_eq!(seen.add(0, 30), 30);
        assert_eq!(seen.add(30, 40), 0);
    }

    #[test]
    fn holes_that_nobody_fills_take_no_memory_without_bound() {
        let mut seen = SeenRanges::default();
        for n in 0..100_000 {
            seen.add(n * 10, n * 10 + 5);
        }
        assert!(seen.islands.len() <= ISLANDS_MAX);
    }
}
