//! Keeps the database able to delete on a disk that is full.
//!
//! The pages that a commit adds must find room when the write-ahead log is moved into the database. So the database grows by what the reserve holds
//! and no further, and where the reserve cannot be held it does not grow at all: it uses again what was deleted.

use super::Database;
use super::schema::{CHECKPOINT_PAGES, most_pages, number, pages_in, set};
use crate::log::reserve::Reserve;

/// A group commit has no more pages than this, about.
const GROUP_PAGES: i64 = 1280;

/// How far the database may grow.
#[derive(Debug)]
pub(super) struct Room {
    pub(super) reserve: Reserve,
    /// The most pages that it may have now.
    pub(super) limit: i64,
}

impl Database {
    fn checkpoint(&self) -> rusqlite::Result<()> {
        self.connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
    }

    fn limit_pages(&mut self, limit: i64) -> rusqlite::Result<()> {
        set(&self.connection, "max_page_count", &limit)?;
        if let Some(room) = &mut self.writing().room {
            room.limit = limit;
        }
        Ok(())
    }

    /// Moves the write-ahead log into the database, holds the reserve and lets the database grow by it; whether there may be more room than before.
    pub(in crate::log) fn secure_room(&mut self) -> bool {
        self.try_to_secure_room().unwrap_or(false)
    }

    fn try_to_secure_room(&mut self) -> rusqlite::Result<bool> {
        // Where it cannot be moved, it stays as it is.
        let _ = self.checkpoint();
        let Some(room) = &mut self.writing().room else {
            return Ok(false);
        };
        let (is_held, is_scarce) = (room.reserve.take(), room.reserve.is_scarce());
        let (reserved, most_bytes, before) = (room.reserve.bytes, room.reserve.most_bytes, room.limit);
        let growth = pages_in(&self.connection, reserved)?;
        let limit = if is_held {
            let in_file = std::fs::metadata(&self.path).map_or(0, |file| file.len());
            pages_in(&self.connection, in_file)? + growth
        } else {
            number(&self.connection, "PRAGMA page_count")?
        };
        let limit = limit.min(most_pages(&self.connection, most_bytes)?);
        set(
            &self.connection,
            "wal_autocheckpoint",
            &growth.clamp(32, CHECKPOINT_PAGES),
        )?;
        self.limit_pages(limit)?;
        Ok(is_scarce || limit > before)
    }

    /// As [`Self::secure_room`], where a group commit might not have room otherwise.
    pub(in crate::log) fn secure_room_early(&mut self) {
        let Some(limit) = self.writing().room.as_ref().map(|room| room.limit) else {
            return;
        };
        let pages = number(&self.connection, "PRAGMA page_count");
        if pages.is_ok_and(|pages| pages + GROUP_PAGES > limit) {
            self.secure_room();
        }
    }

    /// Gives the reserve away, for something that does not let the database grow; whether there is one.
    pub(in crate::log) fn open_reserve(&mut self) -> bool {
        let Some(room) = &mut self.writing().room else {
            return false;
        };
        room.reserve.release();
        let limited = self
            .checkpoint()
            .and_then(|()| number(&self.connection, "PRAGMA page_count"))
            .and_then(|pages| self.limit_pages(pages));
        limited.is_ok()
    }
}
