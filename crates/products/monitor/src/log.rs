//! Logs of chunks. A [`Log`] is on a disk, in memory, or with a NATS server; [`DiskLog`] is the one on a disk: one thread writes, others read,
//! and what was written last is in memory.
//!
//! What waits is committed together, and acknowledged after the commit. Readers see what is committed, never more. Methods return futures
//! that need no runtime.

mod any;
mod audit;
mod database;
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
mod store_url;
mod tail;
mod uplink;
mod writer;

pub use any::Log;
pub use audit::{Audit, SourceAudit};
pub use database::Deletion;
pub use error::LogError;
#[cfg(feature = "nats")]
pub use jetstream::JetStreamLog;
pub use memory::{CommitGroup, MemoryLog};
pub use page::{Entry, Page};
pub use salvage::{Salvage, salvage};
pub use store_url::StoreUrl;
pub use uplink::LogUplink;

use crate::cursor::Cursor;
use crate::filter::Filter;
use crate::ledger::SourceAccount;
use database::Database;
use end::LogEnd;
use epochs::Epochs;
use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, Source};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tail::Tail;
use tokio::sync::{mpsc, oneshot};

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

/// A log on a disk. It ends its threads when it is dropped.
#[derive(Debug)]
pub struct DiskLog {
    submissions: Option<mpsc::Sender<writer::Command>>,
    readers: Vec<mpsc::Sender<ReadRequest>>,
    next_reader: AtomicUsize,
    /// The writer, then the readers.
    threads: Vec<JoinHandle<()>>,
    tail: Arc<Mutex<Tail>>,
    end: Arc<LogEnd>,
    accounts: Arc<Mutex<BTreeMap<Source, SourceAccount>>>,
    epochs: Epochs,
    missing_at_start: u64,
}

#[derive(Debug)]
enum ReadRequest {
    Page(u64, Option<Filter>, oneshot::Sender<Result<Page, LogError>>),
    Audit(oneshot::Sender<Result<Audit, LogError>>),
    Start(oneshot::Sender<u64>),
}

/// The file beside a sensor's log that says what it has answered for.
pub(crate) const PROMISES: &str = "promises";
/// The threads that read: our own choice.
const READERS: usize = 2;
/// The commands that may wait for the writer.
const WAITING: usize = 256;

impl DiskLog {
    /// Opens the log in a folder, or makes one.
    ///
    /// # Errors
    /// When the folder cannot be used, another process has the log, or it is no log or a damaged one.
    pub fn open(folder: &Path, settings: LogSettings) -> Result<Self, LogError> {
        let database = Database::open(folder, settings)?;
        let index_is_sound = database.index_is_sound;
        let missing_at_start = database.missing;
        let ledger = database.load_ledger()?;
        let epochs = Epochs::load(&database, ledger.next_position)?;
        let end = Arc::new(LogEnd::new(ledger.next_position));
        let tail = Arc::new(Mutex::new(Tail::new(ledger.next_position, settings.tail_bytes)));
        let accounts = Arc::new(Mutex::new(ledger.sources.clone()));
        let (submissions, commands) = mpsc::channel(WAITING);
        let mut threads = Vec::new();
        let writer = writer::Writer::new(
            database,
            ledger,
            settings,
            Arc::clone(&tail),
            Arc::clone(&end),
            Arc::clone(&accounts),
        );
        let name = |name: &str| thread::Builder::new().name(name.to_owned());
        threads.push(
            name("log-writer")
                .spawn(move || writer.run(commands))
                .map_err(LogError::Thread)?,
        );
        let mut readers = Vec::new();
        for _ in 0..READERS {
            let (sender, mut requests) = mpsc::channel(WAITING);
            let reader = Database::open_to_read(folder, index_is_sound)?;
            let read = move || {
                while let Some(request) = requests.blocking_recv() {
                    match request {
                        ReadRequest::Page(from, None, reply) => drop(reply.send(reader.read_page(from))),
                        ReadRequest::Page(from, Some(filter), reply) => {
                            drop(reply.send(reader.read_matching(from, &filter)));
                        }
                        ReadRequest::Start(reply) => drop(reply.send(reader.extent().map_or(0, |(start, _)| start))),
                        ReadRequest::Audit(reply) => drop(reply.send(audit::audit(&reader))),
                    }
                }
            };
            threads.push(name("log-reader").spawn(read).map_err(LogError::Thread)?);
            readers.push(sender);
        }
        Ok(Self {
            submissions: Some(submissions),
            readers,
            next_reader: AtomicUsize::new(0),
            threads,
            tail,
            end,
            accounts,
            epochs,
            missing_at_start,
        })
    }

    /// Appends chunks; the answers come when they are committed, one a chunk and in their order. Waits while too many others wait.
    pub async fn append(&self, chunks: Vec<Chunk>, durability: Durability) -> Vec<Reply> {
        let count = chunks.len();
        let (reply, answer) = oneshot::channel();
        let submission = writer::Command::Append {
            chunks,
            durability,
            reply,
        };
        let submissions = self.submissions.as_ref().expect("it is there until the drop");
        let _ = submissions.send(submission).await;
        // The writer ends only with the log or by a panic: then nothing was promised.
        answer.await.unwrap_or_else(|_| vec![Reply::Full; count])
    }

    /// Deletes the chunks before a position, which others keep now. The sources' accounts stay.
    pub async fn release(&self, before: u64) {
        let submissions = self.submissions.as_ref().expect("it is there until the drop");
        let (reply, answer) = oneshot::channel();
        let _ = submissions.send(writer::Command::Release { before, reply }).await;
        let _ = answer.await;
    }

    /// Deletes what the settings do not keep any longer, and notes how much that was.
    pub async fn expire(&self) {
        let submissions = self.submissions.as_ref().expect("it is there until the drop");
        let (reply, answer) = oneshot::channel();
        let _ = submissions.send(writer::Command::Expire { reply }).await;
        let _ = answer.await;
    }

    /// Reads a page from a position on. It is empty at the log's end.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn read(&self, from: u64) -> Result<Page, LogError> {
        self.read_page(from, None).await
    }

    /// As [`Self::read`], but chunks may be left out that hold nothing of what the filter asks for.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn read_matching(&self, from: u64, filter: &Filter) -> Result<Page, LogError> {
        let is_selective = filter.subject.is_some() || filter.since.is_some();
        self.read_page(from, is_selective.then_some(filter)).await
    }

    async fn read_page(&self, from: u64, filter: Option<&Filter>) -> Result<Page, LogError> {
        if let Some(page) = self.tail.lock().expect("no thread panics with it").page(from) {
            return Ok(page);
        }
        let (reply, answer) = oneshot::channel();
        let request = ReadRequest::Page(from, filter.cloned(), reply);
        let _ = self.reader().send(request).await;
        answer.await.unwrap_or(Err(LogError::Closed))
    }

    /// The first position that is kept.
    pub async fn start(&self) -> u64 {
        let (reply, answer) = oneshot::channel();
        let _ = self.reader().send(ReadRequest::Start(reply)).await;
        answer.await.unwrap_or(0)
    }

    /// Reads everything, and holds it against the accounts.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn audit(&self) -> Result<Audit, LogError> {
        let (reply, answer) = oneshot::channel();
        let _ = self.reader().send(ReadRequest::Audit(reply)).await;
        answer.await.unwrap_or(Err(LogError::Closed))
    }

    fn reader(&self) -> &mpsc::Sender<ReadRequest> {
        let turn = self.next_reader.fetch_add(1, Ordering::Relaxed);
        &self.readers[turn % self.readers.len()]
    }

    fn end(&self) -> &LogEnd {
        &self.end
    }

    /// The sources and what became of their events, as committed.
    pub fn accounts(&self) -> Vec<(Source, SourceAccount)> {
        let accounts = self.accounts.lock().expect("no thread panics with it");
        accounts
            .iter()
            .map(|(source, account)| (source.clone(), account.clone()))
            .collect()
    }

    /// How many events were acknowledged and were missing when the log was opened.
    pub const fn missing_at_start(&self) -> u64 {
        self.missing_at_start
    }

    /// A position as a cursor.
    pub fn cursor(&self, position: u64) -> Cursor {
        Cursor {
            epoch: self.epochs.present(),
            position,
        }
    }

    /// Where a cursor leads.
    ///
    /// # Errors
    /// When it was given by another log.
    pub fn resume(&self, cursor: Cursor) -> Result<Resumption, LogError> {
        self.epochs.resume(cursor, self.end.position())
    }
}

impl Drop for DiskLog {
    fn drop(&mut self) {
        // The readers first: the last connection to close must be one that writes, which moves all into the database's file.
        self.readers.clear();
        for reader in self.threads.drain(1..) {
            let _ = reader.join();
        }
        self.submissions = None;
        for writer in self.threads.drain(..) {
            let _ = writer.join();
        }
    }
}

#[cfg(test)]
mod tests;
