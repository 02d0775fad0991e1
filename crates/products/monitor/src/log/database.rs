//! The database: chunks by position, an index of them, the accounts of sources, and what is known of damage.

mod accounts;
mod index;
mod pages;
mod proof;
mod room;
mod schema;

use super::LogSettings;
use super::error::{FORMAT, LogError};
use super::mark::{AcknowledgedMark, StoredMark, boot_id};
use super::private;
use super::reserve::Reserve;
use crate::ledger::Ledger;
use index::SubjectIndex;
use lastmile_events::uplink::Durability;
use lastmile_events::{Chunk, Source, Timestamp};
use room::Room;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Params, Row, Transaction, params};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

const FILE: &str = "events.sqlite";
/// SQLite's name for the write-ahead log of [`FILE`].
const WRITE_AHEAD: &str = "events.sqlite-wal";
const LOCK: &str = "lock";
const MARK: &str = "acknowledged";
const RESERVE: &str = "reserve";

/// A chunk that is to be appended.
#[derive(Debug, Clone)]
pub(super) struct PositionedChunk {
    pub(super) position: u64,
    /// The log's number of its source.
    pub(super) source: i64,
    pub(super) chunk: Chunk,
}

/// What was deleted for one reason, all in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    /// `age` or `size`.
    pub why: String,
    /// How many events and losses.
    pub events: u64,
    /// All were before this position.
    pub until: u64,
    /// When the last were deleted.
    pub time: Timestamp,
}

#[derive(Debug)]
pub(super) struct Database {
    connection: Connection,
    path: PathBuf,
    subjects: RefCell<SubjectIndex>,
    /// Whether the index says what was written. Where it does not, it is neither read nor written.
    pub(super) index_is_sound: bool,
    /// How many events were acknowledged and are not there, as the mark says.
    pub(super) missing: u64,
    writing: Option<Writing>,
}

/// What only the process that writes has.
#[derive(Debug)]
struct Writing {
    /// Held by the one process that writes.
    _lock: File,
    mark: AcknowledgedMark,
    room: Option<Room>,
    synchronous: Option<bool>,
    /// The latest time of all events until now.
    reach: Timestamp,
}

impl Database {
    /// Opens the database to write, and makes it where there is none.
    pub(super) fn open(folder: &Path, settings: LogSettings) -> Result<Self, LogError> {
        let path = folder.join(FILE);
        let cannot = |source| LogError::Folder {
            path: folder.to_owned(),
            source,
        };
        private::create_folder(folder).map_err(cannot)?;
        let cannot_write = |file: &Path| {
            let path = file.to_owned();
            |source| LogError::File { path, source }
        };
        let (lock_path, mark_path) = (folder.join(LOCK), folder.join(MARK));
        let lock = private::create_file(&lock_path).map_err(cannot_write(&lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LogError::Taken { path }),
            Err(TryLockError::Error(error)) => return Err(cannot_write(&lock_path)(error)),
        }
        let failed = |error| Self::failure(&path, error);
        // SQLite gives its other files the permissions of this one.
        private::create_file(&path).map_err(cannot_write(&path))?;
        let connection = Connection::open(&path).map_err(failed)?;
        let forgets = settings.retention.age.is_some() || settings.retention.bytes.is_some();
        schema::prepare(&connection, settings.most_bytes, forgets)
            .map_err(failed)?
            .map_err(|found| LogError::Format {
                path: path.clone(),
                found,
            })?;
        let (mark, found) = AcknowledgedMark::open(&mark_path, boot_id()).map_err(cannot_write(&mark_path))?;
        let mut database = Self::reading(connection, path.clone(), true);
        database.prove_index()?;
        let reach = database.reach().map_err(failed)?;
        let reserve = || Reserve::open(folder.join(RESERVE), settings.most_bytes);
        let reserve = settings.reserves_room.then(reserve).transpose().map_err(cannot)?;
        database.writing = Some(Writing {
            _lock: lock,
            mark,
            room: reserve.map(|reserve| Room { reserve, limit: 0 }),
            synchronous: None,
            reach,
        });
        database.set_durability(settings.durability).map_err(failed)?;
        let (end, power_end) = database.compare_with_mark(&found).map_err(failed)?;
        let begun = database.writing().mark.begin(end, power_end);
        begun.map_err(cannot_write(&mark_path))?;
        database.secure_room();
        private::sync_folder(folder).map_err(cannot)?;
        Ok(database)
    }

    /// Opens the database to read.
    pub(super) fn open_to_read(folder: &Path, index_is_sound: bool) -> Result<Self, LogError> {
        let path = folder.join(FILE);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(|error| Self::failure(&path, error))?;
        let database = Self::reading(connection, path, index_is_sound);
        database
            .connection
            .busy_timeout(Duration::from_secs(5))
            .map_err(|error| database.failed(error))?;
        Ok(database)
    }

    /// Opens a database that may be damaged and that nobody writes, to take its chunks out. Its folder stays as it is, and may be on a file system
    /// that is read-only.
    pub(super) fn open_to_salvage(folder: &Path) -> Result<Self, LogError> {
        let path = folder.join(FILE);
        let lock = File::open(folder.join(LOCK));
        if matches!(lock.map(|lock| lock.try_lock()), Ok(Err(TryLockError::WouldBlock))) {
            return Err(LogError::Taken { path });
        }
        // SQLite makes files beside a database with a write-ahead log, unless it takes no locks and is alone (sqlite.org/wal.html, 5 and 8).
        let wal = folder.join(WRITE_AHEAD);
        let has_wal = std::fs::metadata(wal).is_ok_and(|wal| wal.len() > 0);
        let how = if has_wal { "vfs=unix-none" } else { "immutable=1" };
        let bytes = path.as_os_str().as_encoded_bytes();
        let escaped: String = bytes.iter().map(|byte| format!("%{byte:02x}")).collect();
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(format!("file:{escaped}?{how}"), flags)
            .map_err(|error| Self::failure(&path, error))?;
        let database = Self::reading(connection, path, false);
        // Where a part of the schema cannot be read, SQLite leaves it out, in place of refusing all tables.
        let tolerated = database.connection.pragma_update(None, "writable_schema", true);
        let alone = tolerated.and_then(|()| {
            let connection = &database.connection;
            connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))
        });
        alone.map_err(|error| database.failed(error))?;
        Ok(database)
    }

    fn reading(connection: Connection, path: PathBuf, index_is_sound: bool) -> Self {
        Self {
            connection,
            path,
            subjects: RefCell::default(),
            index_is_sound,
            missing: 0,
            writing: None,
        }
    }

    pub(super) const fn connection(&self) -> &Connection {
        &self.connection
    }

    fn failure(path: &Path, error: rusqlite::Error) -> LogError {
        let path = path.to_owned();
        // A row that has not what its table holds.
        let is_foreign = matches!(error, rusqlite::Error::InvalidColumnType(..));
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LogError::Taken { path },
            code if is_foreign || matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) => {
                LogError::Damaged {
                    path,
                    what: error.to_string(),
                }
            }
            _ => LogError::Database { path, error },
        }
    }

    pub(super) fn failed(&self, error: rusqlite::Error) -> LogError {
        Self::failure(&self.path, error)
    }

    pub(super) fn damaged(&self, what: String) -> LogError {
        LogError::Damaged {
            path: self.path.clone(),
            what,
        }
    }

    fn writing(&mut self) -> &mut Writing {
        self.writing.as_mut().expect("only a log's writer writes")
    }

    /// What the next commits survive.
    pub(super) fn set_durability(&mut self, durability: Durability) -> rusqlite::Result<()> {
        // In WAL mode FULL syncs the log at each commit, and NORMAL leaves that to the operating system (sqlite.org/pragma.html).
        let power = durability == Durability::Power;
        if self.writing().synchronous.replace(power) == Some(power) {
            return Ok(());
        }
        self.connection
            .pragma_update(None, "synchronous", if power { "FULL" } else { "NORMAL" })
    }

    /// Appends chunks and writes the accounts that they change, all or nothing.
    pub(super) fn append(&mut self, chunks: &[PositionedChunk], ledger: &Ledger) -> rusqlite::Result<()> {
        let mut reach = self.writing().reach;
        let mut subjects = self.subjects.borrow_mut();
        let transaction = self
            .connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let appended = (|| {
            let mut insert = transaction.prepare_cached("INSERT INTO chunk VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
            let mut changed: BTreeSet<&Source> = BTreeSet::new();
            let (mut subject_sum, mut time_sum) = (0, 0);
            for PositionedChunk {
                position,
                source,
                chunk,
            } in chunks
            {
                reach = reach.max(chunk.latest());
                let bytes: &[u8] = chunk.bytes();
                insert.execute(params![
                    *position as i64,
                    chunk.event_count(),
                    source,
                    chunk.first() as i64,
                    reach.unix_nanoseconds(),
                    bytes.len() as i64,
                    bytes
                ])?;
                if self.index_is_sound {
                    subject_sum += subjects.add(&transaction, *position, chunk)?;
                    time_sum += proof::time_term(*position, reach.unix_nanoseconds());
                }
                changed.insert(chunk.source());
            }
            proof::add(&transaction, subject_sum, time_sum)?;
            for source in changed {
                accounts::write(&transaction, source, &ledger.sources[source])?;
            }
            let mut extent = transaction.prepare_cached("UPDATE extent SET end = ?1")?;
            extent.execute([ledger.next_position as i64])
        })();
        if let Err(error) = appended {
            subjects.clear();
            return Err(error);
        }
        if let Err(error) = transaction.commit() {
            subjects.clear();
            return Err(error);
        }
        drop(subjects);
        self.writing().reach = reach;
        Ok(())
    }

    /// States in the mark that everything before `end` is acknowledged.
    pub(super) fn mark_acknowledged(&mut self, end: u64, durability: Durability) -> std::io::Result<()> {
        self.writing().mark.write(end, durability == Durability::Power)
    }

    /// Deletes the chunks that end before a position; `why` says so, where it is not that others keep them.
    pub(super) fn release(&mut self, before: u64, why: Option<&str>) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let before = before as i64;
        let last: Option<(i64, i64)> = transaction
            .prepare_cached("SELECT position, events FROM chunk WHERE position < ?1 ORDER BY position DESC LIMIT 1")?
            .query_row([before], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        // The chunk that holds the position stays whole.
        let limit = last.map_or(
            before,
            |(position, events)| if position + events > before { position } else { before },
        );
        let released: Vec<(i64, i64)> = transaction
            .prepare_cached("SELECT source, sum(events) FROM chunk WHERE position < ?1 GROUP BY source")?
            .query_map([limit], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        let events: i64 = released.iter().map(|(_, events)| events).sum();
        for (source, events) in released {
            accounts::release(&transaction, source, events)?;
        }
        if self.index_is_sound {
            let (subject_sum, time_sum) = proof::sums(&transaction, Some(limit))?;
            proof::add(&transaction, -subject_sum, -time_sum)?;
            transaction.execute("DELETE FROM place WHERE position < ?1", [limit])?;
        }
        transaction.execute("DELETE FROM chunk WHERE position < ?1", [limit])?;
        transaction.execute(
            "UPDATE extent SET start = coalesce((SELECT min(position) FROM chunk), end)",
            [],
        )?;
        transaction.execute("DELETE FROM damage WHERE end <= (SELECT start FROM extent)", [])?;
        if let Some(why) = why
            && events > 0
        {
            transaction.execute(
                "INSERT INTO deletion VALUES(?1, ?2, ?3, ?4)
                ON CONFLICT(why) DO UPDATE SET events = events + excluded.events, until = excluded.until, time = excluded.time",
                params![why, events, limit, Timestamp::now().unix_nanoseconds()],
            )?;
        }
        transaction.commit()
    }

    /// The position before which the log may be deleted: what is older than `oldest`, or more than the newest `bytes`.
    pub(super) fn expired(
        &self,
        oldest: Option<Timestamp>,
        bytes: Option<u64>,
    ) -> rusqlite::Result<Option<(u64, &'static str)>> {
        if let Some(oldest) = oldest {
            let sql = "SELECT position + events FROM chunk WHERE reach < ?1 ORDER BY reach DESC, position DESC LIMIT 1";
            let end = self.rows(sql, [oldest.unix_nanoseconds()], |row| unsigned(row, 0))?;
            if let Some(end) = end.first() {
                return Ok(Some((*end, "age")));
            }
        }
        if let Some(most) = bytes {
            let held = schema::number(&self.connection, "SELECT coalesce(sum(size), 0) FROM chunk")?;
            let mut surplus = held - most as i64;
            if surplus > 0 {
                let mut oldest = self
                    .connection
                    .prepare_cached("SELECT position + events, size FROM chunk ORDER BY position")?;
                let mut rows = oldest.query([])?;
                let mut end = 0;
                while surplus > 0 {
                    let Some(row) = rows.next()? else { break };
                    end = row.get(0)?;
                    surplus -= row.get::<_, i64>(1)?;
                }
                return Ok(Some((end as u64, "size")));
            }
        }
        Ok(None)
    }

    /// The first position that is kept, and the one after the last.
    pub(super) fn extent(&self) -> rusqlite::Result<(u64, u64)> {
        let mut extent = self.connection.prepare_cached("SELECT start, end FROM extent")?;
        extent.query_row([], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)))
    }

    /// What a query reads of each row.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let mut query = self.connection.prepare_cached(sql)?;
        query.query_map(parameters, read)?.collect()
    }

    /// What is read while this is there was committed at one moment.
    pub(super) fn view(&self) -> rusqlite::Result<Transaction<'_>> {
        self.connection.unchecked_transaction()
    }

    /// What was deleted because its time or its room was over.
    pub(super) fn deletions(&self) -> rusqlite::Result<Vec<Deletion>> {
        self.rows("SELECT why, events, until, time FROM deletion", [], |row| {
            Ok(Deletion {
                why: row.get(0)?,
                events: unsigned(row, 1)?,
                until: unsigned(row, 2)?,
                time: Timestamp::from_unix_nanoseconds(row.get(3)?),
            })
        })
    }

    fn reach(&self) -> rusqlite::Result<Timestamp> {
        let sql = "SELECT coalesce((SELECT reach FROM chunk ORDER BY position DESC LIMIT 1), ?1)";
        let reach = self.connection.query_row(sql, [i64::MIN], |row| row.get(0));
        reach.map(Timestamp::from_unix_nanoseconds)
    }

    /// Holds the end of the database against what was acknowledged. What is missing is a hole from now on, with its reason. The end with it, and the part
    /// of it that is safe from power failures.
    fn compare_with_mark(&mut self, found: &StoredMark) -> rusqlite::Result<(u64, u64)> {
        let (_, end) = self.extent()?;
        let mut power_end = end;
        let hole = match found {
            StoredMark::Absent if end == 0 => None,
            StoredMark::Absent => Some((
                end,
                format!("the file {MARK} is missing, which says how far the log was acknowledged: more events may be"),
            )),
            StoredMark::Damaged => Some((
                end,
                format!(
                    "the file {MARK} is damaged, which says how far the log was acknowledged: events may be missing"
                ),
            )),
            StoredMark::Content(mark) if mark.end > end => {
                let same_life = !mark.boot.is_empty() && mark.boot == boot_id();
                let what = if same_life || mark.power_end > end {
                    "they were acknowledged, and the database ends before them: its write-ahead log is damaged or gone"
                } else {
                    "they were acknowledged for the end of a process, and were lost with the machine"
                };
                Some((mark.end, what.to_owned()))
            }
            StoredMark::Content(mark) => {
                if mark.boot == boot_id() {
                    power_end = mark.power_end;
                }
                None
            }
        };
        let Some((hole_end, what)) = hole else {
            return Ok((end, power_end));
        };
        let transaction = self.connection.unchecked_transaction()?;
        let sql = "INSERT INTO damage VALUES(?1, ?2, ?3)";
        transaction.execute(sql, params![end as i64, hole_end as i64, what])?;
        transaction.execute("UPDATE extent SET end = ?1", [hole_end as i64])?;
        transaction.commit()?;
        self.missing = hole_end - end;
        Ok((hole_end, hole_end))
    }
}

/// A number that SQLite, whose numbers are signed, holds as it can.
pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|number| number as u64)
}
