//! Renders a record as one HTML file that opens anywhere, offline, now and in ten years.
//!
//! No script is needed to read it, nothing is fetched, every foreign text is escaped. The record itself is inside, as JSON.
//! `block` renders the pieces of a document, `html_shell` the page around them.

mod block;
mod html_shell;

use crate::advise::Advice;
use crate::document::{self, Block, Detail, Record};
use crate::encode::EncodingComparison;
use crate::inspect::Inspection;
use crate::load::Load;
use crate::record::Run;
use crate::tune::Tuning;
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
    html_shell::page(&record.page(), provenance, &json)
}

impl PageRecord for Run {
    fn page(&self) -> Page<'_> {
        let run = self;
        use document::run::{answer, cells, exhibits, findings, provenance_text, ratios, statistics, thresholds};
        let charts: Vec<Block> = run.charts.iter().cloned().map(Block::Chart).collect();
        let mut figures: Vec<Block> = ratios(run).into_iter().collect();
        figures.extend(cells(run));
        if !run.cells.is_empty() {
            figures.push(Block::Folded {
                summary: "Every statistic of every figure".to_owned(),
                blocks: statistics(run),
            });
        }
        Page {
            title: &run.study,
            kind: "study",
            question: &run.question,
            facts: vec![
                run.study.clone(),
                world(&run.world),
                format!("seed {}", run.seed),
                format!("lastmile {}", run.version),
            ],
            sections: vec![
                ("In short".to_owned(), answer(run).into_iter().collect()),
                ("Charts".to_owned(), charts),
                ("Findings".to_owned(), findings(run)),
                ("Thresholds".to_owned(), thresholds(run).into_iter().collect()),
                ("Exhibits".to_owned(), exhibits(run)),
                ("Figures".to_owned(), figures),
            ],
            how: provenance_text(run),
        }
    }
}

impl PageRecord for Advice {
    fn page(&self) -> Page<'_> {
        let advice = self;
        use document::advice::{answer, doubts, link_blocks, provenance_text, recommendations, snippets};
        let mut answer = answer(advice);
        answer.push(recommendations(advice));
        answer.extend(doubts(advice));
        let findings = advice.findings.iter().cloned().map(Block::Finding).collect();
        let mut sections = vec![
            ("Answer".to_owned(), answer),
            ("Findings".to_owned(), findings),
            ("To paste".to_owned(), snippets(advice)),
        ];
        for link in &advice.links {
            sections.push((format!("On {}", link.name), link_blocks(advice, link, Detail::All)));
        }
        let charts = advice.charts.iter().cloned().map(Block::Chart).collect();
        let exhibits = advice.exhibits.iter().map(|table| Block::Grid(table.into())).collect();
        sections.extend([("Charts".to_owned(), charts), ("Exhibits".to_owned(), exhibits)]);
        let Advice {
            traffic, seed, version, ..
        } = advice;
        Page {
            title: &traffic.source,
            kind: "advice",
            question: "Which compression should these responses have, on these links?",
            facts: vec![
                traffic.source.clone(),
                world("sim"),
                format!("seed {seed}"),
                format!("lastmile {version}"),
            ],
            sections,
            how: provenance_text(advice),
        }
    }
}

impl PageRecord for Inspection {
    fn page(&self) -> Page<'_> {
        let inspection = self;
        use document::inspect::{ROWS_LONG, answer, doubts, provenance_text, tables};
        let Inspection { capture, charts, .. } = inspection;
        let mut summary = vec![Block::Answer(answer(inspection))];
        summary.extend(doubts(inspection));
        Page {
            title: &capture.source,
            kind: "capture",
            question: "What is in this capture?",
            facts: vec![
                capture.source.clone(),
                capture.format.clone(),
                format!("lastmile {}", inspection.version),
            ],
            sections: vec![
                ("In short".to_owned(), summary),
                (
                    "Time and sequence".to_owned(),
                    charts.iter().cloned().map(Block::Chart).collect(),
                ),
                ("Figures".to_owned(), tables(inspection, ROWS_LONG)),
            ],
            how: provenance_text(inspection),
        }
    }
}

impl PageRecord for Tuning {
    fn page(&self) -> Page<'_> {
        let tuning = self;
        use document::tune::{answer, direction_blocks, doubts, link_blocks, provenance_text, snippets, thresholds};
        let mut answer = answer(tuning);
        answer.extend(doubts(tuning));
        let findings = tuning.findings.iter().cloned().map(Block::Finding).collect();
        let mut sections = vec![
            ("Answer".to_owned(), answer),
            ("Thresholds".to_owned(), thresholds(tuning).into_iter().collect()),
            ("Findings".to_owned(), findings),
            ("To paste".to_owned(), snippets(tuning)),
        ];
        for stream in &tuning.directions {
            let head = format!("What was {}", stream.direction.name());
            sections.push((head, direction_blocks(tuning, stream)));
        }
        for link in &tuning.links {
            sections.push((format!("On {}", tuning.link_label(link)), link_blocks(link)));
        }
        let Tuning {
            transcript,
            seed,
            version,
            ..
        } = tuning;
        Page {
            title: &transcript.source,
            kind: "tuning",
            question: "Which compression suits these messages, and what does it cost?",
            facts: vec![
                transcript.source.clone(),
                format!("zlib {}", tuning.zlib),
                format!("seed {seed}"),
                format!("lastmile {version}"),
            ],
            sections,
            how: provenance_text(tuning),
        }
    }
}

impl PageRecord for EncodingComparison {
    fn page(&self) -> Page<'_> {
        let comparison = self;
        use document::encode::{answer, charts, computing, doubts, link_blocks, provenance_text, schema, sizes};
        let mut first = answer(comparison);
        first.extend(doubts(comparison));
        let findings = comparison.findings.iter().cloned().map(Block::Finding).collect();
        let mut sections = vec![
            ("Answer".to_owned(), first),
            ("Findings".to_owned(), findings),
            ("Charts".to_owned(), charts(comparison).collect()),
            ("Sizes".to_owned(), vec![Block::Grid(sizes(comparison, Detail::All))]),
        ];
        for link in &comparison.links {
            sections.push((format!("On {}", link.name), link_blocks(link, Detail::Long)));
        }
        sections.push((
            "Computing".to_owned(),
            computing(comparison).map(Block::Grid).into_iter().collect(),
        ));
        sections.push(("Schema".to_owned(), vec![schema(comparison)]));
        let EncodingComparison {
            source, seed, version, ..
        } = comparison;
        Page {
            title: source,
            kind: "encodings",
            question: "Which encoding, compression and batch size suit these messages?",
            facts: vec![
                source.clone(),
                world("sim"),
                format!("seed {seed}"),
                format!("lastmile {version}"),
            ],
            sections,
            how: provenance_text(comparison),
        }
    }
}

impl PageRecord for Load {
    fn page(&self) -> Page<'_> {
        let load = self;
        use document::load::{answer, doubts, provenance_text, tables};
        let mut summary = answer(load);
        summary.extend(doubts(load));
        let mut facts = vec![load.target.clone()];
        facts.extend(load.link.clone());
        facts.extend([format!("seed {}", load.seed), format!("lastmile {}", load.version)]);
        Page {
            title: &load.target,
            kind: "load",
            question: "How much does this server carry, and how fast does it respond?",
            facts,
            sections: vec![
                ("In short".to_owned(), summary),
                (
                    "Charts".to_owned(),
                    load.charts.iter().cloned().map(Block::Chart).collect(),
                ),
                ("Figures".to_owned(), tables(load, Detail::All)),
            ],
            how: provenance_text(load),
        }
    }
}

fn world(name: &str) -> String {
    match name {
        "sim" => "simulated".to_owned(),
        "emu" => "emulated".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests;
