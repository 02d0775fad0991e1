//! The scoreboard of outstanding segments, with the state of each.

use lastmile_units::Instant;
use std::collections::VecDeque;

/// A segment that was sent and is not yet acknowledged cumulatively. Offsets are the stream's.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sent {
    pub(super) start: u64,
    pub(super) end: u64,
    /// When it was last sent.
    pub(super) at: Instant,
    pub(super) retransmitted: bool,
    /// The receiver has it, out of order.
    pub(super) sacked: bool,
    /// It is thought lost.
    pub(super) lost: bool,
    /// A copy sent since is thought to be in flight.
    pub(super) resent: bool,
}

impl Sent {
    /// Whether it is lost, and no copy of it in flight.
    const fn waits(&self) -> bool {
        self.lost && !self.resent
    }
}

/// The assessment of an outstanding segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is lost.
    Lost,
    /// It may be late.
    Waits,
    /// Nothing sent after it has arrived: nothing is known.
    SentLater,
}

/// The outstanding segments in stream order, with the counts of RFC 6675's pipe algorithm kept up to date.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    segments: VecDeque<Sent>,
    sacked: u32,
    lost: u32,
    resent: u32,
    /// Lost, and no copy in flight.
    waiting: u32,
    /// No segment before this offset waits to be resent.
    resend_from: u64,
    /// The last blocks processed, so that what they covered is not walked again.
    taken: [(u64, u64); 3],
    /// One past the highest offset known to have arrived out of order.
    highest_sacked: u64,
    /// One past the highest offset that was resent.
    highest_resent: u64,
}

impl Scoreboard {
    pub(super) fn push(&mut self, start: u64, end: u64, at: Instant) {
        self.segments.push_back(Sent {
            start,
            end,
            at,
            ..Sent::default()
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    pub(super) fn head(&self) -> Option<&Sent> {
        self.segments.front()
    }

    pub(super) fn outstanding(&self) -> u32 {
        self.segments.len() as u32
    }

    /// Segments thought to be in flight: outstanding, less those that arrived or were lost, plus those resent.
    pub(super) fn in_flight(&self) -> u32 {
        self.outstanding() - self.sacked - self.lost + self.resent
    }

    pub(super) const fn sacked(&self) -> u32 {
        self.sacked
    }

    pub(super) const fn lost(&self) -> u32 {
        self.lost
    }

    /// Segments with a copy that is thought to be in flight.
    pub(super) const fn resent(&self) -> u32 {
        self.resent
    }

    /// Whether the first segment was sent more than once.
    pub(super) fn has_resent_head(&self) -> bool {
        self.head().is_some_and(|head| head.retransmitted)
    }

    /// The number of outstanding segments in `start..end` that were sent more than once.
    pub(super) fn retransmitted_within(&self, start: u64, end: u64) -> u32 {
        let first = self.segments.partition_point(|sent| sent.start < start);
        let within = self.segments.range(first..).take_while(|sent| sent.end <= end);
        within.filter(|sent| sent.retransmitted).count() as u32
    }

    /// How many segments lie from `start` to the last that arrived out of order.
    pub(super) fn distance_to_highest_sacked(&self, start: u64) -> u32 {
        let first = self.segments.partition_point(|sent| sent.end <= start);
        let last = self.segments.partition_point(|sent| sent.start < self.highest_sacked);
        last.saturating_sub(first) as u32
    }

    pub(super) const fn highest_sacked(&self) -> u64 {
        self.highest_sacked
    }

    /// Removes everything before `offset`; reports the last state of each segment.
    pub(super) fn acknowledge(&mut self, offset: u64, mut on_segment: impl FnMut(&Sent)) {
        while let Some(head) = self.segments.front_mut() {
            if head.end > offset {
                // A part of the head has arrived: the rest is a shorter segment.
                head.start = head.start.max(offset);
                break;
            }
            on_segment(head);
            self.sacked -= u32::from(head.sacked);
            self.lost -= u32::from(head.lost);
            self.resent -= u32::from(head.resent);
            self.waiting -= u32::from(head.waits());
            self.segments.pop_front();
        }
    }

    /// Marks the segments that the selective acknowledgement `blocks` cover; reports each that is newly known to have arrived.
    pub(super) fn select(&mut self, blocks: &[(u64, u64)], mut on_segment: impl FnMut(&Sent)) {
        for &(start, end) in blocks {
            let known = self
                .taken
                .iter()
                .find(|(from, to)| *from <= start && start < *to && *to <= end);
            let from = known.map_or(start, |(_, to)| *to);
            let first = self.segments.partition_point(|sent| sent.start < from);
            for sent in self.segments.range_mut(first..) {
                if sent.end > end {
                    break;
                }
                if sent.sacked {
                    continue;
                }
                on_segment(sent);
                self.lost -= u32::from(sent.lost);
                self.resent -= u32::from(sent.resent);
                self.waiting -= u32::from(sent.waits());
                (sent.lost, sent.resent, sent.sacked) = (false, false, true);
                self.sacked += 1;
                self.highest_sacked = self.highest_sacked.max(sent.end);
            }
        }
        for (kept, block) in self.taken.iter_mut().zip(blocks) {
            *kept = *block;
        }
    }

    /// Asks `judge` about every segment that has neither arrived nor is known lost, in stream order, as far as needed; returns
    /// how many were found lost.
    pub(super) fn find_lost(&mut self, mut judge: impl FnMut(&Sent) -> Verdict) -> u32 {
        let mut found = 0;
        for sent in &mut self.segments {
            if sent.sacked || sent.waits() {
                continue;
            }
            match judge(sent) {
                Verdict::Lost => {
                    found += 1;
                    self.lost += u32::from(!sent.lost);
                    self.resent -= u32::from(sent.resent);
                    self.waiting += 1;
                    (sent.lost, sent.resent) = (true, false);
                    self.resend_from = self.resend_from.min(sent.start);
                }
                // The following segments, never resent, were sent later still.
                Verdict::SentLater if !sent.retransmitted && sent.start >= self.highest_resent => break,
                Verdict::SentLater | Verdict::Waits => {}
            }
        }
        found
    }

    /// The first segment that is lost and not yet resent.
    pub(super) fn next_to_resend(&mut self) -> Option<&Sent> {
        if self.waiting == 0 {
            return None;
        }
        let first = self.segments.partition_point(|sent| sent.end <= self.resend_from);
        let at = (first..self.segments.len()).find(|&at| self.segments[at].waits())?;
        self.resend_from = self.segments[at].start;
        Some(&self.segments[at])
    }

    /// Notes that the segment starting at `start` was sent again.
    pub(super) fn resend(&mut self, start: u64, at: Instant) {
        let index = self.segments.partition_point(|sent| sent.start < start);
        let sent = &mut self.segments[index];
        assert!(sent.start == start && sent.waits(), "a lost segment is resent");
        (sent.at, sent.retransmitted, sent.resent) = (at, true, true);
        self.resent += 1;
        self.waiting -= 1;
        self.highest_resent = self.highest_resent.max(sent.end);
    }

    /// Where the last segment starts and ends.
    pub(super) fn last_range(&self) -> Option<(u64, u64)> {
        self.segments.back().map(|last| (last.start, last.end))
    }

    /// Notes that the last segment was sent again as a probe, lost or not: it is not counted twice.
    pub(super) fn repeat_last(&mut self, at: Instant) {
        if let Some(last) = self.segments.back_mut() {
            (last.at, last.retransmitted) = (at, true);
            self.highest_resent = self.highest_resent.max(last.end);
        }
    }

    /// Clears all loss marks. Resent segments are still in flight.
    pub(super) fn clear_lost_marks(&mut self) {
        for sent in &mut self.segments {
            sent.lost = false;
        }
        (self.lost, self.waiting) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for index in 0..segments {
            board.push(index * 10, index * 10 + 10, Instant::from_nanos(index));
        }
        board
    }

    #[test]
    fn what_arrived_out_of_order_or_was_lost_is_not_in_flight() {
        let mut board = board(10);
        let mut arrived = Vec::new();
        board.select(&[(50, 70)], |sent| arrived.push(sent.start));
        assert_eq!(arrived, [50, 60]);
        assert_eq!(
            board.find_lost(|sent| if sent.start < 20 {
                Verdict::Lost
            } else {
                Verdict::SentLater
            }),
            2
        );
        assert_eq!(board.in_flight(), 6);
        assert_eq!(board.next_to_resend().map(|sent| sent.start), Some(0));
        board.resend(0, Instant::from_nanos(100));
        assert_eq!(board.in_flight(), 7);
        assert_eq!(board.next_to_resend().map(|sent| sent.start), Some(10));
        board.acknowledge(100, |_| ());
        assert_eq!((board.outstanding(), board.in_flight()), (0, 0));
    }

    #[test]
    fn a_block_that_grows_tells_only_of_what_is_new() {
        let mut board = board(10);
        board.select(&[(30, 50)], |_| ());
        let mut arrived = Vec::new();
        board.select(&[(30, 70), (90, 100)], |sent| arrived.push(sent.start));
        assert_eq!(arrived, [50, 60, 90]);
        assert_eq!((board.sacked(), board.highest_sacked()), (5, 100));
    }

    #[test]
    fn an_acknowledgement_inside_a_segment_shortens_it() {
        let mut board = board(2);
        board.acknowledge(4, |_| panic!("no whole segment has arrived"));
        assert_eq!(board.head().map(|sent| (sent.start, sent.end)), Some((4, 10)));
    }
}
