//! Writes data to stdout, and progress and notes to stderr. A reader that has closed its end is not an error.

use crate::exit::UnavailableError;
use clap::ValueEnum;
use lastmile_report::csv::{self, Rows};
use lastmile_report::document::{Block, Grid};
use lastmile_report::record::Table;
use lastmile_report::screen::Screen;
use lastmile_report::terminal::{self, TerminalStyle};
use lastmile_report::{Detail, Record, markdown, screen};
use serde::Serialize;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};

/// The format of a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The answer on one screen
    #[default]
    Screen,
    /// The answer with its tables and grounds
    Table,
    /// One JSON object, by its schema; the same bytes for the same figures
    Json,
    /// A head and one row per figure, in base units, for a spreadsheet, pandas or R
    Csv,
    /// Tables for an issue or a README
    Md,
}

/// A table that is looked up (profiles, studies), with a schema of its own.
#[derive(Debug, Serialize)]
pub(crate) struct TableRecord {
    pub(crate) schema: &'static str,
    #[serde(flatten)]
    pub(crate) table: Table,
    /// The columns that a narrow terminal leaves out, the first of them first.
    #[serde(skip)]
    pub(crate) spare: &'static [&'static str],
    /// What a terminal shows in place of the table, unless it is asked for.
    #[serde(skip)]
    pub(crate) screen: Option<Screen>,
}

impl From<Table> for TableRecord {
    fn from(table: Table) -> Self {
        Self {
            schema: "lastmile/table/1",
            table,
            spare: &[],
            screen: None,
        }
    }
}

impl Record for TableRecord {
    fn blocks(&self, _: Detail) -> Vec<Block> {
        let mut grid = Grid::from(&self.table);
        grid.spare = self.spare.to_vec();
        vec![Block::Grid(grid)]
    }

    fn rows(&self) -> Rows {
        self.table.rows()
    }

    fn screen(&self) -> Option<Screen> {
        self.screen.clone()
    }
}

/// Prints a record on stdout.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn print_record(record: &impl Record, format: Format) -> Result<(), UnavailableError> {
    print_record_in(record, format, false)
}

/// Prints a record on stdout, its tables with all rows or as many as a reader wants.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn print_record_in(record: &impl Record, format: Format, all: bool) -> Result<(), UnavailableError> {
    let [table, md] = if all {
        [Detail::All; 2]
    } else {
        [Detail::Short, Detail::Long]
    };
    print_data(&match format {
        Format::Screen => match record.screen().filter(|_| !all) {
            Some(screen) => screen::render(&screen, terminal_style()),
            None => terminal::render(record, table, terminal_style()),
        },
        Format::Table => terminal::render(record, table, terminal_style()),
        Format::Json => json(record),
        Format::Csv => csv::render(record),
        Format::Md => markdown::render(record, md),
    })
}

/// A record as JSON, in lines.
pub(crate) fn json(record: &impl Record) -> String {
    serde_json::to_string_pretty(record).expect("a record has text for keys, and nothing else can fail") + "\n"
}

/// Writes data to stdout. That the reader has closed its end (`| head`) is not an error.
///
/// # Errors
/// When stdout cannot be written for another reason: a full disk.
pub(crate) fn print_data(text: &str) -> Result<(), UnavailableError> {
    print_chunk(text).map(|_| ())
}

/// Writes some of the data, and returns whether the reader still reads; that it has closed its end is not an error.
///
/// # Errors
/// When stdout cannot be written for another reason: a full disk.
pub(crate) fn print_chunk(text: &str) -> Result<bool, UnavailableError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(UnavailableError(format!("stdout cannot be written: {error}"))),
    }
}

/// Prints a note on stderr, of one line or more, and ignores errors.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The style of stdout: as wide as the terminal, in colour unless NO_COLOR is set (no-color.org). Without a terminal there is no
/// colour, and lines are as long as COLUMNS says, or 120 columns at most, our own choice.
pub(crate) fn terminal_style() -> TerminalStyle {
    let colour = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let terminal = terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| width);
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let width = terminal.or_else(columns).unwrap_or(120);
    TerminalStyle { width, colour }
}
