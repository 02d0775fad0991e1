//! How does a record become one HTML file that opens anywhere, offline, now and in ten years?
//!
//! No script is needed to read it, nothing is fetched, every foreign text is escaped. The record itself is inside, as JSON.
//! `block` shows the pieces of a document, `frame` what is around them.

mod block;
mod frame;

use crate::advise::Advice;
use crate::document::advice::Detail;
use crate::document::{self, Block};
use crate::inspect::Inspection;
use crate::record::Run;
use crate::tune::Tuning;

/// Where a record came from, as far as it does not say so itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// The command that makes it again.
    pub command: String,
    /// The machine that ran it, in words.
    pub machine: String,
    /// When it was finished, in words; none in pages that must be the same every time.
    pub finished: Option<String>,
    /// What was run, as expanded: the study's TOML.
    pub study: Option<String>,
}

/// The page of a run.
pub fn run_page(run: &Run, provenance: &Provenance) -> String {
    use document::run::{cells, exhibits, findings, measured_how, ratios, statistics, thresholds};
    let charts: Vec<Block> = run.charts.iter().cloned().map(Block::Chart).collect();
    let mut figures: Vec<Block> = ratios(run).into_iter().collect();
    figures.extend(cells(run));
    if !run.cells.is_empty() {
        figures.push(Block::Folded {
            summary: "Every statistic of every figure".to_owned(),
            blocks: statistics(run),
        });
    }
    frame::page(&frame::Page {
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
            ("Findings".to_owned(), findings(run)),
            ("Thresholds".to_owned(), thresholds(run).into_iter().collect()),
            ("Charts".to_owned(), charts),
            ("Figures".to_owned(), figures),
            ("Exhibits".to_owned(), exhibits(run)),
        ],
        how: measured_how(run),
        provenance,
        json: serde_json::to_string(run).expect("a record has text for keys, and nothing else can fail"),
    })
}

/// The page of an advice.
pub fn advice_page(advice: &Advice, provenance: &Provenance) -> String {
    use document::advice::{answer, doubts, link_blocks, recommendations, replayed_how, snippets};
    let mut answer = answer(advice);
    answer.push(recommendations(advice, Detail::All));
    answer.extend(doubts(advice));
    let findings = advice.findings.iter().cloned().map(Block::Finding).collect();
    let mut sections = vec![
        ("Answer".to_owned(), answer),
        ("Findings".to_owned(), findings),
        ("To paste".to_owned(), snippets(advice)),
    ];
    for link in &advice.links {
        sections.push((format!("On {}", link.name), link_blocks(link, Detail::All)));
    }
    let charts = advice.charts.iter().cloned().map(Block::Chart).collect();
    let exhibits = advice.exhibits.iter().map(|table| Block::Grid(table.into())).collect();
    sections.extend([("Charts".to_owned(), charts), ("Exhibits".to_owned(), exhibits)]);
    let Advice {
        traffic, seed, version, ..
    } = advice;
    frame::page(&frame::Page {
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
        how: replayed_how(advice),
        provenance,
        json: serde_json::to_string(advice).expect("a record has text for keys, and nothing else can fail"),
    })
}

/// The page of a capture.
pub fn inspection_page(inspection: &Inspection, provenance: &Provenance) -> String {
    use document::inspect::{ROWS_LONG, answer, captured_how, doubts, tables};
    let Inspection { capture, charts, .. } = inspection;
    let mut summary = vec![Block::Answer(answer(inspection))];
    summary.extend(doubts(inspection));
    frame::page(&frame::Page {
        title: &capture.source,
        kind: "capture",
        question: "What passed here?",
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
        how: captured_how(inspection),
        provenance,
        json: serde_json::to_string(inspection).expect("a record has text for keys, and nothing else can fail"),
    })
}

/// The page of a tuning.
pub fn tuning_page(tuning: &Tuning, provenance: &Provenance) -> String {
    use document::tune::{answer, compressed_how, direction_blocks, doubts, link_blocks, snippets, thresholds};
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
        sections.push((format!("On {}", tuning.place(link)), link_blocks(link)));
    }
    let Tuning {
        transcript,
        seed,
        version,
        ..
    } = tuning;
    frame::page(&frame::Page {
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
        how: compressed_how(tuning),
        provenance,
        json: serde_json::to_string(tuning).expect("a record has text for keys, and nothing else can fail"),
    })
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
