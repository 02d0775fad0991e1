//! Reads the receiver's reports of duplicates (DSACK).

use super::Sender;
use crate::segment::SackBlocks;

/// Segments that arrived twice, as reported by one acknowledgement.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Duplicate {
    pub(super) segments: u32,
    /// It is the probe.
    pub(super) is_probe: bool,
}

impl Sender {
    /// Removes the report of a duplicate from the blocks of a segment that acknowledges `acknowledged`: the first block is one
    /// where it is before that, or within the second (RFC 2883 section 4). More duplicates than were resent are ignored, since
    /// the network made them.
    pub(super) fn take_duplicate(&mut self, sack: &SackBlocks, acknowledged: u64) -> Duplicate {
        let mut blocks = sack.as_slice().iter().map(|&(start, end)| {
            (
                self.numbering.to_offset(start, acknowledged),
                self.numbering.to_offset(end, acknowledged),
            )
        });
        let Some((start, end)) = blocks.next() else {
            return Duplicate::default();
        };
        let within_second = blocks.next().is_some_and(|(from, to)| from <= start && end <= to);
        if (start >= acknowledged && !within_second) || start >= end || end > self.next {
            return Duplicate::default();
        }
        let segments = (end - start).div_ceil(self.segment_size) as u32;
        self.duplicates += u64::from(segments);
        if self.duplicates > self.counters.retransmissions {
            return Duplicate::default();
        }
        let resent = if end <= self.acknowledged {
            segments
        } else {
            self.board.retransmitted_within(start, end)
        };
        self.recovery.on_duplicates(resent, end);
        Duplicate {
            segments,
            is_probe: segments == 1 && self.recovery.probe.end() == Some(end),
        }
    }
}
