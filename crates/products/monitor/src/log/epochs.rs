//! Epochs: the lives of a log. A new one begins after each start of the machine, since events of the last life may be lost with it.

use super::Resumption;
use super::database::{Database, unsigned};
use super::error::LogError;
use super::mark::boot_id;
use crate::cursor::Cursor;
use lastmile_events::Timestamp;
use rusqlite::params;

/// The epochs of a log in order, each with the position at which it begins.
#[derive(Debug)]
pub(super) struct Epochs {
    known: Vec<(u64, u64)>,
}

impl Epochs {
    /// The epochs of a database, whose log ends here; a new one where the machine has started since.
    pub(super) fn load(database: &Database, end: u64) -> rusqlite::Result<Self> {
        let boot = boot_id();
        let sql = "SELECT first, epoch, boot FROM epoch ORDER BY rowid";
        let mut known = database.rows(sql, [], |row| {
            Ok((unsigned(row, 0)?, unsigned(row, 1)?, row.get::<_, String>(2)?))
        })?;
        if known.last().is_none_or(|(_, _, last)| *last != boot || boot.is_empty()) {
            let epoch = Timestamp::now().unix_nanoseconds() as u64;
            let sql = "INSERT INTO epoch VALUES(?1, ?2, ?3)";
            let connection = database.connection();
            connection.execute(sql, params![end as i64, epoch as i64, boot])?;
            known.push((end, epoch, boot));
        }
        Ok(Self {
            known: known.into_iter().map(|(first, epoch, _)| (first, epoch)).collect(),
        })
    }

    /// These epochs, each with the position at which it begins.
    pub(super) const fn of(known: Vec<(u64, u64)>) -> Self {
        Self { known }
    }

    pub(super) fn present(&self) -> u64 {
        self.known.last().expect("a log has an epoch").1
    }

    /// A cursor of an earlier epoch holds up to where the next one begins; what its owner saw beyond is lost.
    pub(super) fn resume(&self, cursor: Cursor, end: u64) -> Result<Resumption, LogError> {
        let at = self.known.iter().position(|(_, epoch)| *epoch == cursor.epoch);
        let at = at.ok_or_else(|| LogError::ForeignCursor {
            cursor,
            epoch: self.present(),
        })?;
        let limit = self.known.get(at + 1).map_or(end, |(first, _)| *first);
        Ok(Resumption {
            position: cursor.position.min(limit),
            lost_since: cursor.position.saturating_sub(limit),
        })
    }
}
