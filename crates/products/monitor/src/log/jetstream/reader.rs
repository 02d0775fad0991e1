//! Pages and audits, from the stream's messages.

use super::state::{Committed, Hole};
use super::store::Store;
use crate::log::audit::{Audit, Auditor};
use crate::log::page::{Entry, PAGE_BYTES, Page};
use futures_util::future::try_join_all;
use std::cell::RefCell;
use std::rc::Rc;

/// How many messages are asked for at a time: our own choice.
const AT_A_TIME: u64 = 16;

#[derive(Clone)]
pub(super) struct Reader {
    pub(super) store: Rc<Store>,
    pub(super) committed: Rc<RefCell<Committed>>,
}

impl Reader {
    pub(super) async fn page(&self, from: u64) -> Result<Page, String> {
        let (start, end, last) = {
            let state = &self.committed.borrow().state;
            (state.start, state.ledger.next_position, state.sequence)
        };
        let mut page = Page::new(from.max(start));
        if page.next >= end {
            return Ok(page);
        }
        let (mut sequence, mut bytes) = (self.sequence_of(page.next).await?, 0);
        while page.next < end && bytes < PAGE_BYTES && sequence <= last {
            let several = sequence..=last.min(sequence + AT_A_TIME - 1);
            sequence += AT_A_TIME;
            let messages = try_join_all(several.map(|sequence| self.store.get(sequence))).await?;
            for message in messages.into_iter().flatten() {
                if message.end() <= page.next || bytes >= PAGE_BYTES {
                    continue;
                }
                if message.position > page.next {
                    self.put_missing(&mut page, message.position.min(end));
                }
                page.next = message.end();
                let position = message.position;
                page.entries.push(match message.chunk {
                    Ok(chunk) => {
                        bytes += chunk.bytes().len();
                        Entry::Chunk { position, chunk }
                    }
                    Err(what) => Entry::Damaged {
                        position,
                        end: page.next,
                        what,
                    },
                });
            }
        }
        if page.next < end && bytes < PAGE_BYTES {
            self.put_missing(&mut page, end);
        }
        Ok(page)
    }

    /// Names what is missing from the page's end to `end`.
    fn put_missing(&self, page: &mut Page, end: u64) {
        let position = page.next;
        let is_this = |hole: &&Hole| hole.position <= position && end <= hole.end;
        let holes = &self.committed.borrow().state.holes;
        let known = holes.iter().find(is_this).map(|hole| hole.what.clone());
        let what = known.unwrap_or_else(|| {
            let count = end - position;
            format!("the stream has no message with the {count} events from position {position} on")
        });
        page.entries.push(Entry::Damaged { position, end, what });
        page.next = end;
    }

    /// The sequence of the last message that begins at a position or before it.
    async fn sequence_of(&self, position: u64) -> Result<u64, String> {
        let mut high = match self.committed.borrow().sequence_of(position) {
            Ok(sequence) => return Ok(sequence),
            Err(before) => before,
        };
        let mut low = self.store.extent().await?.first.max(1);
        while high > low + 1 {
            let middle = low + (high - low) / 2;
            match self.store.next(middle).await? {
                Some(message) if message.sequence < high && message.position <= position => low = message.sequence,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    pub(super) async fn audit(&self) -> Result<Audit, String> {
        loop {
            let state = self.committed.borrow().state.clone();
            let mut auditor = Auditor::new((state.start, state.ledger.next_position));
            while let Some(position) = auditor.next() {
                auditor.check(self.page(position).await?);
            }
            // Where events were deleted meanwhile, what they were is not known: again.
            if self.committed.borrow().state.start == state.start {
                return Ok(auditor.finish(state.ledger, state.deletions));
            }
        }
    }
}
