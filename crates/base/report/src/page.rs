//! Renders a record as one HTML file that opens anywhere, offline, now and in ten years.
//!
//! No script is needed to read it, nothing is fetched, every foreign text is escaped. The record itself is inside, as JSON.
//! `block` renders the pieces of a document, `html_shell` the page around them.

mod block;
mod html_shell;

use crate::document::{self, Block, Record};
use crate::record::Run;
pub use html_shell::Page;

/// Where a record came from, as far as the record does not hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// The command that reproduces it.
    pub command: String,
    /// The machine that ran it, in words.
    pub machine: String,
    /// When it was finished, in words; none in pages that must be reproducible.
    pub finished: Option<String>,
    /// The study as expanded, in TOML.
    pub study: Option<String>,
}

/// A record that has a page.
pub trait PageRecord: Record {
    /// What its page holds.
    fn page(&self) -> Page<'_>;
}

/// Writes the page of a record.
pub fn render(record: &impl PageRecord, provenance: &Provenance) -> String {
    let json = serde_json::to_string(record).expect("a record has text for keys, and nothing else can fail");
    html_shell::page(&record.page(), record.screen().as_ref(), provenance, &json)
}

/// A page shows every statistic of no more cells than this: our own choice, since those of 500 are 5 MB of tables.
const CELLS_WITH_STATISTICS_MAX: usize = 200;

impl PageRecord for Run {
    fn page(&self) -> Page<'_> {
        use document::run::{answer, cells, exhibits, findings, provenance_text, ratios, statistics, thresholds};
        let charts: Vec<Block> = self.charts.iter().cloned().map(Block::Chart).collect();
        let mut figures: Vec<Block> = ratios(self).into_iter().collect();
        figures.extend(cells(self));
        if (1..=CELLS_WITH_STATISTICS_MAX).contains(&self.cells.len()) {
            figures.push(Block::Folded {
                summary: "Every statistic of every figure".to_owned(),
                blocks: statistics(self),
            });
        }
        if self.cells.len() > CELLS_WITH_STATISTICS_MAX {
            figures.push(Block::Text(
                "Every statistic of every figure is in the data below, and in the formats json and csv of `lastmile report`.".to_owned(),
            ));
        }
        Page {
            title: &self.study,
            kind: "study",
            question: &self.question,
            facts: vec![
                self.study.clone(),
                world(&self.world),
                format!("seed {}", self.seed),
                format!("lastmile {}", self.version),
            ],
            sections: vec![
                ("In short".to_owned(), answer(self).into_iter().collect()),
                ("Charts".to_owned(), charts),
                ("Findings".to_owned(), findings(self)),
                ("Thresholds".to_owned(), thresholds(self).into_iter().collect()),
                ("Exhibits".to_owned(), exhibits(self)),
                ("Figures".to_owned(), figures),
            ],
            how: provenance_text(self),
        }
    }
}

/// What a world is called on a page.
pub(crate) fn world(name: &str) -> String {
    match name {
        "sim" => "simulated".to_owned(),
        "emu" => "emulated".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests;
