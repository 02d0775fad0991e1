//! The audit: every chunk is read and held against its source's sequence and the log's accounts.

use super::database::{Database, Deletion};
use super::error::LogError;
use super::page::{Entry, Page};
use crate::ledger::{Admission, Ledger, SourceAccount};
use lastmile_events::{Chunk, Source};

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

/// One source's part.
#[derive(Debug, Clone)]
pub struct SourceAudit {
    /// Which.
    pub source: Source,
    /// What became of its numbers.
    pub account: SourceAccount,
}

pub(super) fn audit(database: &Database) -> Result<Audit, LogError> {
    let failed = |error| database.failed(error);
    let _view = database.view().map_err(failed)?;
    let mut auditor = Auditor::new(database.extent().map_err(failed)?);
    while let Some(position) = auditor.next() {
        let page = database.page(position).map_err(failed)?;
        for entry in &page.entries {
            if let Entry::Chunk { position, chunk } = entry
                && !database.index_lists(*position, chunk).map_err(failed)?
            {
                auditor.problems.push(format!(
                    "position {position}: the index does not list this chunk as it is; a query by subject may miss it"
                ));
            }
        }
        auditor.check(page);
    }
    for damage in database.known_damage().map_err(failed)? {
        if !auditor.problems.contains(&damage) {
            auditor.problems.push(damage);
        }
    }
    let deletions = database.deletions().map_err(failed)?;
    Ok(auditor.finish(database.load_ledger()?, deletions))
}

/// Holds the pages of a log, in their order, against the sources' sequences and accounts.
#[derive(Debug)]
pub(super) struct Auditor {
    extent: (u64, u64),
    position: u64,
    seen: Ledger,
    problems: Vec<String>,
}

impl Auditor {
    /// An audit of the positions from the first to before the second.
    pub(super) fn new(extent: (u64, u64)) -> Self {
        let seen = Ledger {
            next_position: extent.0,
            ..Ledger::default()
        };
        Self {
            extent,
            position: extent.0,
            seen,
            problems: Vec::new(),
        }
    }

    /// Where the next page begins; nowhere at the end.
    pub(super) fn next(&self) -> Option<u64> {
        (self.position < self.extent.1).then_some(self.position)
    }

    pub(super) fn check(&mut self, page: Page) {
        for entry in page.entries {
            match entry {
                Entry::Chunk { position, chunk } => self.check_chunk(position, &chunk),
                Entry::Damaged { position, end, what } => {
                    let last = end.max(position + 1) - 1;
                    self.problems.push(format!("positions {position} to {last}: {what}"));
                }
            }
        }
        self.position = page.next.max(self.position + 1);
    }

    fn check_chunk(&mut self, position: u64, chunk: &Chunk) {
        if self.extent.0 > 0 && !self.seen.sources.contains_key(chunk.source()) {
            // What came before was released.
            self.seen.skip_to(chunk.source(), chunk.first());
        }
        let admission = self.seen.admit(chunk);
        if matches!(admission, Admission::Append { .. }) {
            return;
        }
        let (source, first, last) = (chunk.source(), chunk.first(), chunk.end() - 1);
        let why = match admission {
            Admission::Gap { expected } => format!("numbers {expected} to {} are missing", first - 1),
            _ => "these numbers were there before".to_owned(),
        };
        let problem = format!("position {position}: {source}, numbers {first} to {last}: {why}");
        self.problems.push(problem);
        self.seen.skip_to(source, chunk.end());
    }

    /// What was found, beside the accounts.
    pub(super) fn finish(self, accounts: Ledger, deletions: Vec<Deletion>) -> Audit {
        let mut problems = self.problems;
        for (source, account) in &accounts.sources {
            let next = self.seen.sources.get(source).map_or(1, |seen| seen.next);
            if self.extent.0 == 0 && next < account.next {
                problems.push(format!(
                    "{source}: numbers {next} to {} are missing at its end",
                    account.next - 1
                ));
            }
        }
        let sources = accounts.sources.into_iter();
        Audit {
            extent: self.extent,
            sources: sources
                .map(|(source, account)| SourceAudit { source, account })
                .collect(),
            deletions,
            problems,
        }
    }
}
