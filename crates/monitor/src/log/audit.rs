//! The audit: every chunk is read and held against its source's sequence and the log's accounts.

use super::database::Database;
use super::error::LogError;
use super::page::{Entry, Page};
use crate::ledger::{Admission, Ledger, SourceAccount};
use lastmile_events::{Chunk, Source, Timestamp};

/// What an audit found.
#[derive(Debug, Clone)]
pub struct Audit {
    /// The first position that is kept, and the one after the last.
    pub extent: (u64, u64),
    /// The sources, by name and life.
    pub sources: Vec<SourceAudit>,
    /// What was deleted because its time or its room was over.
    pub deletions: Vec<Deletion>,
    /// What is missing or damaged, each in a sentence with its place; empty where all adds up.
    pub problems: Vec<String>,
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

/// One source's part.
#[derive(Debug, Clone)]
pub struct SourceAudit {
    /// Which.
    pub source: Source,
    /// What became of its numbers.
    pub account: SourceAccount,
}

pub(super) fn audit(database: &Database) -> Result<Audit, LogError> {
    database.in_one_view(|| {
        let is_listed = |position, chunk: &Chunk| database.index_lists(position, chunk);
        let (extent, ledger) = (database.extent()?, database.load_ledger()?);
        let mut audit = audit_pages(extent, ledger, |from| database.page(from), is_listed)?;
        for damage in database.known_damage()? {
            if !audit.problems.contains(&damage) {
                audit.problems.push(damage);
            }
        }
        audit.deletions = database.deletions()?;
        Ok(audit)
    })
}

/// Holds the pages of an extent against the accounts; `is_listed` tells whether an index lists a chunk as it is.
pub(super) fn audit_pages(
    extent: (u64, u64),
    accounts: Ledger,
    read_page: impl Fn(u64) -> Result<Page, LogError>,
    is_listed: impl Fn(u64, &Chunk) -> Result<bool, LogError>,
) -> Result<Audit, LogError> {
    let mut problems = Vec::new();
    let mut seen = Ledger {
        next_position: extent.0,
        ..Ledger::default()
    };
    let mut position = extent.0;
    while position < extent.1 {
        let page = read_page(position)?;
        for entry in page.entries {
            match entry {
                Entry::Chunk { position, chunk } => {
                    if extent.0 > 0 && !seen.sources.contains_key(chunk.source()) {
                        // What came before was released.
                        seen.begin(chunk.source(), chunk.first());
                    }
                    if !is_listed(position, &chunk)? {
                        problems.push(format!(
                            "position {position}: the index does not list this chunk as it is; a query by subject may miss it"
                        ));
                    }
                    let admission = seen.admit(&chunk);
                    if !matches!(admission, Admission::Append { .. }) {
                        let (source, first, end) = (chunk.source(), chunk.first(), chunk.end() - 1);
                        let why = match admission {
                            Admission::Gap { expected } => format!("numbers {expected} to {} are missing", first - 1),
                            _ => "these numbers were there before".to_owned(),
                        };
                        problems.push(format!(
                            "position {position}: {source}, numbers {first} to {end}: {why}"
                        ));
                        seen.begin(source, chunk.end());
                    }
                }
                Entry::Damaged { position, end, what } => {
                    problems.push(format!("positions {position} to {}: {what}", end.max(position + 1) - 1));
                }
            }
        }
        position = page.next.max(position + 1);
    }
    for (source, account) in &accounts.sources {
        let next = seen.sources.get(source).map_or(1, |seen| seen.next);
        if extent.0 == 0 && next < account.next {
            problems.push(format!(
                "{source}: numbers {next} to {} are missing at its end",
                account.next - 1
            ));
        }
    }
    let sources = accounts.sources.into_iter();
    Ok(Audit {
        extent,
        sources: sources
            .map(|(source, account)| SourceAudit { source, account })
            .collect(),
        deletions: Vec::new(),
        problems,
    })
}

impl Ledger {
    /// Takes what is below `next` as known.
    fn begin(&mut self, source: &Source, next: u64) {
        let id = self.sources.len() as i64 + 1;
        let account = self.sources.entry(source.clone()).or_insert_with(|| SourceAccount {
            id,
            next,
            stored: 0,
            released: 0,
            lost: Default::default(),
            ended: false,
        });
        account.next = account.next.max(next);
    }
}
