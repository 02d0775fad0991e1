//! A log on a disk, in memory or with a NATS server, whichever a monitor or a sensor was given.

use super::end::LogEnd;
use super::{Audit, DiskLog, LogError, LogSettings, MemoryLog, Page, Resumption};
use crate::cursor::Cursor;
use crate::filter::Filter;
use crate::ledger::SourceAccount;
use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, Source};
use std::path::Path;

/// A log.
#[derive(Debug)]
pub enum Log {
    /// On a disk, with threads of its own.
    Disk(DiskLog),
    /// In memory, without threads: for worlds that have no disk.
    Memory(MemoryLog),
    /// With a NATS server.
    #[cfg(feature = "nats")]
    JetStream(super::JetStreamLog),
}

impl Log {
    /// Opens the log in a folder, or makes one.
    ///
    /// # Errors
    /// When the folder cannot be used, another process has the log, or it is no log or a damaged one.
    pub fn open(folder: &Path, settings: LogSettings) -> Result<Self, LogError> {
        DiskLog::open(folder, settings).map(Self::Disk)
    }

    /// Opens the log that a NATS server keeps, or makes one there. The folder keeps how far it was acknowledged.
    ///
    /// # Errors
    /// When the folder or the server cannot be used, or another process has the folder.
    #[cfg(feature = "nats")]
    pub fn open_store(folder: &Path, url: &super::StoreUrl, settings: LogSettings) -> Result<Self, LogError> {
        super::JetStreamLog::open(folder, url, settings).map(Self::JetStream)
    }

    /// Opens the log that a NATS server keeps.
    ///
    /// # Errors
    /// Always: this build has no client of NATS.
    #[cfg(not(feature = "nats"))]
    pub fn open_store(_folder: &Path, url: &super::StoreUrl, _settings: LogSettings) -> Result<Self, LogError> {
        Err(LogError::Store {
            url: url.clone(),
            what: "this lastmile was built without NATS; build it with --features nats".to_owned(),
        })
    }

    /// Appends chunks; the answers come when they are committed, one a chunk and in their order. Waits while too many others wait.
    pub async fn append(&self, chunks: Vec<Chunk>, durability: Durability) -> Vec<Reply> {
        match self {
            Self::Disk(log) => log.append(chunks, durability).await,
            Self::Memory(log) => log.append(chunks, durability).await,
            #[cfg(feature = "nats")]
            Self::JetStream(log) => log.append(chunks, durability).await,
        }
    }

    /// Deletes the chunks before a position, which others keep now. The sources' accounts stay.
    pub async fn release(&self, before: u64) {
        match self {
            Self::Disk(log) => log.release(before).await,
            Self::Memory(log) => log.release(before),
            #[cfg(feature = "nats")]
            Self::JetStream(log) => log.release(before).await,
        }
    }

    /// Reads a page from a position on. It is empty at the log's end.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn read(&self, from: u64) -> Result<Page, LogError> {
        match self {
            Self::Disk(log) => log.read(from).await,
            Self::Memory(log) => Ok(log.read(from)),
            #[cfg(feature = "nats")]
            Self::JetStream(log) => log.read(from).await,
        }
    }

    /// As [`Self::read`], but chunks may be left out that hold nothing of what the filter asks for.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn read_matching(&self, from: u64, filter: &Filter) -> Result<Page, LogError> {
        match self {
            Self::Disk(log) => log.read_matching(from, filter).await,
            Self::Memory(log) => Ok(log.read(from)),
            #[cfg(feature = "nats")]
            Self::JetStream(log) => log.read(from).await,
        }
    }

    /// Deletes what the settings do not keep any longer. A log in memory keeps all.
    pub async fn expire(&self) {
        match self {
            Self::Disk(log) => log.expire().await,
            Self::Memory(_) => {}
            #[cfg(feature = "nats")]
            Self::JetStream(log) => log.expire().await,
        }
    }

    /// The first position that is kept.
    pub async fn start(&self) -> u64 {
        match self {
            Self::Disk(log) => log.start().await,
            Self::Memory(log) => log.start(),
            #[cfg(feature = "nats")]
            Self::JetStream(log) => log.start(),
        }
    }

    /// Reads everything, and holds it against the accounts.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn audit(&self) -> Result<Audit, LogError> {
        match self {
            Self::Disk(log) => log.audit().await,
            Self::Memory(log) => Ok(log.audit()),
            #[cfg(feature = "nats")]
            Self::JetStream(log) => log.audit().await,
        }
    }

    /// The position after the last committed event.
    pub fn end(&self) -> u64 {
        self.log_end().position()
    }

    /// Waits until the end is after a position. Those who wait are woken in the order in which they began to.
    pub async fn wait_past(&self, position: u64) {
        self.log_end().wait_past(position).await;
    }

    fn log_end(&self) -> &LogEnd {
        match self {
            Self::Disk(log) => log.end(),
            Self::Memory(log) => log.end(),
            #[cfg(feature = "nats")]
            Self::JetStream(log) => log.end(),
        }
    }

    /// The sources and what became of their events, as committed.
    pub fn accounts(&self) -> Vec<(Source, SourceAccount)> {
        match self {
            Self::Disk(log) => log.accounts(),
            Self::Memory(log) => log.accounts(),
            #[cfg(feature = "nats")]
            Self::JetStream(log) => log.accounts(),
        }
    }

    /// How many events were acknowledged and were missing when the log was opened, as far as a log on a disk tells.
    pub const fn missing_at_start(&self) -> u64 {
        match self {
            Self::Disk(log) => log.missing_at_start(),
            Self::Memory(_) => 0,
            #[cfg(feature = "nats")]
            Self::JetStream(_) => 0,
        }
    }

    /// A position as a cursor.
    pub fn cursor(&self, position: u64) -> Cursor {
        match self {
            Self::Disk(log) => log.cursor(position),
            Self::Memory(log) => log.cursor(position),
            #[cfg(feature = "nats")]
            Self::JetStream(log) => log.cursor(position),
        }
    }

    /// Where a cursor leads.
    ///
    /// # Errors
    /// When it was given by another log.
    pub fn resume(&self, cursor: Cursor) -> Result<Resumption, LogError> {
        match self {
            Self::Disk(log) => log.resume(cursor),
            Self::Memory(log) => log.resume(cursor),
            #[cfg(feature = "nats")]
            Self::JetStream(log) => log.resume(cursor),
        }
    }
}
