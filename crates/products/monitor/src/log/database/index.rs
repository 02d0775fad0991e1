//! The index: where each subject is, so that a query reads the chunks that may hold what it asks for, and no others.

use super::proof::subject_term;
use super::{Database, unsigned};
use crate::filter::Filter;
use lastmile_events::{Chunk, Pattern, Timestamp};
use rusqlite::{Connection, params};
use std::collections::HashMap;

/// The subjects that are known, by text. Others may add some; so what is unknown is asked for.
#[derive(Debug, Default)]
pub(super) struct SubjectIndex {
    ids: HashMap<Box<str>, i64>,
    last: i64,
}

/// A chunk with more subjects stands under [`SEVERAL`]: our own choice.
const SUBJECTS_MAX: usize = 64;
/// The subject of chunks that have too many.
const SEVERAL: i64 = 0;
/// A pattern that matches more subjects than this is looked for in all chunks: our own choice.
const MATCHES_MAX: usize = 64;
/// So many positions of a subject are asked for at a time.
const POSITIONS_MAX: usize = 64;

impl SubjectIndex {
    /// Adds a chunk's rows, one for each of its subjects, and gives the terms of their proof.
    pub(super) fn add(&mut self, connection: &Connection, position: u64, chunk: &Chunk) -> rusqlite::Result<i64> {
        let mut insert = connection.prepare_cached("INSERT INTO place VALUES(?1, ?2, ?3, ?4)")?;
        let times = (chunk.earliest().unix_nanoseconds(), chunk.latest().unix_nanoseconds());
        let mut put = |subject: i64| {
            insert
                .execute(params![subject, position as i64, times.0, times.1])
                .map(drop)
        };
        let subjects = chunk.subjects();
        if subjects.len() > SUBJECTS_MAX {
            put(SEVERAL)?;
            return Ok(subject_term("", position, times.0, times.1));
        }
        let mut sum = 0;
        for subject in subjects {
            sum += subject_term(subject, position, times.0, times.1);
            let id = match self.ids.get(subject) {
                Some(id) => *id,
                None => self.number(connection, subject)?,
            };
            put(id)?;
        }
        Ok(sum)
    }

    fn number(&mut self, connection: &Connection, subject: &str) -> rusqlite::Result<i64> {
        self.refresh(connection)?;
        if let Some(id) = self.ids.get(subject) {
            return Ok(*id);
        }
        let id = self.last + 1;
        connection
            .prepare_cached("INSERT INTO subject VALUES(?1, ?2)")?
            .execute(params![id, subject])?;
        self.ids.insert(subject.into(), id);
        self.last = id;
        Ok(id)
    }

    /// Forgets all, since what was added was not committed.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn refresh(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut new = connection.prepare_cached("SELECT id, text FROM subject WHERE id > ?1 ORDER BY id")?;
        let mut rows = new.query([self.last])?;
        while let Some(row) = rows.next()? {
            self.last = row.get(0)?;
            self.ids.insert(row.get::<_, String>(1)?.into(), self.last);
        }
        Ok(())
    }

    /// The subjects that a pattern matches; `None` where they are too many.
    fn matches(&self, pattern: &Pattern) -> Option<Vec<i64>> {
        let text = pattern.as_str();
        if !text.contains(['*', '>']) {
            return Some(self.ids.get(text).copied().into_iter().collect());
        }
        let matching = self.ids.iter().filter(|(subject, _)| pattern.matches(subject));
        let ids: Vec<i64> = matching.map(|(_, id)| *id).take(MATCHES_MAX + 1).collect();
        (ids.len() <= MATCHES_MAX).then_some(ids)
    }
}

/// The chunks that may hold what is asked for.
pub(super) struct Candidates {
    /// Where they begin, in order.
    pub(super) positions: Vec<u64>,
    /// All before this position are told.
    pub(super) until: u64,
}

impl Database {
    /// The first position from here on that may hold an event that the filter asks for, by its time.
    pub(super) fn skip_older(&self, from: u64, filter: &Filter) -> rusqlite::Result<u64> {
        let Some(since) = filter.since.filter(|_| self.index_is_sound) else {
            return Ok(from);
        };
        let sql = "SELECT position FROM chunk WHERE reach >= ?1 ORDER BY reach, position LIMIT 1";
        let first = self.rows(sql, [since.unix_nanoseconds()], |row| unsigned(row, 0))?;
        Ok(first.first().map_or(u64::MAX, |first| (*first).max(from)))
    }

    /// The chunks from a position on that may hold what the filter asks for; `None` where the index does not tell.
    pub(super) fn candidates(&self, from: u64, end: u64, filter: &Filter) -> rusqlite::Result<Option<Candidates>> {
        let Some(pattern) = filter.subject.as_ref().filter(|_| self.index_is_sound) else {
            return Ok(None);
        };
        let mut subjects = self.subjects.borrow_mut();
        subjects.refresh(&self.connection)?;
        let Some(ids) = subjects.matches(pattern) else {
            return Ok(None);
        };
        let sql = "SELECT position FROM place WHERE subject = ?1 AND position >= ?2 AND latest >= ?3 AND earliest < ?4
            ORDER BY position LIMIT ?5";
        let since = filter.since.map_or(i64::MIN, Timestamp::unix_nanoseconds);
        let until = filter.until.map_or(i64::MAX, Timestamp::unix_nanoseconds);
        let mut candidates = Candidates {
            positions: Vec::new(),
            until: end,
        };
        for id in ids.into_iter().chain([SEVERAL]) {
            let parameters = params![id, from as i64, since, until, POSITIONS_MAX as i64];
            let found = self.rows(sql, parameters, |row| unsigned(row, 0))?;
            if found.len() == POSITIONS_MAX {
                // Whole chunks: what begins at the last one is told too.
                candidates.until = candidates.until.min(found[POSITIONS_MAX - 1] + 1);
            }
            candidates.positions.extend(found);
        }
        candidates.positions.sort_unstable();
        candidates.positions.dedup();
        let until = candidates.until;
        candidates.positions.retain(|position| *position < until);
        Ok(Some(candidates))
    }

    /// Whether the index lists this chunk as its events say.
    pub(in crate::log) fn index_lists(&self, position: u64, chunk: &Chunk) -> rusqlite::Result<bool> {
        if !self.index_is_sound {
            return Ok(true);
        }
        let mut subjects = self.subjects.borrow_mut();
        subjects.refresh(&self.connection)?;
        let own = chunk.subjects();
        let ids = if own.len() > SUBJECTS_MAX {
            vec![Some(SEVERAL)]
        } else {
            own.iter().map(|subject| subjects.ids.get(*subject).copied()).collect()
        };
        let sql = "SELECT count(*) FROM place WHERE subject = ?1 AND position = ?2 AND earliest = ?3 AND latest = ?4";
        let mut count = self.connection.prepare_cached(sql)?;
        let (earliest, latest) = (chunk.earliest().unix_nanoseconds(), chunk.latest().unix_nanoseconds());
        for id in ids {
            let Some(id) = id else { return Ok(false) };
            let rows: i64 = count.query_row(params![id, position as i64, earliest, latest], |row| row.get(0))?;
            if rows != 1 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
