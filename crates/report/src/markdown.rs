//! How does a document look in Markdown, as it is pasted into an issue or a README?

use crate::advise::Advice;
use crate::compare::Comparison;
use crate::conform::Conformance;
use crate::doctor::Examination;
use crate::document::tune::Detail;
use crate::document::{self, Block, Grid, Tone};
use crate::inspect::Inspection;
use crate::record::{Doubt, Run, Table};
use crate::tune::Tuning;
use std::fmt::Write;

/// A run: its figures, ratios and exhibits as tables, then what follows from them.
pub fn run(run: &Run) -> String {
    blocks(&document::run::for_markdown(run))
}

/// An advice: the answer, one line a link and kind, then the detail and the lines to paste.
pub fn advice(advice: &Advice) -> String {
    blocks(&document::advice::for_markdown(advice))
}

/// A comparison: verdicts counted, rules, then what is more than noise.
pub fn comparison(comparison: &Comparison) -> String {
    blocks(&document::compare::for_terminal(comparison))
}

/// A capture: what is in it, its flows and transactions, the first of them where they are many.
pub fn inspection(inspection: &Inspection) -> String {
    blocks(&document::inspect::for_terminal(inspection))
}

/// A tuning: the answer, then the frontier and the settings that have a name, the lines to paste.
pub fn tuning(tuning: &Tuning) -> String {
    blocks(&document::tune::for_terminal(tuning, Detail::Short))
}

/// A tuning with every point of its grid.
pub fn whole_tuning(tuning: &Tuning) -> String {
    blocks(&document::tune::for_terminal(tuning, Detail::All))
}

/// How a WebSocket server stood.
pub fn conformance(conformance: &Conformance) -> String {
    blocks(&document::conform::for_terminal(conformance))
}

/// What a machine can do: the answer, then everything with its remedy.
pub fn examination(examination: &Examination) -> String {
    blocks(&document::doctor::for_terminal(examination))
}

/// Any table: link profiles, studies.
pub fn table(table: &Table) -> String {
    blocks(&[Block::Grid(table.into())])
}

pub(crate) fn blocks(blocks: &[Block]) -> String {
    let shown: Vec<String> = blocks.iter().map(block).filter(|text| !text.is_empty()).collect();
    shown.join("\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("## {}\n", inline(text)),
        Block::Text(text) => format!("{}\n", inline(text)),
        Block::Answer(text) => format!("**{}**\n", inline(text)),
        Block::Finding(finding) => {
            let inferred = if finding.inferred { " (inferred)" } else { "" };
            format!("**{}**{inferred}. {}\n", inline(&finding.title), inline(&finding.text))
        }
        Block::Doubts(doubts) => doubts.iter().map(|doubt| item("-", doubt)).collect(),
        Block::Grid(grid) => table_of(grid),
        Block::Code { title, text, note } => {
            // A fence longer than any in the text cannot be closed by it.
            let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            format!(
                "**{}** {}\n\n{fence}\n{}\n{fence}\n",
                inline(title),
                inline(note),
                text.trim_end()
            )
        }
        Block::Chart(_) | Block::Heat(_) | Block::Folded { .. } => String::new(),
    }
}

fn table_of(grid: &Grid) -> String {
    let mut out = String::new();
    if !grid.title.is_empty() {
        let _ = writeln!(out, "### {}\n", inline(&grid.title));
    }
    if !grid.note.is_empty() {
        let _ = writeln!(out, "{}\n", inline(&grid.note));
    }
    let doubts = !grid.doubts.is_empty();
    let mut heads: Vec<String> = grid.columns.iter().map(|column| inline(&column.name)).collect();
    let mut rules: Vec<String> = grid
        .columns
        .iter()
        .map(|column| if column.figures { "--:" } else { "---" }.to_owned())
        .collect();
    if doubts {
        heads.push("doubts".to_owned());
        rules.push("---".to_owned());
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    out += &line(&heads);
    out += &line(&rules);
    for row in &grid.rows {
        let mut cells: Vec<String> = row.cells.iter().map(|cell| inline(cell)).collect();
        if let (Tone::Good, Some(first)) = (row.tone, cells.first_mut()) {
            *first = format!("**{first}**");
        }
        if doubts {
            cells.push(
                row.doubts
                    .iter()
                    .map(|at| format!("({})", at + 1))
                    .collect::<Vec<_>>()
                    .join(" "),
            );
        }
        out += &line(&cells);
    }
    if doubts {
        out.push('\n');
        for (at, doubt) in grid.doubts.iter().enumerate() {
            out += &item(&format!("{}.", at + 1), doubt);
        }
    }
    out
}

fn item(mark: &str, doubt: &Doubt) -> String {
    format!("{mark} {}: {}\n", inline(&doubt.kind), inline(&doubt.text))
}

/// Text on one line that Markdown and the HTML in it leave as it is.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' | '!' => out.extend(['\\', c]),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_table_is_written_like_this() {
        insta::assert_snapshot!(table(&sample::run().exhibits[0]), @r"
        ### The faulty size meter

        The report's appendix A throws away every second byte it reads, so N bytes are printed as N / 2.

        | Case | Printed (B) | True (B) |
        | --- | --: | --: |
        | B | 27769 | 55538 |
        | F | 544 | 1088 |
        ");
    }

    #[test]
    fn every_row_of_every_table_has_as_many_cells_as_its_head() {
        let (one, hostile) = (sample::run(), sample::hostile(&sample::run()));
        let compared = crate::compare::compare(&one, &one, &[]);
        for text in [
            run(&one),
            run(&hostile),
            advice(&sample::advice()),
            comparison(&compared),
            inspection(&sample::hostile(&sample::inspection())),
            tuning(&sample::hostile(&sample::tuning())),
            examination(&sample::hostile(&sample::examination())),
        ] {
            let cells = |line: &str| line.replace("\\|", "").matches('|').count();
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines
                .windows(2)
                .filter(|pair| pair.iter().all(|line| line.starts_with('|')))
            {
                assert_eq!(cells(pair[0]), cells(pair[1]), "{} and {}", pair[0], pair[1]);
            }
        }
    }

    #[test]
    fn a_cell_cannot_open_another_cell_nor_a_tag_nor_a_link() {
        let mut hostile = sample::run().exhibits.remove(0);
        hostile.rows[0][0] = "a | b\n<script> [x](y) `c` **d**".to_owned();
        let text = table(&hostile);
        assert!(
            text.contains("a \\| b &lt;script&gt; \\[x\\](y) \\`c\\` \\*\\*d\\*\\*"),
            "{text}"
        );
    }
}
