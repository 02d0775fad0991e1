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
mod state;
mod store;
mod writer;

use super::mark::{AcknowledgedMark, StoredMark};
use super::private;
use super::shared::Shared;
use super::store_url::StoreUrl;
use super::threaded::{Command, ReadRequest, ThreadedLog, WAITING_MAX, spawn};
use super::{LogError, LogSettings};
use lastmile_events::uplink::Durability;
use reader::Reader;
use recovery::{KnownEnd, recover};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use store::Store;
use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;
use writer::Writer;

/// The file in the monitor's folder that says how far the log was acknowledged.
const MARK: &str = "acknowledged";
/// The file whose lock says that a monitor is at work.
const LOCK: &str = "lock";

/// Opens the log, or makes one. The folder keeps how far it was acknowledged.
pub(super) fn open(folder: &Path, url: &StoreUrl, settings: LogSettings) -> Result<ThreadedLog, LogError> {
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
        StoredMark::Content(acknowledged) => KnownEnd::Position(acknowledged.end),
        StoredMark::Absent | StoredMark::Damaged => KnownEnd::Unknown,
    };
    let (commands, to_write) = mpsc::channel(WAITING_MAX);
    let (reader, to_read) = mpsc::channel(WAITING_MAX);
    let (opened, opening) = oneshot::channel();
    let url_of_thread = url.clone();
    let thread = spawn("log-jetstream", move || {
        let _lock = lock;
        run(&url_of_thread, settings, mark, known_end, opened, to_write, to_read);
    })?;
    let opened = opening.blocking_recv().map_err(|_| LogError::Closed)?;
    let shared = opened.map_err(|what| LogError::Store { url: url.clone(), what })?;
    Ok(ThreadedLog::new(shared, commands, vec![reader], vec![thread], 0))
}

/// The thread: the connection, the writer and the readers.
fn run(
    url: &StoreUrl,
    settings: LogSettings,
    mark: AcknowledgedMark,
    known_end: KnownEnd,
    opened: oneshot::Sender<Result<Arc<Shared>, String>>,
    to_write: mpsc::Receiver<Command>,
    to_read: mpsc::Receiver<ReadRequest>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return drop(opened.send(Err(error.to_string()))),
    };
    LocalSet::new().block_on(&runtime, async {
        let writer = match begin(url, settings, mark, known_end).await {
            Ok(writer) => writer,
            Err(what) => return drop(opened.send(Err(what))),
        };
        let reader = Reader {
            store: Rc::clone(&writer.store),
            committed: Rc::clone(&writer.committed),
        };
        let reading = tokio::task::spawn_local(serve_readers(url.clone(), reader, to_read));
        let _ = opened.send(Ok(Arc::clone(&writer.shared)));
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
    let committed = recover(&store, known_end).await?;
    let state = committed.state.clone();
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
        settings,
        shared: Arc::new(Shared::new(&state.ledger, state.epochs(), settings.tail_bytes)),
        committed: Rc::new(RefCell::new(committed)),
        state,
        mark,
        unchecked: 0,
        stale: false,
    })
}

async fn serve_readers(url: StoreUrl, reader: Reader, mut requests: mpsc::Receiver<ReadRequest>) {
    while let Some(request) = requests.recv().await {
        let (reader, url) = (reader.clone(), url.clone());
        tokio::task::spawn_local(async move {
            let failed = |what| LogError::Store { url, what };
            match request {
                ReadRequest::Page(from, _, reply) => drop(reply.send(reader.page(from).await.map_err(failed))),
                ReadRequest::Audit(reply) => drop(reply.send(reader.audit().await.map_err(failed))),
                ReadRequest::Start(reply) => drop(reply.send(reader.committed.borrow().state.start)),
            }
        });
    }
}
