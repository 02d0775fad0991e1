//! A log that a NATS server with JetStream keeps: each chunk is a message of a stream.
//!
//! The monitor stays the only judge of what is taken: it publishes each chunk only behind the message that it knows as the last, so that
//! whatever else is written there makes it look again. Positions stand in the messages' headers. The accounts of the sources are rebuilt from
//! the last checkpoint, in a stream of its own, and the messages after it. How far was acknowledged stands in the monitor's folder, so that a
//! server that has lost messages is found out.
//!
//! What an acknowledged event survives is up to the server: a stream in memory survives the monitor's end, one in files the server's end
//! (`kill -9`) too, and a power failure only where the server has `sync_interval: always`.

mod reader;
mod recovery;
mod shared;
mod state;
mod store;
mod writer;

use super::end::LogEnd;
use super::mark::{AcknowledgedMark, StoredMark};
use super::private;
use super::store_url::StoreUrl;
use super::writer::Command;
use super::{Audit, LogError, LogSettings, Page, Resumption};
use crate::cursor::Cursor;
use crate::ledger::SourceAccount;
use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, Source};
use reader::Reader;
use recovery::{KnownEnd, recover};
use shared::Shared;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use store::Store;
use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;
use writer::Writer;

/// A log that a NATS server keeps. It ends its thread when it is dropped.
#[derive(Debug)]
pub struct JetStreamLog {
    commands: Option<mpsc::Sender<Command>>,
    requests: Option<mpsc::Sender<ReadRequest>>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<Mutex<Shared>>,
    end: Arc<LogEnd>,
    url: StoreUrl,
    _lock: File,
}

#[derive(Debug)]
enum ReadRequest {
    Page(u64, oneshot::Sender<Result<Page, String>>),
    Audit(oneshot::Sender<Result<Audit, String>>),
}

/// The commands, and the requests, that may wait.
const WAITING: usize = 256;
/// The file in the monitor's folder that says how far the log was acknowledged.
const MARK: &str = "acknowledged";
/// The file whose lock says that a monitor is at work.
const LOCK: &str = "lock";

impl JetStreamLog {
    /// Opens the log, or makes one. The folder keeps how far it was acknowledged.
    ///
    /// # Errors
    /// When the folder or the server cannot be used, or another process has the folder.
    pub fn open(folder: &Path, url: &StoreUrl, settings: LogSettings) -> Result<Self, LogError> {
        let of_folder = |source| LogError::Folder {
            path: folder.to_owned(),
            source,
        };
        private::create_folder(folder).map_err(of_folder)?;
        let lock = private::create_file(&folder.join(LOCK)).map_err(of_folder)?;
        if lock.try_lock().is_err() {
            let path = folder.to_owned();
            return Err(LogError::Taken { path });
        }
        let (mark, found) = AcknowledgedMark::open(&folder.join(MARK), String::new()).map_err(of_folder)?;
        private::sync_folder(folder).map_err(of_folder)?;
        let known_end = match found {
            StoredMark::Acknowledged(acknowledged) => KnownEnd::Position(acknowledged.end),
            StoredMark::Absent | StoredMark::Damaged => KnownEnd::Unknown,
        };
        let (opened, opening) = oneshot::channel();
        let start = {
            let url = url.clone();
            move || run(&url, settings, mark, known_end, opened)
        };
        let thread = thread::Builder::new()
            .name("log-jetstream".to_owned())
            .spawn(start)
            .map_err(LogError::Thread)?;
        let opened = opening.blocking_recv().map_err(|_| LogError::Closed)?;
        let opened = opened.map_err(|what| LogError::Store { url: url.clone(), what })?;
        Ok(Self {
            commands: Some(opened.commands),
            requests: Some(opened.requests),
            thread: Some(thread),
            shared: opened.shared,
            end: opened.end,
            url: url.clone(),
            _lock: lock,
        })
    }

    async fn tell<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        let commands = self.commands.as_ref().expect("it is there until the drop");
        let _ = commands.send(command(reply)).await;
        answer.await.ok()
    }

    async fn ask<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<T, String>>) -> ReadRequest,
    ) -> Result<T, LogError> {
        let (reply, answer) = oneshot::channel();
        let requests = self.requests.as_ref().expect("it is there until the drop");
        let _ = requests.send(request(reply)).await;
        let answer = answer.await.map_err(|_| LogError::Closed)?;
        answer.map_err(|what| LogError::Store {
            url: self.url.clone(),
            what,
        })
    }

    pub(super) async fn append(&self, chunks: Vec<Chunk>, durability: Durability) -> Vec<Reply> {
        let count = chunks.len();
        let command = |reply| Command::Append {
            chunks,
            durability,
            reply,
        };
        self.tell(command).await.unwrap_or_else(|| vec![Reply::Full; count])
    }

    pub(super) async fn release(&self, before: u64) {
        let _ = self.tell(|reply| Command::Release { before, reply }).await;
    }

    pub(super) async fn expire(&self) {
        let _ = self.tell(|reply| Command::Expire { reply }).await;
    }

    pub(super) async fn read(&self, from: u64) -> Result<Page, LogError> {
        if let Some(page) = self.look(|shared| shared.tail.page(from)) {
            return Ok(page);
        }
        self.ask(|reply| ReadRequest::Page(from, reply)).await
    }

    pub(super) async fn audit(&self) -> Result<Audit, LogError> {
        self.ask(ReadRequest::Audit).await
    }

    fn look<T>(&self, look: impl FnOnce(&Shared) -> T) -> T {
        look(&self.shared.lock().expect("no thread panics with it"))
    }

    pub(super) fn start(&self) -> u64 {
        self.look(|shared| shared.start)
    }

    pub(super) fn end(&self) -> &LogEnd {
        &self.end
    }

    pub(super) fn accounts(&self) -> Vec<(Source, SourceAccount)> {
        self.look(Shared::accounts)
    }

    pub(super) fn cursor(&self, position: u64) -> Cursor {
        Cursor {
            epoch: self.look(|shared| shared.epochs.present()),
            position,
        }
    }

    pub(super) fn resume(&self, cursor: Cursor) -> Result<Resumption, LogError> {
        let end = self.end.position();
        self.look(|shared| shared.epochs.resume(cursor, end))
    }
}

impl Drop for JetStreamLog {
    fn drop(&mut self) {
        (self.commands, self.requests) = (None, None);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread gives to those who use the log.
struct Opened {
    commands: mpsc::Sender<Command>,
    requests: mpsc::Sender<ReadRequest>,
    shared: Arc<Mutex<Shared>>,
    end: Arc<LogEnd>,
}

/// The thread: the connection, the writer and the readers.
fn run(
    url: &StoreUrl,
    settings: LogSettings,
    mark: AcknowledgedMark,
    known_end: KnownEnd,
    opened: oneshot::Sender<Result<Opened, String>>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return drop(opened.send(Err(error.to_string()))),
    };
    LocalSet::new().block_on(&runtime, async {
        let begun = begin(url, settings, mark, known_end).await;
        let writer = match begun {
            Ok(writer) => writer,
            Err(what) => return drop(opened.send(Err(what))),
        };
        let (commands, to_write) = mpsc::channel(WAITING);
        let (requests, to_read) = mpsc::channel(WAITING);
        let (store, shared) = (Rc::clone(&writer.store), Arc::clone(&writer.shared));
        let reading = tokio::task::spawn_local(serve_readers(store, shared, to_read));
        let _ = opened.send(Ok(Opened {
            commands,
            requests,
            shared: Arc::clone(&writer.shared),
            end: Arc::clone(&writer.end),
        }));
        writer.run(to_write).await;
        let _ = reading.await;
    });
}

async fn begin(
    url: &StoreUrl,
    settings: LogSettings,
    mut mark: AcknowledgedMark,
    known_end: KnownEnd,
) -> Result<Writer, String> {
    let store = Store::open(url, &settings).await?;
    let recovered = recover(&store, known_end).await?;
    let state = recovered.state.clone();
    let end = state.ledger.next_position;
    let power_end = if settings.durability == Durability::Power {
        end
    } else {
        0
    };
    mark.begin(end, power_end).map_err(|error| error.to_string())?;
    // The epoch and the holes that were found, so that they are found again.
    store.put_checkpoint(state.to_bytes()).await?;
    Ok(Writer {
        store: Rc::new(store),
        state,
        settings,
        shared: Arc::new(Mutex::new(Shared::new(recovered, settings.tail_bytes))),
        end: Arc::new(LogEnd::new(end)),
        mark,
        unchecked: 0,
        stale: false,
    })
}

async fn serve_readers(store: Rc<Store>, shared: Arc<Mutex<Shared>>, mut requests: mpsc::Receiver<ReadRequest>) {
    while let Some(request) = requests.recv().await {
        let (store, shared) = (Rc::clone(&store), Arc::clone(&shared));
        tokio::task::spawn_local(async move {
            let reader = Reader {
                store: &store,
                shared: &shared,
            };
            match request {
                ReadRequest::Page(from, reply) => drop(reply.send(reader.page(from).await)),
                ReadRequest::Audit(reply) => drop(reply.send(reader.audit().await)),
            }
        });
    }
}
