//! Logs of chunks, on a disk, with a NATS server, or in memory.
//!
//! What waits is committed together, and acknowledged after the commit. Readers see what is committed, never more. Methods return futures
//! that need no runtime.

mod audit;
mod database;
mod disk;
mod end;
mod epochs;
mod error;
#[cfg(feature = "nats")]
mod jetstream;
mod mark;
mod memory;
mod page;
pub(crate) mod private;
pub(crate) mod records;
mod reserve;
mod salvage;
mod shared;
mod store_url;
mod tail;
mod threaded;
mod uplink;
mod writer;

pub use audit::{Audit, SourceAudit};
pub use database::Deletion;
pub use error::LogError;
pub use memory::{CommitGroup, MemoryLog};
pub use page::{Entry, Page};
pub use salvage::{Salvage, salvage};
pub use store_url::StoreUrl;
pub use threaded::ThreadedLog;
pub use uplink::LogUplink;

use crate::cursor::Cursor;
use crate::filter::Filter;
use crate::ledger::SourceAccount;
use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, Source};
use shared::Shared;
use std::path::Path;
use std::time::Duration;

/// What a log may use.
#[derive(Debug, Clone, Copy)]
pub struct LogSettings {
    /// What an acknowledgement promises at least.
    pub durability: Durability,
    /// The most bytes of the database; beyond, chunks are answered with [`Reply::Full`].
    pub most_bytes: u64,
    /// The bytes of chunks that are kept in memory for those who read the end.
    pub tail_bytes: usize,
    /// What [`Log::expire`] deletes.
    pub retention: Retention,
    /// Whether room is kept on the disk, so that a log can delete, and use again what it deleted, on a disk that is full.
    pub reserves_room: bool,
}

/// How much of the past is kept. Whole chunks are deleted, the oldest first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Retention {
    /// What is older than this is deleted, by its events' times.
    pub age: Option<Duration>,
    /// The most bytes of chunks.
    pub bytes: Option<u64>,
}

impl Default for LogSettings {
    /// Power failures are survived, 16 GiB, a tail of 16 MiB, no room reserved: our own choice.
    fn default() -> Self {
        Self {
            durability: Durability::Power,
            most_bytes: 16 << 30,
            tail_bytes: 16 << 20,
            retention: Retention::default(),
            reserves_room: false,
        }
    }
}

/// Where a cursor leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resumption {
    /// The position to read from.
    pub position: u64,
    /// How many events before the cursor were seen by its owner, and lost by the log since.
    pub lost_since: u64,
}

/// A log.
#[derive(Debug)]
pub enum Log {
    /// Kept by threads of its own, on a disk or with a NATS server. What was written last is in memory.
    Threaded(ThreadedLog),
    /// In memory, without threads: for worlds that have no disk.
    Memory(MemoryLog),
}

/// The file beside a sensor's log that says what it has answered for.
pub(crate) const PROMISES: &str = "promises";

impl Log {
    /// Opens the log in a folder, or makes one.
    ///
    /// # Errors
    /// When the folder cannot be used, another process has the log, or it is no log or a damaged one.
    pub fn open(folder: &Path, settings: LogSettings) -> Result<Self, LogError> {
        disk::open(folder, settings).map(Self::Threaded)
    }

    /// Opens the log that a NATS server keeps, or makes one there. The folder keeps how far it was acknowledged.
    ///
    /// # Errors
    /// When the folder or the server cannot be used, another process has the folder, or this build has no client of NATS.
    pub fn open_store(folder: &Path, url: &StoreUrl, settings: LogSettings) -> Result<Self, LogError> {
        let open = STORES.first().ok_or_else(|| LogError::Store {
            url: url.clone(),
            what: "this lastmile was built without NATS; build it with --features nats".to_owned(),
        })?;
        open(folder, url, settings).map(Self::Threaded)
    }

    fn shared(&self) -> &Shared {
        match self {
            Self::Threaded(log) => &log.shared,
            Self::Memory(log) => &log.shared,
        }
    }

    /// Appends chunks; the answers come when they are committed, one a chunk and in their order. Waits while too many others wait.
    pub async fn append(&self, chunks: Vec<Chunk>, durability: Durability) -> Vec<Reply> {
        match self {
            Self::Threaded(log) => log.append(chunks, durability).await,
            Self::Memory(log) => log.append(chunks, durability).await,
        }
    }

    /// Deletes the chunks before a position, which others keep now. The sources' accounts stay.
    pub async fn release(&self, before: u64) {
        match self {
            Self::Threaded(log) => log.release(before).await,
            Self::Memory(log) => log.release(before),
        }
    }

    /// Deletes what the settings do not keep any longer, and notes how much that was. A log in memory keeps all.
    pub async fn expire(&self) {
        if let Self::Threaded(log) = self {
            log.expire().await;
        }
    }

    /// Reads a page from a position on. It is empty at the log's end.
    ///
    /// # Errors
    /// When the database or the server cannot be read.
    pub async fn read(&self, from: u64) -> Result<Page, LogError> {
        match self {
            Self::Threaded(log) => log.read(from, None).await,
            Self::Memory(log) => Ok(log.read(from)),
        }
    }

    /// As [`Self::read`], but chunks may be left out that hold nothing of what the filter asks for.
    ///
    /// # Errors
    /// When the database or the server cannot be read.
    pub async fn read_matching(&self, from: u64, filter: &Filter) -> Result<Page, LogError> {
        let is_selective = filter.subject.is_some() || filter.since.is_some();
        match self {
            Self::Threaded(log) => log.read(from, is_selective.then_some(filter)).await,
            Self::Memory(log) => Ok(log.read(from)),
        }
    }

    /// The first position that is kept.
    pub async fn start(&self) -> u64 {
        match self {
            Self::Threaded(log) => log.start().await,
            Self::Memory(log) => log.start(),
        }
    }

    /// Reads everything, and holds it against the accounts.
    ///
    /// # Errors
    /// When the database or the server cannot be read.
    pub async fn audit(&self) -> Result<Audit, LogError> {
        match self {
            Self::Threaded(log) => log.audit().await,
            Self::Memory(log) => Ok(log.audit()),
        }
    }

    /// The position after the last committed event.
    pub fn end(&self) -> u64 {
        self.shared().end.position()
    }

    /// Waits until the end is after a position. Those who wait are woken in the order in which they began to.
    pub async fn wait_past(&self, position: u64) {
        self.shared().end.wait_past(position).await;
    }

    /// The sources and what became of their events, as committed.
    pub fn accounts(&self) -> Vec<(Source, SourceAccount)> {
        self.shared().accounts()
    }

    /// How many events were acknowledged and were missing when the log was opened, as far as a log on a disk tells.
    pub const fn missing_at_start(&self) -> u64 {
        match self {
            Self::Threaded(log) => log.missing_at_start,
            Self::Memory(_) => 0,
        }
    }

    /// The epoch of cursors that are given now.
    pub fn epoch(&self) -> u64 {
        self.shared().epoch()
    }

    /// A position as a cursor.
    pub fn cursor(&self, position: u64) -> Cursor {
        let epoch = self.epoch();
        Cursor { epoch, position }
    }

    /// Where a cursor leads.
    ///
    /// # Errors
    /// When it was given by another log.
    pub fn resume(&self, cursor: Cursor) -> Result<Resumption, LogError> {
        self.shared().resume(cursor)
    }
}

/// Opens a log that a server keeps.
type OpenStore = fn(&Path, &StoreUrl, LogSettings) -> Result<ThreadedLog, LogError>;

/// The servers that this build has a client of.
const STORES: &[OpenStore] = &[
    #[cfg(feature = "nats")]
    jetstream::open,
];

#[cfg(test)]
mod tests;
