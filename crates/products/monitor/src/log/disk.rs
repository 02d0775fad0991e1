//! A log on a disk: one thread writes, others read.

use super::audit::audit;
use super::database::Database;
use super::epochs::Epochs;
use super::shared::Shared;
use super::threaded::{ReadRequest, ThreadedLog, WAITING_MAX, spawn};
use super::writer::Writer;
use super::{LogError, LogSettings};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The threads that read: our own choice.
const READERS: usize = 2;

/// Opens the log in a folder, or makes one.
pub(super) fn open(folder: &Path, settings: LogSettings) -> Result<ThreadedLog, LogError> {
    let database = Database::open(folder, settings)?;
    let index_is_sound = database.index_is_sound;
    let missing_at_start = database.missing;
    let ledger = database.load_ledger()?;
    let epochs = Epochs::load(&database, ledger.next_position).map_err(|error| database.failed(error))?;
    let shared = Arc::new(Shared::new(&ledger, epochs, settings.tail_bytes));
    let (commands, to_write) = mpsc::channel(WAITING_MAX);
    let writer = Writer {
        database,
        ledger,
        settings,
        shared: Arc::clone(&shared),
        stale: false,
    };
    let mut threads = vec![spawn("log-writer", move || writer.run(to_write))?];
    let mut readers = Vec::new();
    for _ in 0..READERS {
        let (reader, to_read) = mpsc::channel(WAITING_MAX);
        let database = Database::open_to_read(folder, index_is_sound)?;
        threads.push(spawn("log-reader", move || read(&database, to_read))?);
        readers.push(reader);
    }
    Ok(ThreadedLog::new(shared, commands, readers, threads, missing_at_start))
}

fn read(database: &Database, mut requests: mpsc::Receiver<ReadRequest>) {
    while let Some(request) = requests.blocking_recv() {
        // Whoever asked may be gone.
        match request {
            ReadRequest::Page(from, filter, reply) => {
                let page = match filter {
                    None => database.read_page(from),
                    Some(filter) => database.read_matching(from, &filter),
                };
                let _ = reply.send(page.map_err(|error| database.failed(error)));
            }
            ReadRequest::Start(reply) => drop(reply.send(database.extent().map_or(0, |(start, _)| start))),
            ReadRequest::Audit(reply) => drop(reply.send(audit(database))),
        }
    }
}
