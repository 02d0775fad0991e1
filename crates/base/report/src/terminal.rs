//! Renders documents for a terminal.

use crate::document::{Block, Column, Detail, Grid, Note, Record, Row, RowEmphasis};
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width,
};

/// The terminal's width and colour; the caller finds them out (a tty, `NO_COLOR`, the window).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Columns of characters.
    pub width: u16,
    /// Whether to use colours and bold.
    pub colour: bool,
}

/// The blanks between columns.
const COLUMN_GAP: usize = 3;

/// A record, as tables and sentences.
pub fn render(record: &impl Record, detail: Detail, style: TerminalStyle) -> String {
    blocks(&record.blocks(detail), style)
}

fn blocks(blocks: &[Block], style: TerminalStyle) -> String {
    let mut out = String::new();
    for block in blocks {
        let shown = style.block(block);
        if !shown.is_empty() {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&shown);
        }
    }
    out
}

impl TerminalStyle {
    fn block(&self, block: &Block) -> String {
        match block {
            Block::Heading(text) => self.title(text),
            Block::Text(text) => self.wrapped(text, ""),
            Block::Answer(text) => self.title(text),
            Block::Finding(finding) => {
                let inferred = if finding.inferred { " (inferred)" } else { "" };
                self.title(&format!("{}{inferred}", finding.title)) + &self.wrapped(&finding.text, "  ")
            }
            Block::Doubts(doubts) => doubts.iter().map(|note| self.doubt("doubt", note)).collect(),
            Block::Grid(grid) => self.grid(grid),
            Block::Code { title, text, note } => {
                let lines: String = text
                    .lines()
                    .map(|line| format!("    {}\n", replace_control_characters(line)))
                    .collect();
                format!("{}{}\n{lines}", self.title(title), self.wrapped(note, ""))
            }
            Block::Chart(_) | Block::Heat(_) | Block::Waterfall(_) | Block::Folded { .. } => String::new(),
        }
    }

    fn grid(&self, grid: &Grid) -> String {
        let grid = &without_spare_columns(grid, usize::from(self.width));
        let mut table = comfy_table::Table::new();
        // Heads are underlined, columns are two blanks apart, and no other line is drawn.
        table
            .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(self.width);
        // The width is the caller's: a report must not depend on the terminal that the process has.
        table.force_no_tty();
        if self.colour {
            table.enforce_styling();
        }
        let mut heads: Vec<Cell> = grid
            .columns
            .iter()
            .map(|column| aligned(&column.name, column.figures))
            .collect();
        if !grid.doubts.is_empty() {
            heads.push(Cell::new("doubts"));
        }
        table.set_header(heads);
        for row in &grid.rows {
            let cells = row
                .cells
                .iter()
                .zip(&grid.columns)
                .map(|(text, column)| self.toned(aligned(text, column.figures), row.tone));
            let mut cells: Vec<Cell> = cells.collect();
            if !grid.doubts.is_empty() {
                let marks: Vec<String> = row.doubts.iter().map(|at| format!("[{}]", at + 1)).collect();
                cells.push(Cell::new(marks.join(" ")));
            }
            table.add_row(cells);
        }
        let last = table.column_count().saturating_sub(1);
        let padding = |at: usize| if at == last { 0 } else { 2 };
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, padding(at)));
        }
        // One blank more, in place of a border.
        let gaps: u16 = (0..last).map(|at| padding(at) + 1).sum();
        let widths = unbroken(grid, self.width.saturating_sub(gaps));
        for (at, (column, width)) in table.column_iter_mut().zip(widths.iter().flatten()).enumerate() {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width + padding(at))));
        }
        let mut out = String::new();
        if !grid.title.is_empty() {
            out.push_str(&self.title(&grid.title));
        }
        if !grid.note.is_empty() {
            out.push_str(&self.wrapped(&grid.note, ""));
        }
        if widths.is_some() || grid.rows.is_empty() {
            for line in table.lines() {
                out.push_str(line.trim_end());
                out.push('\n');
            }
        } else {
            out.extend(grid.rows.iter().map(|row| self.row_as_text(grid, row)));
        }
        for (at, doubt) in grid.doubts.iter().enumerate() {
            out.push_str(&self.doubt(&format!("[{}]", at + 1), &doubt.into()));
        }
        out
    }

    /// A row as a sentence of names and values, for a table whose words would break in columns.
    fn row_as_text(&self, grid: &Grid, row: &Row) -> String {
        let cells = row.cells.iter().zip(&grid.columns);
        let named = cells.filter(|(cell, _)| !cell.is_empty());
        let named = named.map(|(cell, column)| format!("{} {}", column.name, lines(cell)));
        let doubts = row.doubts.iter().map(|at| format!("[{}]", at + 1));
        let text = named.chain(doubts).collect::<Vec<_>>().join("; ");
        let mut out = self.wrapped(&text, "  ");
        out.replace_range(..out.len().min(2), "- ");
        out
    }

    fn doubt(&self, mark: &str, doubt: &Note) -> String {
        self.wrapped(&format!("{mark} {}: {}", doubt.name, doubt.text), "")
    }

    fn toned(&self, cell: Cell, tone: RowEmphasis) -> Cell {
        match tone {
            _ if !self.colour => cell,
            RowEmphasis::Plain => cell,
            RowEmphasis::Good => cell.fg(Color::Green),
            RowEmphasis::Bad => cell.fg(Color::Red),
            RowEmphasis::Invalid => cell.add_attribute(Attribute::Dim),
        }
    }

    fn title(&self, text: &str) -> String {
        let plain = self.wrapped(text, "");
        if !self.colour {
            return plain;
        }
        plain
            .lines()
            .map(|line| format!("\u{1b}[1m{line}\u{1b}[0m\n"))
            .collect()
    }

    /// Lines no longer than the terminal's width, and at most 100: longer ones are hard to read.
    fn wrapped(&self, text: &str, indent: &str) -> String {
        let room = usize::from(self.width.clamp(20, 100)) - indent.len();
        let lines = wrap(text, room).into_iter();
        lines.map(|line| format!("{indent}{line}\n")).collect()
    }
}

/// The words of a text in lines of at most `width` characters, but for words that are longer.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in replace_control_characters(text).split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Without the spare columns that leave no room for rows of one line each.
fn without_spare_columns(grid: &Grid, width: usize) -> Grid {
    let mut grid = grid.clone();
    let is_wide = |grid: &Grid| {
        let column = |(at, column): (usize, &Column)| {
            let cells = grid.rows.iter().filter_map(|row| row.cells.get(at));
            let lines = cells.chain([&column.name]).flat_map(|cell| cell.lines());
            lines.map(|line| line.chars().count()).max().unwrap_or(0) + COLUMN_GAP
        };
        grid.columns.iter().enumerate().map(column).sum::<usize>() > width + COLUMN_GAP
    };
    for name in std::mem::take(&mut grid.spare) {
        let at = grid.columns.iter().position(|column| column.name == name);
        if let Some(at) = at.filter(|_| is_wide(&grid)) {
            grid.columns.remove(at);
            grid.rows.iter_mut().for_each(|row| {
                row.cells.remove(at);
            });
        }
    }
    grid
}

/// The width that each column needs so that no figure, no word and, where `room` allows it, no head is broken. None where `room` is too small.
fn unbroken(grid: &Grid, room: u16) -> Option<Vec<u16>> {
    let longest = |pieces: &mut dyn Iterator<Item = &str>| pieces.map(|piece| piece.chars().count()).max().unwrap_or(0);
    let word = |text: &str| longest(&mut text.split_whitespace());
    let line = |text: &str| longest(&mut text.lines());
    let widths = |whole_heads: bool| -> Vec<usize> {
        let columns = grid.columns.iter().enumerate().map(|(at, column)| {
            let cells = grid.rows.iter().filter_map(|row| row.cells.get(at));
            let cells = cells.map(|cell| if column.figures { line(cell) } else { word(cell) });
            let head = if whole_heads {
                line(&column.name)
            } else {
                word(&column.name)
            };
            cells.max().unwrap_or(0).max(head)
        });
        let doubts = (!grid.doubts.is_empty()).then_some("doubts".len());
        columns.chain(doubts).collect()
    };
    let fits = |widths: &Vec<usize>| widths.iter().sum::<usize>() <= usize::from(room);
    let found = [true, false].into_iter().map(widths).find(fits)?;
    found.into_iter().map(|width| u16::try_from(width).ok()).collect()
}

fn aligned(text: &str, figures: bool) -> Cell {
    Cell::new(lines(text)).set_alignment(if figures {
        CellAlignment::Right
    } else {
        CellAlignment::Left
    })
}

/// A cell's text; a line break in it stays.
fn lines(text: &str) -> String {
    text.split('\n')
        .map(replace_control_characters)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Shows control characters as U+FFFD: foreign names may hold escape sequences, which a terminal would obey.
pub(crate) fn replace_control_characters(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixtures;

    const PLAIN: TerminalStyle = TerminalStyle {
        width: 120,
        colour: false,
    };

    fn short(record: &impl Record, style: TerminalStyle) -> String {
        render(record, Detail::Short, style)
    }

    #[test]
    fn a_run_is_shown_like_this() {
        insta::assert_snapshot!(short(&fixtures::run(), PLAIN));
    }

    #[test]
    fn a_comparison_is_shown_like_this() {
        let (before, mut after) = (fixtures::run(), fixtures::run());
        after.run = "runs/gzip-filter-2".to_owned();
        after.seed = 2;
        after.cells.truncate(9);
        after.cells[1]
            .figures
            .insert("extract_time".to_owned(), fixtures::figure("s", "run", 10.4, 0.1));
        after.cells[2]
            .figures
            .insert("transfer_rate".to_owned(), fixtures::figure("1/s", "run", 11.2, 0.1));
        let rules = ["p95(extract_time)>+5%", "mean<-10%"].map(|rule| rule.parse().expect("a rule"));
        insta::assert_snapshot!(short(&crate::compare::compare(&before, &after, &rules, false), PLAIN));
    }

    #[test]
    fn no_name_of_a_setting_is_broken_where_there_is_room_for_it() {
        let mut grid = Grid::new("Settings", "")
            .word_columns(["setting", "what it is"])
            .figure_columns(["ratio", "computing"]);
        let words = "the setting that a server has unless it is told to have another one, which few know that it is";
        let cells = ["deflate:6/w15/m8/no-takeover", words, "0.8300", "5.138 µs ± 0.067"];
        grid.row(cells.map(str::to_owned).to_vec(), RowEmphasis::Plain, &[]);
        let shown = |width| blocks(&[Block::Grid(grid.clone())], TerminalStyle { width, colour: false });
        for whole in ["deflate:6/w15/m8/no-takeover ", " 5.138 µs ± 0.067\n"] {
            assert!(shown(80).contains(whole), "{}", shown(80));
        }
        assert!(
            shown(40).lines().all(|line| line.chars().count() <= 40),
            "{}",
            shown(40)
        );
    }

    #[test]
    fn spare_columns_give_way_to_rows_of_one_line() {
        let mut grid = Grid::new("", "").word_columns(["name", "rate", "source"]);
        grid.spare = vec!["source", "rate"];
        let cells = ["a-link", "1.6 Mbit/s", "read in the source"];
        grid.row(cells.map(str::to_owned).to_vec(), RowEmphasis::Plain, &[]);
        let last = |width| {
            let shown = blocks(&[Block::Grid(grid.clone())], TerminalStyle { width, colour: false });
            shown.lines().last().unwrap_or_default().to_owned()
        };
        // 6 + 3 + 10 + 3 + 18 columns.
        assert_eq!(last(40), "a-link   1.6 Mbit/s   read in the source");
        assert_eq!(last(39), "a-link   1.6 Mbit/s");
        assert_eq!(last(18), "a-link");
    }

    #[test]
    fn colours_come_only_when_asked_for() {
        assert!(!short(&fixtures::run(), PLAIN).contains('\u{1b}'));
        assert!(short(&fixtures::run(), TerminalStyle { colour: true, ..PLAIN }).contains('\u{1b}'));
    }

    #[test]
    fn the_findings_of_a_run_come_first_and_no_word_breaks_at_80_columns() {
        let narrow = TerminalStyle {
            width: 80,
            colour: false,
        };
        let mut run = fixtures::run();
        let wide: Vec<String> = (1..=9).map(|at| format!("a-column-of-{at}-long-words")).collect();
        run.exhibits[0].columns.clone_from(&wide);
        run.exhibits[0].rows = vec![wide.clone(), wide.clone()];
        let shown = short(&run, narrow);
        let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
        assert!(at(&run.findings[0].title) < at(&run.exhibits[0].title));
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        for word in &wide {
            assert_eq!(shown.matches(word.as_str()).count(), 4, "{word}: {shown}");
        }
    }

    #[test]
    fn a_long_table_is_named_and_left_to_the_report() {
        let mut run = fixtures::run();
        let row = run.exhibits[0].rows[0].clone();
        run.exhibits[0].rows = vec![row; 41];
        let shown = short(&run, PLAIN);
        assert!(
            shown.contains(&format!("The table {:?} has 41 rows", run.exhibits[0].title)),
            "{shown}"
        );
    }
}
