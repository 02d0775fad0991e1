//! Proves that the index says what was written: a sum over its rows that is kept beside them, since SQLite has no checksum of a row.
//!
//! The sums change in the transactions that change the rows. A log compares them when it is opened; an index that does not match is not used, and
//! queries read all chunks, each of which has a checksum of its own.

use super::schema::number;
use super::{Database, unsigned};
use crate::log::error::LogError;
use rusqlite::{Connection, OptionalExtension as _, params};

/// The names of the sums: of the rows of `place` and `subject`, and of those of `chunk_reach`.
const SUBJECTS: &str = "places";
const TIMES: &str = "times";

/// What an index that does not match means.
pub(super) const DAMAGED_INDEX: &str = "the index is damaged: queries read all chunks and miss nothing, but slowly; lastmile salvage makes a folder with a sound one";

/// The term of a row that says that a subject is in a chunk.
pub(super) fn subject_term(subject: &str, position: u64, earliest: i64, latest: i64) -> i64 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(subject.as_bytes());
    for number in [position as i64, earliest, latest] {
        hasher.update(&number.to_le_bytes());
    }
    i64::from(hasher.finalize())
}

/// The term of the time that a chunk reaches.
pub(super) fn time_term(position: u64, reach: i64) -> i64 {
    subject_term("", position, reach, 0)
}

/// Adds to the sums, or takes from them.
pub(super) fn add(connection: &Connection, subject_sum: i64, time_sum: i64) -> rusqlite::Result<()> {
    let mut proof = connection.prepare_cached("UPDATE proof SET sum = sum + ?2 WHERE name = ?1")?;
    for (name, change) in [(SUBJECTS, subject_sum), (TIMES, time_sum)] {
        if change != 0 {
            proof.execute(params![name, change])?;
        }
    }
    Ok(())
}

/// The sums of the rows before a position, or of all.
pub(super) fn sums(connection: &Connection, before: Option<i64>) -> rusqlite::Result<(i64, i64)> {
    let of_all = before.is_none();
    let before = before.unwrap_or(i64::MAX);
    let mut subjects = connection.prepare_cached(
        "SELECT coalesce(text, ''), position, earliest, latest FROM place LEFT JOIN subject ON id = subject WHERE position < ?1",
    )?;
    let mut rows = subjects.query([before])?;
    let mut subject_sum = 0;
    while let Some(row) = rows.next()? {
        let text: String = row.get(0)?;
        subject_sum += subject_term(&text, unsigned(row, 1)?, row.get(2)?, row.get(3)?);
    }
    // Queries by time read the index; what is deleted is found by position.
    let sql = if of_all {
        "SELECT position, reach FROM chunk INDEXED BY chunk_reach WHERE reach >= -9223372036854775808 AND position < ?1"
    } else {
        "SELECT position, reach FROM chunk WHERE position < ?1"
    };
    let mut times = connection.prepare_cached(sql)?;
    let mut rows = times.query([before])?;
    let mut time_sum = 0;
    while let Some(row) = rows.next()? {
        time_sum += time_term(unsigned(row, 0)?, row.get(1)?);
    }
    Ok((subject_sum, time_sum))
}

impl Database {
    /// Holds the index against its sums. A log of an earlier version gets them now.
    pub(super) fn prove_index(&mut self) -> Result<(), LogError> {
        let proven = self.compare_sums();
        self.index_is_sound = match proven {
            Ok(is_sound) => is_sound,
            // What cannot be read does not match.
            Err(error) => match Self::failure(&self.path, error) {
                LogError::Damaged { .. } => false,
                LogError::Database { error, .. } if error.sqlite_error_code().is_none() => false,
                other => return Err(other),
            },
        };
        Ok(())
    }

    fn compare_sums(&self) -> rusqlite::Result<bool> {
        let connection = &self.connection;
        let known = |name: &str| -> rusqlite::Result<Option<i64>> {
            let mut proof = connection.prepare("SELECT sum FROM proof WHERE name = ?1")?;
            proof.query_row([name], |row| row.get(0)).optional()
        };
        let has_table = number(connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'proof'")?;
        let found = sums(connection, None)?;
        if has_table > 0 {
            // What comes next reaches at least as far as the last row says.
            let last = "SELECT (SELECT reach FROM chunk ORDER BY position DESC LIMIT 1) IS
                (SELECT max(reach) FROM chunk INDEXED BY chunk_reach WHERE reach >= -9223372036854775808)";
            let last_agrees: bool = connection.query_row(last, [], |row| row.get(0))?;
            return Ok(last_agrees && (known(SUBJECTS)?, known(TIMES)?) == (Some(found.0), Some(found.1)));
        }
        let transaction = connection.unchecked_transaction()?;
        transaction.execute_batch("CREATE TABLE proof(name TEXT PRIMARY KEY, sum INTEGER NOT NULL) WITHOUT ROWID")?;
        transaction.execute(
            "INSERT INTO proof VALUES(?1, ?2), (?3, ?4)",
            params![SUBJECTS, found.0, TIMES, found.1],
        )?;
        transaction.commit()?;
        Ok(true)
    }
}
