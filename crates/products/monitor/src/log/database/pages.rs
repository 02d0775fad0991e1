//! Reads pages of chunks. What is damaged is an entry of its own.

use super::index::Candidates;
use super::{Database, unsigned};
use crate::filter::Filter;
use crate::log::page::{Entry, PAGE_BYTES, Page};
use lastmile_events::Chunk;
use rusqlite::Row;

const COLUMNS: &str = "position, events, source, first, bytes";

impl Database {
    /// Reads about [`PAGE_BYTES`] from a position on.
    pub(in crate::log) fn read_page(&self, from: u64) -> rusqlite::Result<Page> {
        let _view = self.view()?;
        self.page(from)
    }

    /// As [`Self::read_page`], without the chunks that hold nothing of what the filter asks for, as far as the index tells. Of what is missing, nothing
    /// tells: it is always in the page.
    pub(in crate::log) fn read_matching(&self, begin: u64, filter: &Filter) -> rusqlite::Result<Page> {
        let _view = self.view()?;
        let (_, end) = self.extent()?;
        let from = self.skip_older(begin, filter)?.min(end.max(begin));
        let (mut page, covered_until) = match self.candidates(self.chunk_start(from)?, end, filter)? {
            Some(candidates) => {
                let page = self.page_of(&candidates, from, end)?;
                let next = page.next;
                (page, next)
            }
            None => (self.page(from)?, from),
        };
        page.entries.extend(self.damage_between(begin, covered_until)?);
        page.entries.extend(self.damage_without_events(begin, covered_until)?);
        Ok(page)
    }

    /// A page of the first of these chunks.
    fn page_of(&self, candidates: &Candidates, from: u64, end: u64) -> rusqlite::Result<Page> {
        let mut page = Page::new(from);
        let (mut bytes, mut after) = (0, from);
        for position in &candidates.positions {
            if bytes >= PAGE_BYTES {
                page.next = (*position).max(from);
                return Ok(page);
            }
            let (entry, chunk_end, size) = self.chunk_at(*position, end)?;
            bytes += size;
            after = chunk_end;
            page.entries.push(entry);
        }
        page.next = candidates.until.max(after);
        Ok(page)
    }

    /// Where the chunk begins that holds this position.
    fn chunk_start(&self, position: u64) -> rusqlite::Result<u64> {
        let sql =
            "SELECT position FROM chunk WHERE position <= ?1 AND position + events > ?1 ORDER BY position DESC LIMIT 1";
        let start = self.rows(sql, [position as i64], |row| unsigned(row, 0))?;
        Ok(start.first().copied().unwrap_or(position))
    }

    fn chunk_at(&self, position: u64, end: u64) -> rusqlite::Result<(Entry, u64, usize)> {
        let sql = format!("SELECT {COLUMNS} FROM chunk WHERE position = ?1");
        let found = self.rows(&sql, [position as i64], |row| self.entry(row, end))?.pop();
        Ok(found.unwrap_or_else(|| {
            let what = "the index names a chunk that is not there".to_owned();
            let end = position + 1;
            (Entry::Damaged { position, end, what }, end, 1)
        }))
    }

    /// The entry of a row, the position after it, and its bytes.
    fn entry(&self, row: &Row<'_>, end: u64) -> rusqlite::Result<(Entry, u64, usize)> {
        let (position, events) = (unsigned(row, 0)?, unsigned(row, 1)?);
        let after = position.saturating_add(events);
        let blob = row.get_ref(4)?.as_blob().unwrap_or_default();
        let (source, number): (i64, u64) = (row.get(2)?, unsigned(row, 3)?);
        let entry = match Chunk::read(blob) {
            Ok((chunk, _)) if u64::from(chunk.event_count()) == events && chunk.first() == number => {
                Entry::Chunk { position, chunk }
            }
            other => {
                let why = other.map_or_else(|error| error.to_string(), |_| "its row names other events".to_owned());
                let whose = self.source_name(source);
                let what = format!("{whose}, from its number {number} on: {why}");
                let end = after.min(end).max(position + 1);
                Entry::Damaged { position, end, what }
            }
        };
        Ok((entry, after, blob.len() + 1))
    }

    /// A page, within a view.
    pub(in crate::log) fn page(&self, from: u64) -> rusqlite::Result<Page> {
        let (start, end) = self.extent()?;
        let mut page = Page::new(from.max(start));
        let sql = format!(
            "SELECT {COLUMNS} FROM chunk
            WHERE position >= coalesce((SELECT max(position) FROM chunk WHERE position <= ?1), 0) ORDER BY position"
        );
        let mut chunks = self.connection.prepare_cached(&sql)?;
        let mut rows = chunks.query([page.next as i64])?;
        let mut bytes = 0;
        let mut first = true;
        while page.next < end && bytes < PAGE_BYTES {
            let Some(row) = rows.next()? else { break };
            let (entry, after, size) = self.entry(row, end)?;
            let position = unsigned(row, 0)?;
            if std::mem::take(&mut first) {
                if after <= page.next {
                    continue;
                }
            } else if position < page.next {
                let end = page.next;
                let what = format!("the chunk at position {position} stands out of order");
                page.entries.push(Entry::Damaged { position, end, what });
                continue;
            }
            if position > page.next {
                self.put_missing(&mut page, position.min(end))?;
            }
            bytes += size;
            page.next = after.clamp(page.next + 1, end.max(page.next + 1));
            page.entries.push(entry);
        }
        if page.next < end && bytes < PAGE_BYTES {
            self.put_missing(&mut page, end)?;
        }
        page.entries.extend(self.damage_without_events(from, page.next)?);
        Ok(page)
    }

    /// Names what is missing from the page's end to `end`.
    fn put_missing(&self, page: &mut Page, end: u64) -> rusqlite::Result<()> {
        let known = self.damage_between(page.next, end)?;
        let covered = matches!(&known[..], [Entry::Damaged { position, end: known_end, .. }] if (*position, *known_end) == (page.next, end));
        if covered {
            page.entries.extend(known);
        } else {
            let position = page.next;
            let what = format!(
                "no chunk holds the {} events from position {position} on",
                end - position
            );
            page.entries.push(Entry::Damaged { position, end, what });
        }
        page.next = end;
        Ok(())
    }

    /// The holes that are known between two positions.
    fn damage_between(&self, from: u64, end: u64) -> rusqlite::Result<Vec<Entry>> {
        let sql = "SELECT position, end, what FROM damage WHERE position < ?2 AND end > ?1 AND end > position ORDER BY position";
        self.damage(sql, from, end)
    }

    /// Damage that took no position, such as a mark that cannot be read.
    fn damage_without_events(&self, from: u64, end: u64) -> rusqlite::Result<Vec<Entry>> {
        let sql = "SELECT position, end, what FROM damage WHERE position >= ?1 AND position < ?2 AND end = position ORDER BY position";
        self.damage(sql, from, end)
    }

    fn damage(&self, sql: &str, from: u64, end: u64) -> rusqlite::Result<Vec<Entry>> {
        self.rows(sql, [from as i64, end.min(i64::MAX as u64) as i64], |row| {
            Ok(Entry::Damaged {
                position: unsigned(row, 0)?,
                end: unsigned(row, 1)?,
                what: row.get(2)?,
            })
        })
    }

    /// The chunk from a position on, or what is damaged there, and where to go on; `None` at the end. A page of the database that cannot be read is passed
    /// over, by longer and longer steps.
    pub(in crate::log) fn next_chunk(&self, from: u64) -> Option<(Entry, u64)> {
        let sql = format!("SELECT {COLUMNS} FROM chunk WHERE position >= ?1 ORDER BY position LIMIT 1");
        let (mut position, mut step) = (from, 1);
        let mut problem = None;
        loop {
            let from_here = [i64::try_from(position).unwrap_or(i64::MAX)];
            let read = self.rows(&sql, from_here, |row| self.entry(row, u64::MAX));
            match (read, problem) {
                (Ok(mut chunks), None) => {
                    let (entry, _, _) = chunks.pop()?;
                    let (Entry::Chunk { position, .. } | Entry::Damaged { position, .. }) = entry;
                    return Some((entry, position + 1));
                }
                (Ok(_), Some(what)) => {
                    let entry = Entry::Damaged {
                        position: from,
                        end: position,
                        what,
                    };
                    return Some((entry, position));
                }
                (Err(error), _) => {
                    let Some(next) = position.checked_add(step).filter(|next| i64::try_from(*next).is_ok()) else {
                        let entry = Entry::Damaged {
                            position: from,
                            end: position,
                            what: error.to_string(),
                        };
                        return Some((entry, i64::MAX as u64)).filter(|_| from < i64::MAX as u64 / 2);
                    };
                    (position, step) = (next, step * 2);
                    problem = Some(error.to_string());
                }
            }
        }
    }

    /// All damage that is known, each in a sentence.
    pub(in crate::log) fn known_damage(&self) -> rusqlite::Result<Vec<String>> {
        let entries = self.damage(
            "SELECT position, end, what FROM damage WHERE ?1 <= ?2 ORDER BY position",
            0,
            0,
        )?;
        let sentence = |entry| match entry {
            Entry::Damaged { position, end, what } if end == position => Some(format!("position {position}: {what}")),
            Entry::Damaged { position, end, what } => Some(format!("positions {position} to {}: {what}", end - 1)),
            Entry::Chunk { .. } => None,
        };
        let index = (!self.index_is_sound).then(|| super::proof::DAMAGED_INDEX.to_owned());
        Ok(entries.into_iter().filter_map(sentence).chain(index).collect())
    }

    fn source_name(&self, id: i64) -> String {
        let sql = "SELECT name, incarnation FROM source WHERE id = ?1";
        let name = self.connection.query_row(sql, [id], |row| {
            Ok(format!("{}@{:016x}", row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
        });
        name.unwrap_or_else(|_| format!("unknown source {id}"))
    }
}
