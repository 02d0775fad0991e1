//! Why a log cannot be used.

use super::store_url::StoreUrl;
use crate::cursor::Cursor;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// The version of the tables.
pub(super) const FORMAT: i64 = 2;

/// Why a log cannot be used.
#[derive(Debug, Error)]
pub enum LogError {
    /// The folder cannot be made.
    #[error("{path}: the folder cannot be made")]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file in it cannot be opened to write.
    #[error(
        "{path}: the file cannot be written; see that this user owns it and that the disk has room, or name another folder"
    )]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process has it.
    #[error("{path}: another monitor or sensor writes to this log; stop it, or name another folder")]
    Taken {
        /// The database.
        path: PathBuf,
    },
    /// It is no log of this version.
    #[error("{path}: this is no log of events (format {found}; this program reads {FORMAT}); name another folder")]
    Format {
        /// The database.
        path: PathBuf,
        /// What it says.
        found: i64,
    },
    /// Its accounts are damaged.
    #[error("{path}: damaged: {what}; take what is whole into another folder with lastmile salvage")]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A folder that has a log already.
    #[error("{path}: there is a log in it; name a new folder")]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The database says no.
    #[error("{path}: {error}")]
    Database {
        /// The database.
        path: PathBuf,
        /// What it says.
        error: rusqlite::Error,
    },
    /// The server that keeps it says no.
    #[error("{url}: {what}")]
    Store {
        /// The server and the stream.
        url: StoreUrl,
        /// What it says.
        what: String,
    },
    /// A cursor of another log.
    #[error(
        "cursor {cursor} belongs to another log; this one's cursors begin with {epoch:016x}; begin with --from start or --from now"
    )]
    ForeignCursor {
        /// The cursor.
        cursor: Cursor,
        /// This log's epoch.
        epoch: u64,
    },
    /// There is no thread.
    #[error("the system gives no thread")]
    Thread(#[source] io::Error),
    /// The log is closed.
    #[error("the log is closed")]
    Closed,
}
