//! How does a document look in a terminal?

use crate::advise::Advice;
use crate::compare::Comparison;
use crate::conform::Conformance;
use crate::doctor::Examination;
use crate::document::tune::Detail;
use crate::document::{self, Block, Grid, Tone};
use crate::inspect::Inspection;
use crate::record::{Doubt, Run, Table};
use crate::tune::Tuning;
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width,
};

/// What the terminal can show; the caller knows it (a tty, `NO_COLOR`, the window).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns of characters.
    pub width: u16,
    /// Whether colours and bold are wanted.
    pub colour: bool,
}

/// A run: its figures, ratios and exhibits as tables, then what follows from them.
pub fn run(run: &Run, look: Look) -> String {
    blocks(&document::run::for_terminal(run), look)
}

/// An advice: the answer, one line a link and kind, then the detail and the lines to paste.
pub fn advice(advice: &Advice, look: Look) -> String {
    blocks(&document::advice::for_terminal(advice), look)
}

/// A comparison: verdicts counted, rules, then what is more than noise.
pub fn comparison(comparison: &Comparison, look: Look) -> String {
    blocks(&document::compare::for_terminal(comparison), look)
}

/// A capture: what is in it, its flows and transactions, the first of them where they are many.
pub fn inspection(inspection: &Inspection, look: Look) -> String {
    blocks(&document::inspect::for_terminal(inspection), look)
}

/// A tuning: the answer, then the frontier and the settings that have a name, the lines to paste.
pub fn tuning(tuning: &Tuning, look: Look) -> String {
    blocks(&document::tune::for_terminal(tuning, Detail::Short), look)
}

/// A tuning with every point of its grid.
pub fn whole_tuning(tuning: &Tuning, look: Look) -> String {
    blocks(&document::tune::for_terminal(tuning, Detail::All), look)
}

/// How a WebSocket server stood.
pub fn conformance(conformance: &Conformance, look: Look) -> String {
    blocks(&document::conform::for_terminal(conformance), look)
}

/// What a machine can do: the answer, then everything with its remedy.
pub fn examination(examination: &Examination, look: Look) -> String {
    blocks(&document::doctor::for_terminal(examination), look)
}

/// Any table: link profiles, studies.
pub fn table(table: &Table, look: Look) -> String {
    blocks(&[Block::Grid(table.into())], look)
}

pub(crate) fn blocks(blocks: &[Block], look: Look) -> String {
    let paint = Paint { look };
    let mut out = String::new();
    for block in blocks {
        let shown = paint.block(block);
        if !shown.is_empty() {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&shown);
        }
    }
    out
}

struct Paint {
    look: Look,
}

impl Paint {
    fn block(&self, block: &Block) -> String {
        match block {
            Block::Heading(text) => self.title(text),
            Block::Text(text) => self.wrapped(text, ""),
            Block::Answer(text) => self.title(text),
            Block::Finding(finding) => {
                let inferred = if finding.inferred { " (inferred)" } else { "" };
                self.title(&format!("{}{inferred}", finding.title)) + &self.wrapped(&finding.text, "  ")
            }
            Block::Doubts(doubts) => doubts.iter().map(|doubt| self.doubt("doubt", doubt)).collect(),
            Block::Grid(grid) => self.grid(grid),
            Block::Code { title, text, note } => {
                let lines: String = text.lines().map(|line| format!("    {}\n", clean(line))).collect();
                format!("{}{}\n{lines}", self.title(title), self.wrapped(note, ""))
            }
            Block::Chart(_) | Block::Heat(_) | Block::Folded { .. } => String::new(),
        }
    }

    fn grid(&self, grid: &Grid) -> String {
        let mut table = comfy_table::Table::new();
        // Heads are underlined, columns stand two blanks apart, and nothing else is drawn.
        table
            .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(self.look.width);
        // The caller has looked at the terminal; a report must not depend on where it is made.
        table.force_no_tty();
        if self.look.colour {
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
        // A blank more stands where a border would.
        let gaps: u16 = (0..last).map(|at| padding(at) + 1).sum();
        if let Some(widths) = unbroken(grid, self.look.width.saturating_sub(gaps)) {
            for (at, (column, width)) in table.column_iter_mut().zip(widths).enumerate() {
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width + padding(at))));
            }
        }
        let mut out = String::new();
        if !grid.title.is_empty() {
            out.push_str(&self.title(&grid.title));
        }
        if !grid.note.is_empty() {
            out.push_str(&self.wrapped(&grid.note, ""));
        }
        for line in table.lines() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
        for (at, doubt) in grid.doubts.iter().enumerate() {
            out.push_str(&self.doubt(&format!("[{}]", at + 1), doubt));
        }
        out
    }

    fn doubt(&self, mark: &str, doubt: &Doubt) -> String {
        self.wrapped(&format!("{mark} {}: {}", doubt.kind, doubt.text), "")
    }

    fn toned(&self, cell: Cell, tone: Tone) -> Cell {
        match tone {
            _ if !self.look.colour => cell,
            Tone::Plain => cell,
            Tone::Good => cell.fg(Color::Green),
            Tone::Bad => cell.fg(Color::Red),
            Tone::Invalid => cell.add_attribute(Attribute::Dim),
        }
    }

    fn title(&self, text: &str) -> String {
        let plain = self.wrapped(text, "");
        if !self.look.colour {
            return plain;
        }
        plain
            .lines()
            .map(|line| format!("\u{1b}[1m{line}\u{1b}[0m\n"))
            .collect()
    }

    /// Lines no longer than the terminal is wide, or 100: longer ones are hard to read.
    fn wrapped(&self, text: &str, indent: &str) -> String {
        let room = usize::from(self.look.width.clamp(20, 100)) - indent.len();
        let mut out = String::new();
        let mut line = String::new();
        for word in clean(text).split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
                out.push_str(&format!("{indent}{line}\n"));
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        if !line.is_empty() {
            out.push_str(&format!("{indent}{line}\n"));
        }
        out
    }
}

/// How wide each column must be so that no figure, no word and, where `room` is enough, no head is broken. None where it is too little.
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
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

/// Foreign names may hold escape sequences, which a terminal would obey: control characters are shown as U+FFFD.
fn clean(text: &str) -> String {
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
    use crate::sample;

    const PLAIN: Look = Look {
        width: 120,
        colour: false,
    };

    #[test]
    fn a_run_is_shown_like_this() {
        insta::assert_snapshot!(run(&sample::run(), PLAIN));
    }

    #[test]
    fn an_advice_is_shown_like_this() {
        insta::assert_snapshot!(advice(&sample::advice(), PLAIN));
    }

    #[test]
    fn a_comparison_is_shown_like_this() {
        let (before, mut after) = (sample::run(), sample::run());
        after.run = "runs/gzip-filter-2".to_owned();
        after.seed = 2;
        after.cells.truncate(9);
        after.cells[1]
            .figures
            .insert("extract_time".to_owned(), sample::figure("s", "run", 10.4, 0.1));
        after.cells[2]
            .figures
            .insert("transfer_rate".to_owned(), sample::figure("1/s", "run", 11.2, 0.1));
        let rules = ["p95(extract_time)>+5%", "mean<-10%"].map(|rule| rule.parse().expect("a rule"));
        insta::assert_snapshot!(comparison(&crate::compare::compare(&before, &after, &rules), PLAIN));
    }

    #[test]
    fn a_capture_is_shown_like_this() {
        insta::assert_snapshot!(inspection(&sample::inspection(), PLAIN));
    }

    #[test]
    fn a_tuning_is_shown_like_this() {
        insta::assert_snapshot!(tuning(&sample::tuning(), PLAIN));
    }

    #[test]
    fn a_tuning_is_shown_whole_only_when_asked_for() {
        let (short, whole) = (tuning(&sample::tuning(), PLAIN), whole_tuning(&sample::tuning(), PLAIN));
        let settings = |text: &str| text.lines().filter(|line| line.starts_with("deflate:")).count();
        assert!(settings(&short) < 30, "{}", settings(&short));
        // The grid one way and three points the other.
        assert_eq!(settings(&whole), 1_440 + 3);
    }

    #[test]
    fn a_machine_is_shown_like_this() {
        insta::assert_snapshot!(examination(&sample::examination(), PLAIN));
    }

    #[test]
    fn no_name_of_a_setting_is_broken_where_there_is_room_for_it() {
        let mut grid = Grid::new("Settings", "")
            .words(["setting", "what it is"])
            .figures(["ratio", "computing"]);
        let words = "the setting that a server has unless it is told to have another one, which few know that it is";
        let cells = ["deflate:6/w15/m8/no-takeover", words, "0.8300", "5.138 µs ± 0.067"];
        grid.row(cells.map(str::to_owned).to_vec(), Tone::Plain, &[]);
        let shown = |width| blocks(&[Block::Grid(grid.clone())], Look { width, colour: false });
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
    fn no_line_is_wider_than_the_terminal() {
        for width in [60, 80, 120] {
            let look = Look { width, colour: false };
            let all = [
                run(&sample::run(), look),
                advice(&sample::advice(), look),
                inspection(&sample::inspection(), look),
                tuning(&sample::tuning(), look),
                conformance(&sample::conformance(), look),
                examination(&sample::examination(), look),
            ];
            for text in all {
                let code = |line: &&str| line.starts_with("    ");
                for line in text.lines().filter(|line| !code(line)) {
                    assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
                }
            }
        }
    }

    #[test]
    fn colours_come_only_when_asked_for() {
        assert!(!run(&sample::run(), PLAIN).contains('\u{1b}'));
        assert!(run(&sample::run(), Look { colour: true, ..PLAIN }).contains('\u{1b}'));
    }

    #[test]
    fn a_name_cannot_command_the_terminal() {
        let hostile = sample::hostile(&sample::run());
        assert!(!run(&hostile, PLAIN).contains('\u{1b}'));
        assert!(!advice(&sample::hostile(&sample::advice()), PLAIN).contains('\u{1b}'));
        assert!(!inspection(&sample::hostile(&sample::inspection()), PLAIN).contains('\u{1b}'));
        assert!(!tuning(&sample::hostile(&sample::tuning()), PLAIN).contains('\u{1b}'));
    }
}
