//! The chunks that were committed last, for those who read the log's end: all share the same bytes.

use super::page::{Entry, PAGE_BYTES, Page};
use lastmile_events::Chunk;
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct Tail {
    chunks: VecDeque<(u64, Chunk)>,
    end: u64,
    bytes: usize,
    most_bytes: usize,
}

impl Tail {
    pub(super) const fn new(end: u64, most_bytes: usize) -> Self {
        Self {
            chunks: VecDeque::new(),
            end,
            bytes: 0,
            most_bytes,
        }
    }

    pub(super) fn push(&mut self, position: u64, chunk: Chunk) {
        self.end = position + u64::from(chunk.event_count());
        self.bytes += chunk.bytes().len();
        self.chunks.push_back((position, chunk));
        while self.bytes > self.most_bytes {
            let Some((_, chunk)) = self.chunks.pop_front() else {
                return;
            };
            self.bytes -= chunk.bytes().len();
        }
    }

    /// Forgets the chunks that end at a position or before.
    pub(super) fn release(&mut self, before: u64) {
        while let Some((position, chunk)) = self.chunks.front()
            && position + u64::from(chunk.event_count()) <= before
        {
            self.bytes -= chunk.bytes().len();
            self.chunks.pop_front();
        }
    }

    /// The first position that memory has, or else the end.
    pub(super) fn start(&self) -> u64 {
        self.chunks.front().map_or(self.end, |(position, _)| *position)
    }

    /// The page from here on, where memory has it.
    pub(super) fn page(&self, from: u64) -> Option<Page> {
        let mut page = Page::new(from);
        if from >= self.end {
            return Some(page);
        }
        let start = self
            .chunks
            .partition_point(|(position, _)| *position <= from)
            .checked_sub(1)?;
        let mut bytes = 0;
        for (position, chunk) in self.chunks.range(start..) {
            bytes += chunk.bytes().len();
            page.next = position + u64::from(chunk.event_count());
            page.entries.push(Entry::Chunk {
                position: *position,
                chunk: chunk.clone(),
            });
            if bytes >= PAGE_BYTES {
                break;
            }
        }
        Some(page)
    }
}
