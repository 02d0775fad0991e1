//! What a log's writer tells all who use the log: the chunks that were committed last, the accounts, the epochs and the end.

use super::end::LogEnd;
use super::epochs::Epochs;
use super::page::Page;
use super::tail::Tail;
use super::{LogError, Resumption};
use crate::cursor::Cursor;
use crate::ledger::{Ledger, SourceAccount};
use lastmile_events::{Chunk, Source};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// A log as it is committed.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) end: LogEnd,
    latest: Mutex<Latest>,
}

#[derive(Debug)]
struct Latest {
    tail: Tail,
    accounts: BTreeMap<Source, SourceAccount>,
    epochs: Epochs,
}

impl Shared {
    /// What is known of a log that was opened. So many bytes of chunks are kept in memory for those who read its end.
    pub(super) fn new(ledger: &Ledger, epochs: Epochs, tail_bytes: usize) -> Self {
        Self {
            end: LogEnd::new(ledger.next_position),
            latest: Mutex::new(Latest::new(ledger, epochs, tail_bytes)),
        }
    }

    fn latest(&self) -> MutexGuard<'_, Latest> {
        self.latest.lock().expect("no thread panics with it")
    }

    /// Adds chunks that were committed, each with its position. They are read at once; whoever waits for the end is told when that moves.
    pub(super) fn add(&self, chunks: impl IntoIterator<Item = (u64, Chunk)>, ledger: &Ledger) {
        let mut latest = self.latest();
        for (position, chunk) in chunks {
            let source = chunk.source();
            latest.accounts.insert(source.clone(), ledger.sources[source].clone());
            latest.tail.push(position, chunk);
        }
    }

    /// Forgets the chunks that end at a position or before.
    pub(super) fn release(&self, before: u64) {
        self.latest().tail.release(before);
    }

    /// The first position that is in memory.
    pub(super) fn tail_start(&self) -> u64 {
        self.latest().tail.start()
    }

    /// Begins anew with a log that was found again.
    #[cfg(feature = "nats")]
    pub(super) fn replace(&self, ledger: &Ledger, epochs: Epochs, tail_bytes: usize) {
        *self.latest() = Latest::new(ledger, epochs, tail_bytes);
        self.end.move_to(ledger.next_position);
    }

    /// The page from here on, where memory has it.
    pub(super) fn page(&self, from: u64) -> Option<Page> {
        self.latest().tail.page(from)
    }

    pub(super) fn accounts(&self) -> Vec<(Source, SourceAccount)> {
        self.latest().accounts.clone().into_iter().collect()
    }

    pub(super) fn epoch(&self) -> u64 {
        self.latest().epochs.present()
    }

    pub(super) fn resume(&self, cursor: Cursor) -> Result<Resumption, LogError> {
        self.latest().epochs.resume(cursor, self.end.position())
    }
}

impl Latest {
    fn new(ledger: &Ledger, epochs: Epochs, tail_bytes: usize) -> Self {
        Self {
            tail: Tail::new(ledger.next_position, tail_bytes),
            accounts: ledger.sources.clone(),
            epochs,
        }
    }
}
