//! The answer, charts and tables that show a comparison of encodings.

use crate::csv;
use crate::record::{EncodingComparison, EncodingDelivery, EncodingOutcome, EncodingSetting};
use crate::screen;
use lastmile_report::csv::Rows;
use lastmile_report::document::{Block, Detail, Grid, Note, Record, RowEmphasis};
use lastmile_report::number::{counted, mean_and_spread, mean_bytes, percent, quantity};
use lastmile_report::page::{Page, PageRecord};
use lastmile_report::screen::Screen;

impl Record for EncodingComparison {
    fn blocks(&self, detail: Detail) -> Vec<Block> {
        let mut blocks = answer(self);
        blocks.extend(self.findings.iter().cloned().map(Block::Finding));
        blocks.extend(charts(self));
        blocks.push(Block::Grid(sizes(self, detail)));
        for link in &self.links {
            blocks.push(Block::Heading(format!("On {}", link.name)));
            blocks.extend(link_blocks(link, detail));
        }
        if detail != Detail::Short {
            blocks.push(schema(self));
        }
        blocks.push(Block::Text(provenance_text(self)));
        if detail == Detail::Short {
            let everything = "The formats md, json and csv, and --all, show the schema and every setting.";
            blocks.push(Block::Text(everything.to_owned()));
        }
        blocks.extend(doubts(self));
        blocks
    }

    fn rows(&self) -> Rows {
        csv::encoding(self)
    }

    fn screen(&self) -> Option<Screen> {
        Some(screen::screen(self))
    }
}

/// The answer: a paragraph for each link.
fn answer(comparison: &EncodingComparison) -> Vec<Block> {
    let paragraphs = comparison.answer.lines();
    paragraphs.map(|text| Block::Answer(text.to_owned())).collect()
}

/// What is drawn.
fn charts(comparison: &EncodingComparison) -> impl Iterator<Item = Block> {
    comparison.charts.iter().cloned().map(Block::Chart)
}

/// The schema that was found.
fn schema(comparison: &EncodingComparison) -> Block {
    Block::Code {
        title: "The schema of these documents".to_owned(),
        text: comparison.inferred_schema.clone(),
        note: "It was inferred: the narrowest that holds every document. Other documents of the same program may need more.".to_owned(),
    }
}

/// The size of a message: a row per encoding and batch size, a column per codec.
fn sizes(comparison: &EncodingComparison, detail: Detail) -> Grid {
    let mut codecs: Vec<&str> = Vec::new();
    for setting in &comparison.settings {
        if !codecs.contains(&setting.codec.as_str()) {
            codecs.push(&setting.codec);
        }
    }
    let note = "Bytes of a message after encoding and compression, without framing: the mean over all messages. A batch is compressed as one.";
    let is_sampled = |setting: &EncodingSetting| setting.batches_compressed < setting.batches;
    let note = if comparison.settings.iter().any(is_sampled) {
        format!("{note} Of many batches a sample was compressed, and the others are estimated from it.")
    } else {
        note.to_owned()
    };
    let mut grid = Grid::new("Sizes", note)
        .word_columns(["encoding"])
        .figure_columns(["batch"])
        .figure_columns(codecs.iter().copied());
    let mut rows: Vec<(&str, u64)> = Vec::new();
    for setting in &comparison.settings {
        let row = (setting.encoding.as_str(), setting.batch);
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let smallest_batch = rows.iter().map(|row| row.1).min();
    let largest_batch = rows.iter().map(|row| row.1).max();
    rows.sort_by_key(|row| row.1);
    for (encoding, batch) in rows {
        if detail == Detail::Short && Some(batch) != smallest_batch && Some(batch) != largest_batch {
            continue;
        }
        let mut cells = vec![encoding.to_owned(), batch.to_string()];
        cells.extend(codecs.iter().map(|codec| {
            let is_it = |setting: &&EncodingSetting| {
                setting.encoding == encoding && setting.batch == batch && setting.codec == *codec
            };
            let setting = comparison.settings.iter().find(is_it);
            setting.map_or_else(String::new, |setting| mean_bytes(setting.bytes_per_message))
        }));
        grid.row(cells, RowEmphasis::Plain, &[]);
    }
    grid
}

/// CPU time: a row per setting of the largest and smallest batch; none where it was not measured.
fn computing(comparison: &EncodingComparison) -> Option<Grid> {
    let note = "CPU time to encode and compress one message, mean ± population deviation over rounds. Documents are encoded by a schema that is known \
                only when the program runs: generated code takes less.";
    let row = |setting: &EncodingSetting| {
        Some(vec![
            setting.encoding.clone(),
            setting.codec.clone(),
            setting.batch.to_string(),
            mean_and_spread(setting.cpu.as_ref()?),
        ])
    };
    let grid = Grid::new("Computing", note)
        .word_columns(["encoding", "codec"])
        .figure_columns(["batch", "CPU time per message"])
        .plain_rows(comparison.settings.iter().filter_map(row));
    (!grid.rows.is_empty()).then_some(grid)
}

/// A link: its description, what to do there, and its frontier.
fn link_blocks(link: &EncodingDelivery, detail: Detail) -> Vec<Block> {
    let note = "Delivery runs from when a batch is full until its last byte has arrived, over a connection that stays open, while messages arise at the rate, \
                independently of each other; beside it stands what the rate and delay of the link imply where it is idle. The wait is the mean time of a message \
                until its batch is full. Link bytes include the headers of every layer. Shown is what nothing else beats in both bytes and delay.";
    let mut grid = Grid::new(format!("Delivery over {}", link.name), note)
        .word_columns(["encoding", "codec"])
        .figure_columns(["batch"])
        .word_columns(["framing"])
        .figure_columns([
            "link bytes per message",
            "of the link",
            "delivery",
            "where idle",
            "wait",
        ]);
    for outcome in &link.outcomes {
        let is_shown =
            detail == Detail::All || outcome.frontier || outcome.to_use || outcome.framing != "length-prefix";
        if is_shown || outcome.is_plain_json() {
            let tone = if outcome.to_use {
                RowEmphasis::Good
            } else {
                RowEmphasis::Plain
            };
            grid.row(outcome_cells(outcome), tone, &[]);
        }
    }
    vec![
        Block::Text(link.description.sentence()),
        Block::Text(link.summary.clone()),
        Block::Grid(grid),
    ]
}

fn outcome_cells(outcome: &EncodingOutcome) -> Vec<String> {
    vec![
        outcome.encoding.clone(),
        outcome.codec.clone(),
        outcome.batch.to_string(),
        outcome.framing.clone(),
        mean_bytes(outcome.link_bytes_per_message),
        outcome.link_load.map_or_else(String::new, percent),
        outcome
            .delivery_time
            .as_ref()
            .map_or_else(|| "does not fit".to_owned(), mean_and_spread),
        outcome
            .predicted_s
            .map_or_else(String::new, |seconds| quantity(seconds, "s")),
        quantity(outcome.batch_delay_s, "s"),
    ]
}

/// Doubts, what encodings cannot hold, and remarks on reading.
fn doubts(comparison: &EncodingComparison) -> Option<Block> {
    let notes = comparison.notes.iter().map(|text| Note::new("documents", text));
    let refusals = comparison.refusals.iter().map(|refusal| {
        let text = format!(
            "{} cannot hold {} of the documents, and is left out; the first is {}: {}",
            refusal.encoding, refusal.documents, refusal.location, refusal.problem
        );
        Note::new("left out", text)
    });
    Block::notes(&comparison.doubts, refusals.chain(notes))
}

/// What was encoded, and where CPU time was measured.
fn provenance_text(comparison: &EncodingComparison) -> String {
    let (source, seed, version) = (&comparison.source, comparison.seed, &comparison.version);
    let timed = match &comparison.cpu_machine {
        Some(machine) => format!(" CPU time was measured on {machine}."),
        None => String::new(),
    };
    let count = counted(comparison.documents, "document");
    format!(
        "Encoded {count}, {} of JSON, from {source}; each was decoded again and is equal to the original. Messages arise at {} a second.{timed} \
         Simulated. Seed {seed}, lastmile {version}.",
        quantity(comparison.json_bytes as f64, "B"),
        comparison.rate,
    )
}

impl PageRecord for EncodingComparison {
    fn page(&self) -> Page<'_> {
        let mut first = answer(self);
        first.extend(doubts(self));
        let findings = self.findings.iter().cloned().map(Block::Finding).collect();
        let mut sections = vec![
            ("Answer".to_owned(), first),
            ("Findings".to_owned(), findings),
            ("Charts".to_owned(), charts(self).collect()),
            ("Sizes".to_owned(), vec![Block::Grid(sizes(self, Detail::All))]),
        ];
        for link in &self.links {
            sections.push((format!("On {}", link.name), link_blocks(link, Detail::Long)));
        }
        let computing = computing(self).map(Block::Grid);
        sections.push(("Computing".to_owned(), computing.into_iter().collect()));
        sections.push(("Schema".to_owned(), vec![schema(self)]));
        Page {
            title: &self.source,
            kind: "encodings",
            question: "Which encoding, compression and batch size suit these messages?",
            facts: vec![
                self.source.clone(),
                "simulated".to_owned(),
                format!("seed {}", self.seed),
                format!("lastmile {}", self.version),
            ],
            sections,
            how: provenance_text(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::fixtures::encoding;
    use lastmile_report::testing::{check_page, check_record, check_schema, check_screen};

    #[test]
    fn the_screen_looks_like_this() {
        insta::assert_snapshot!(check_screen(&encoding()));
    }

    #[test]
    fn the_record_keeps_what_every_record_must() {
        check_schema("encode", &encoding());
        check_record(&encoding(), &[]);
        check_page(&encoding(), &[], &[]);
    }
}
