//! A log that threads of its own keep, on a disk or with a NATS server: one writes, and one or several read.

use super::shared::Shared;
use super::{Audit, LogError, Page};
use crate::filter::Filter;
use lastmile_events::Chunk;
use lastmile_events::uplink::{Durability, Reply};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use tokio::sync::{mpsc, oneshot};

/// A log that threads keep. It ends them when it is dropped.
#[derive(Debug)]
pub struct ThreadedLog {
    pub(super) shared: Arc<Shared>,
    commands: Option<mpsc::Sender<Command>>,
    readers: Vec<mpsc::Sender<ReadRequest>>,
    next_reader: AtomicUsize,
    /// The writer, then the readers.
    threads: Vec<JoinHandle<()>>,
    pub(super) missing_at_start: u64,
}

/// What the writer is to do.
#[derive(Debug)]
pub(super) enum Command {
    Append {
        chunks: Vec<Chunk>,
        durability: Durability,
        reply: oneshot::Sender<Vec<Reply>>,
    },
    Release {
        before: u64,
        reply: oneshot::Sender<()>,
    },
    Expire {
        reply: oneshot::Sender<()>,
    },
}

/// What a reader is to answer.
#[derive(Debug)]
pub(super) enum ReadRequest {
    Page(u64, Option<Filter>, oneshot::Sender<Result<Page, LogError>>),
    Audit(oneshot::Sender<Result<Audit, LogError>>),
    Start(oneshot::Sender<u64>),
}

/// The commands, and the requests of each reader, that may wait.
pub(super) const WAITING_MAX: usize = 256;

impl ThreadedLog {
    /// A log whose writer takes these commands, and whose readers take these requests.
    pub(super) fn new(
        shared: Arc<Shared>,
        commands: mpsc::Sender<Command>,
        readers: Vec<mpsc::Sender<ReadRequest>>,
        threads: Vec<JoinHandle<()>>,
        missing_at_start: u64,
    ) -> Self {
        Self {
            shared,
            commands: Some(commands),
            readers,
            next_reader: AtomicUsize::new(0),
            threads,
            missing_at_start,
        }
    }

    /// What the writer answers; `None` where it has ended.
    async fn write<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        let commands = self.commands.as_ref().expect("it is there until the drop");
        let _ = commands.send(command(reply)).await;
        answer.await.ok()
    }

    /// What a reader answers; `None` where it has ended.
    async fn ask<T>(&self, request: impl FnOnce(oneshot::Sender<T>) -> ReadRequest) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        let turn = self.next_reader.fetch_add(1, Ordering::Relaxed);
        let reader = &self.readers[turn % self.readers.len()];
        let _ = reader.send(request(reply)).await;
        answer.await.ok()
    }

    pub(super) async fn append(&self, chunks: Vec<Chunk>, durability: Durability) -> Vec<Reply> {
        let count = chunks.len();
        let append = |reply| Command::Append {
            chunks,
            durability,
            reply,
        };
        // The writer ends only with the log or by a panic: then nothing was promised.
        self.write(append).await.unwrap_or_else(|| vec![Reply::Full; count])
    }

    pub(super) async fn release(&self, before: u64) {
        self.write(|reply| Command::Release { before, reply }).await;
    }

    pub(super) async fn expire(&self) {
        self.write(|reply| Command::Expire { reply }).await;
    }

    pub(super) async fn read(&self, from: u64, filter: Option<&Filter>) -> Result<Page, LogError> {
        if let Some(page) = self.shared.page(from) {
            return Ok(page);
        }
        let page = self.ask(|reply| ReadRequest::Page(from, filter.cloned(), reply));
        page.await.unwrap_or(Err(LogError::Closed))
    }

    pub(super) async fn start(&self) -> u64 {
        self.ask(ReadRequest::Start).await.unwrap_or(0)
    }

    pub(super) async fn audit(&self) -> Result<Audit, LogError> {
        self.ask(ReadRequest::Audit).await.unwrap_or(Err(LogError::Closed))
    }
}

impl Drop for ThreadedLog {
    fn drop(&mut self) {
        // The readers first: the last connection to a database that closes must be one that writes, which moves all into the database's file.
        self.readers.clear();
        for reader in self.threads.drain(1..) {
            let _ = reader.join();
        }
        self.commands = None;
        for writer in self.threads.drain(..) {
            let _ = writer.join();
        }
    }
}

/// Starts a thread of a log.
pub(super) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, LogError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(LogError::Thread)
}
