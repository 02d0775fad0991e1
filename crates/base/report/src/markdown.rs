//! Renders documents as Markdown, to be pasted into an issue or a README.

use crate::document::{Block, Detail, Grid, Note, Record, RowEmphasis};
use std::fmt::Write;

/// A record, as tables and sentences.
pub fn render(record: &impl Record, detail: Detail) -> String {
    let blocks = record.blocks(detail);
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
        Block::Chart(_) | Block::Heat(_) | Block::Waterfall(_) | Block::Folded { .. } => String::new(),
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
        if let (RowEmphasis::Good, Some(first)) = (row.tone, cells.first_mut()) {
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
            out += &item(&format!("{}.", at + 1), &doubt.into());
        }
    }
    out
}

fn item(mark: &str, doubt: &Note) -> String {
    format!("{mark} {}: {}\n", inline(doubt.name), inline(&doubt.text))
}

/// Text on one line, escaped so that neither Markdown nor HTML interprets it.
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
    use crate::tests::fixtures;

    fn long(record: &impl Record) -> String {
        render(record, Detail::Long)
    }

    #[test]
    fn a_table_is_written_like_this() {
        insta::assert_snapshot!(long(&fixtures::run().exhibits[0]), @r"
        ### The faulty size meter

        The report's appendix A throws away every second byte it reads, so N bytes are printed as N / 2.

        | Case | Printed (B) | True (B) |
        | --- | --: | --: |
        | B | 27769 | 55538 |
        | F | 544 | 1088 |
        ");
    }

    #[test]
    fn a_cell_cannot_open_another_cell_nor_a_tag_nor_a_link() {
        let mut hostile = fixtures::run().exhibits.remove(0);
        hostile.rows[0][0] = "a | b\n<script> [x](y) `c` **d**".to_owned();
        let text = long(&hostile);
        assert!(
            text.contains("a \\| b &lt;script&gt; \\[x\\](y) \\`c\\` \\*\\*d\\*\\*"),
            "{text}"
        );
    }
}
