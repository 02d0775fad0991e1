//! Documents: what is said about a record, and in which order, independently of the output format.
//!
//! A [`Record`] turns into [`Block`]s; the terminal, Markdown and the HTML page each render blocks. So all three say the same, with the same digits.

pub(crate) mod compare;
pub(crate) mod run;

use crate::csv::Rows;
use crate::record::{Chart, Doubt, Finding, Levels, Table, Threshold};
use crate::screen::Screen;
use lastmile_chart::heatmap::HeatMap;
use lastmile_chart::waterfall::Waterfall;
use serde::Serialize;
use std::collections::BTreeSet;

/// A record that every format can render: the terminal, Markdown and CSV; JSON is its serialisation.
pub trait Record: Serialize {
    /// What is said about it, and in which order.
    fn blocks(&self, detail: Detail) -> Vec<Block>;
    /// Its figures, a row each.
    fn rows(&self) -> Rows;
    /// The answer on one screen of a terminal; none for a record that is a list.
    fn screen(&self) -> Option<Screen> {
        None
    }
}

/// How much a document shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What fits on a few screens of a terminal.
    Short,
    /// What a reader scrolls through, as in Markdown.
    Long,
    /// Every row, with drawings where the format has them.
    All,
}

impl Record for Table {
    fn blocks(&self, _: Detail) -> Vec<Block> {
        vec![Block::Grid(self.into())]
    }

    fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        rows.row(&self.columns);
        self.rows.iter().for_each(|row| rows.row(row));
        rows
    }
}

/// A piece of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// The head of a section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// The answer, which stands out.
    Answer(String),
    /// A sentence that follows from the figures.
    Finding(Finding),
    /// Doubts about the whole document, and notes.
    Doubts(Vec<Note>),
    /// A table.
    Grid(Grid),
    /// Lines to paste, under a name and over a note.
    Code { title: String, text: String, note: String },
    /// A drawing; left out where nothing can be drawn.
    Chart(Chart),
    /// A field of coloured cells, drawn.
    Heat(HeatMap),
    /// The requests of a page, drawn.
    Waterfall(Waterfall),
    /// Detail that few readers want: folded away on a page, left out elsewhere.
    Folded { summary: String, blocks: Vec<Block> },
}

/// A doubt, or another remark on how to read the figures, under a short name.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    pub name: &'static str,
    pub text: String,
}

impl Note {
    pub fn new(name: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { name, text }
    }
}

impl From<&Doubt> for Note {
    fn from(doubt: &Doubt) -> Self {
        Self::new(doubt.kind.name(), &doubt.text)
    }
}

impl Block {
    /// Blocks under a summary, folded away on a page; nothing where there are none.
    pub fn folded(summary: &str, blocks: Vec<Self>) -> Vec<Self> {
        if blocks.is_empty() {
            return Vec::new();
        }
        let summary = summary.to_owned();
        vec![Self::Folded { summary, blocks }]
    }

    /// Doubts about the whole document, and notes; none where there are none.
    pub fn notes(doubts: &[Doubt], notes: impl Iterator<Item = Note>) -> Option<Self> {
        let all: Vec<Note> = doubts.iter().map(Note::from).chain(notes).collect();
        (!all.is_empty()).then_some(Self::Doubts(all))
    }
}

/// Whether a threshold held, in words, and the emphasis of its row.
pub fn standing(threshold: &Threshold) -> (&'static str, RowEmphasis) {
    if threshold.held {
        ("yes", RowEmphasis::Plain)
    } else {
        ("no", RowEmphasis::Bad)
    }
}

/// A table, ready to be printed: columns aligned, doubts as footnotes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Grid {
    pub title: String,
    pub note: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// The columns that a narrow terminal leaves out, the first of them first.
    pub spare: Vec<&'static str>,
    /// The rows' `doubts` are indices into these.
    pub doubts: Vec<Doubt>,
}

/// A column's head.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub name: String,
    /// Figures are aligned right, words left.
    pub figures: bool,
}

/// A row, with its emphasis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// A line break separates a figure from its interval.
    pub cells: Vec<String>,
    pub tone: RowEmphasis,
    /// Indices into the grid's doubts.
    pub doubts: Vec<usize>,
}

/// The emphasis of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RowEmphasis {
    /// None.
    #[default]
    Plain,
    /// It is the one to use, or it is better than before.
    Good,
    /// It is worse than before, or broke a rule.
    Bad,
    /// Its figures may not be used.
    Invalid,
}

impl Grid {
    pub fn new(title: impl Into<String>, note: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            note: note.into(),
            ..Self::default()
        }
    }

    /// Adds columns of words.
    pub fn word_columns<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.columns.extend(names.into_iter().map(|name| Column {
            name: name.into(),
            figures: false,
        }));
        self
    }

    /// Adds columns of figures.
    pub fn figure_columns<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.columns.extend(names.into_iter().map(|name| Column {
            name: name.into(),
            figures: true,
        }));
        self
    }

    /// Adds a row; `doubts` become footnotes, each text once.
    pub fn row(&mut self, cells: Vec<String>, tone: RowEmphasis, doubts: &[Doubt]) {
        let doubts = doubts.iter().map(|doubt| self.footnote_index(doubt)).collect();
        self.rows.push(Row { cells, tone, doubts });
    }

    /// Adds plain rows, without doubts.
    pub fn plain_rows(mut self, rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        rows.into_iter()
            .for_each(|cells| self.row(cells, RowEmphasis::Plain, &[]));
        self
    }

    /// Removes the columns of words that are empty in every row.
    pub fn without_empty_columns(mut self) -> Self {
        let says = |at: usize| {
            self.rows
                .iter()
                .any(|row| row.cells.get(at).is_some_and(|cell| !cell.is_empty()))
        };
        let kept: Vec<bool> = (0..self.columns.len())
            .map(|at| self.columns[at].figures || self.rows.is_empty() || says(at))
            .collect();
        let mut at = kept.iter();
        self.columns.retain(|_| at.next().copied().unwrap_or(true));
        for row in &mut self.rows {
            let mut at = kept.iter();
            row.cells.retain(|_| at.next().copied().unwrap_or(true));
        }
        self
    }

    fn footnote_index(&mut self, doubt: &Doubt) -> usize {
        self.doubts.iter().position(|known| known == doubt).unwrap_or_else(|| {
            self.doubts.push(doubt.clone());
            self.doubts.len() - 1
        })
    }
}

/// The longest cell of a column of figures: `-660 µs (-2.03 to 0.71 ms)` is one, a sentence is none.
const FIGURE_LENGTH_MAX: usize = 32;

impl From<&Table> for Grid {
    /// A column whose every cell is short and begins with a digit or a sign holds figures.
    fn from(table: &Table) -> Self {
        let begins_as_figure = |cell: &String| {
            let begins = cell.starts_with(|c: char| c.is_ascii_digit() || "+-−<≥≤".contains(c));
            cell.is_empty() || begins && cell.chars().count() <= FIGURE_LENGTH_MAX
        };
        let columns = table.columns.iter().enumerate().map(|(at, name)| {
            let mut cells = table.rows.iter().filter_map(|row| row.get(at)).peekable();
            Column {
                name: name.clone(),
                figures: cells.peek().is_some() && cells.all(begins_as_figure),
            }
        });
        let grid = Self {
            columns: columns.collect(),
            ..Self::new(&table.title, &table.note)
        };
        // A row of the wrong length, in a record that was edited, is cut or filled up.
        let cell = |row: &Vec<String>, at: usize| row.get(at).cloned().unwrap_or_default();
        let cells = |row| (0..table.columns.len()).map(|at| cell(row, at)).collect();
        grid.plain_rows(table.rows.iter().map(cells))
    }
}

/// The first cells of a row: the part, where the study has parts, and the level of each factor that differs.
pub fn row_head(part: Option<&Option<String>>, levels: &Levels, differ: &[String]) -> Vec<String> {
    let part = part.map(|part| part.clone().unwrap_or_default());
    let level = |name: &String| levels.get(name).cloned().unwrap_or_default();
    part.into_iter().chain(differ.iter().map(level)).collect()
}

/// The factors whose levels differ among `all`; and the others, with the level that all share.
pub fn factors<'a>(all: impl IntoIterator<Item = &'a Levels>) -> (Vec<String>, Vec<(String, String)>) {
    let all: Vec<&Levels> = all.into_iter().collect();
    let names: BTreeSet<&String> = all.iter().flat_map(|levels| levels.keys()).collect();
    let (mut differ, mut shared) = (Vec::new(), Vec::new());
    for name in names {
        let found: BTreeSet<Option<&String>> = all.iter().map(|levels| levels.get(name)).collect();
        match found.into_iter().collect::<Vec<_>>().as_slice() {
            [Some(level)] if all.len() > 1 => shared.push((name.clone(), (*level).clone())),
            _ => differ.push(name.clone()),
        }
    }
    (differ, shared)
}

/// `case = A, codec = gzip:6`.
pub fn levels_text(levels: &Levels) -> String {
    levels
        .iter()
        .map(|(name, level)| format!("{name} = {level}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// `extract_time` as a person reads it: `extract time`.
pub fn readable(name: &str) -> String {
    name.replace('_', " ")
}

/// `note`, and the levels that every row shares.
pub fn with_shared(note: &str, shared: &[(String, String)]) -> String {
    if shared.is_empty() {
        return note.to_owned();
    }
    let shared: Vec<String> = shared
        .iter()
        .map(|(name, level)| format!("{} = {level}", readable(name)))
        .collect();
    format!("{note} In every row: {}.", shared.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_words_that_says_nothing_is_left_out_with_its_cells() {
        let mut grid = Grid::new("", "")
            .word_columns(["codec", "policy"])
            .figure_columns(["ratio"]);
        for codec in ["lz4", "zstd"] {
            grid.row(
                vec![codec.to_owned(), String::new(), String::new()],
                RowEmphasis::Plain,
                &[],
            );
        }
        let grid = grid.without_empty_columns();
        let names: Vec<&str> = grid.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["codec", "ratio"], "that a figure is missing is worth seeing");
        assert_eq!(grid.rows[1].cells, ["zstd", ""]);
    }
}
