//! The accounts of sources, each with a checksum, since SQLite has none for what a row says.

use super::{Database, unsigned};
use crate::ledger::{Ledger, SourceAccount};
use crate::log::error::LogError;
use lastmile_events::Source;
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// Writes the account of a source.
pub(super) fn write(connection: &Connection, source: &Source, account: &SourceAccount) -> rusqlite::Result<()> {
    let mut row = connection.prepare_cached("INSERT OR REPLACE INTO source VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    row.execute(params![
        account.id,
        source.name(),
        source.incarnation() as i64,
        account.next as i64,
        account.stored as i64,
        account.released as i64,
        account.ended,
        checksum(source, account)
    ])?;
    if !account.lost.is_empty() {
        let mut loss = connection.prepare_cached("INSERT OR REPLACE INTO loss VALUES(?1, ?2, ?3, ?4)")?;
        for ((place, cause), count) in &account.lost {
            loss.execute(params![account.id, place, cause, *count as i64])?;
        }
    }
    Ok(())
}

/// Covers all that the row says, but what was released, which is changed by itself.
fn checksum(source: &Source, account: &SourceAccount) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(source.name().as_bytes());
    for number in [
        source.incarnation(),
        account.id as u64,
        account.next,
        account.stored,
        u64::from(account.ended),
    ] {
        hasher.update(&number.to_le_bytes());
    }
    for ((place, cause), count) in &account.lost {
        hasher.update(place.as_bytes());
        hasher.update(&[0]);
        hasher.update(cause.as_bytes());
        hasher.update(&count.to_le_bytes());
    }
    hasher.finalize()
}

/// Counts events of a source that are deleted.
pub(super) fn release(connection: &Connection, id: i64, events: i64) -> rusqlite::Result<()> {
    let mut row = connection.prepare_cached("UPDATE source SET released = released + ?2 WHERE id = ?1")?;
    row.execute([id, events])?;
    Ok(())
}

impl Database {
    /// The accounts as they were committed.
    pub(in crate::log) fn load_ledger(&self) -> Result<Ledger, LogError> {
        let failed = |error| self.failed(error);
        let (start, end) = self.extent().map_err(failed)?;
        self.check_extent(start, end)?;
        let mut ledger = Ledger {
            next_position: end,
            ..Ledger::default()
        };
        let (mut by_id, mut sums) = (BTreeMap::new(), BTreeMap::new());
        let sql = "SELECT id, name, incarnation, next, stored, released, ended, sum FROM source";
        let sources = self.rows(sql, [], |row| {
            let account = SourceAccount {
                id: row.get(0)?,
                next: unsigned(row, 3)?,
                stored: unsigned(row, 4)?,
                released: unsigned(row, 5)?,
                lost: BTreeMap::new(),
                ended: row.get(6)?,
            };
            Ok((
                row.get::<_, String>(1)?,
                unsigned(row, 2)?,
                account,
                row.get::<_, u32>(7)?,
            ))
        });
        for (name, incarnation, account, sum) in sources.map_err(failed)? {
            let source = Source::new(&name, incarnation).map_err(|error| self.damaged(error.to_string()))?;
            sums.insert(source.clone(), sum);
            by_id.insert(account.id, source.clone());
            ledger.sources.insert(source, account);
        }
        let losses = self.rows("SELECT source, place, cause, count FROM loss", [], |row| {
            Ok((row.get::<_, i64>(0)?, (row.get(1)?, row.get(2)?), unsigned(row, 3)?))
        });
        for (id, cause, count) in losses.map_err(failed)? {
            let account = by_id.get(&id).and_then(|source| ledger.sources.get_mut(source));
            let account = account.ok_or_else(|| self.damaged(format!("a loss names source {id}, which is unknown")))?;
            account.lost.insert(cause, count);
        }
        for (source, account) in &ledger.sources {
            if !account.adds_up() || sums[source] != checksum(source, account) {
                return Err(self.damaged(format!("the account of source {source} does not add up")));
            }
        }
        Ok(ledger)
    }

    /// Holds the extent against the first chunk, and the last one or the last hole.
    fn check_extent(&self, start: u64, end: u64) -> Result<(), LogError> {
        let sql = "SELECT coalesce((SELECT min(position) FROM chunk), (SELECT min(position) FROM damage), ?1),
            max(coalesce((SELECT position + events FROM chunk ORDER BY position DESC LIMIT 1), (SELECT max(end) FROM damage), ?1),
                coalesce((SELECT max(end) FROM damage), 0))";
        let found = self
            .connection
            .query_row(sql, [end as i64], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)));
        let (first, last) = found.map_err(|error| self.failed(error))?;
        if (start <= first && last == end) || (first, last) == (start, end) {
            return Ok(());
        }
        Err(self.damaged(format!(
            "its chunks reach from position {first} to {last}, and should from {start} to {end}"
        )))
    }
}
