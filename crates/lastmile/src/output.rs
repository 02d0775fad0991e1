//! Who hears what? stdout is data, stderr is progress and remarks; neither makes a fuss when nobody listens any more.

use crate::exit::Unable;
use clap::ValueEnum;
use lastmile_report::advise::Advice;
use lastmile_report::compare::Comparison;
use lastmile_report::conform::Conformance;
use lastmile_report::doctor::Examination;
use lastmile_report::inspect::Inspection;
use lastmile_report::record::{Run, Table};
use lastmile_report::terminal::Look;
use lastmile_report::tune::Tuning;
use lastmile_report::{csv, markdown, terminal};
use serde::Serialize;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};

/// How a record is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for a person
    #[default]
    Table,
    /// One JSON object, as the schemas have it; the same bytes for the same figures
    Json,
    /// One head and one row a figure, in base units, for a spreadsheet, pandas or R
    Csv,
    /// Tables for an issue or a README
    Md,
}

/// A record that can be printed in every format.
pub(crate) trait Printed: Serialize {
    /// For a program.
    fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a record has text for keys, and nothing else can fail") + "\n"
    }
    /// For a terminal.
    fn table(&self, look: Look) -> String;
    /// For a spreadsheet.
    fn csv(&self) -> String;
    /// For an issue.
    fn markdown(&self) -> String;
}

macro_rules! printed {
    ($($record:ty: $name:ident),+) => {$(
        impl Printed for $record {
            fn table(&self, look: Look) -> String { terminal::$name(self, look) }
            fn csv(&self) -> String { csv::$name(self) }
            fn markdown(&self) -> String { markdown::$name(self) }
        }
    )+};
}

printed!(Run: run, Advice: advice, Comparison: comparison, Inspection: inspection, Examination: examination, Tuning: tuning,
    Conformance: conformance);

/// A tuning, every point of which is wanted in tables too.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct WholeTuning<'a>(pub(crate) &'a Tuning);

impl Printed for WholeTuning<'_> {
    fn table(&self, look: Look) -> String {
        terminal::whole_tuning(self.0, look)
    }

    fn csv(&self) -> String {
        csv::tuning(self.0)
    }

    fn markdown(&self) -> String {
        markdown::whole_tuning(self.0)
    }
}

/// What is looked up: profiles, studies. It prints under a schema of its own.
#[derive(Debug, Serialize)]
pub(crate) struct Lookup {
    schema: &'static str,
    #[serde(flatten)]
    table: Table,
}

impl From<Table> for Lookup {
    fn from(table: Table) -> Self {
        Self {
            schema: "lastmile/table/1",
            table,
        }
    }
}

impl Printed for Lookup {
    fn table(&self, look: Look) -> String {
        terminal::table(&self.table, look)
    }

    fn csv(&self) -> String {
        csv::table(&self.table)
    }

    fn markdown(&self) -> String {
        markdown::table(&self.table)
    }
}

/// Prints a record on stdout.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn record(record: &impl Printed, format: Format) -> Result<(), Unable> {
    data(&match format {
        Format::Table => record.table(look()),
        Format::Json => record.json(),
        Format::Csv => record.csv(),
        Format::Md => record.markdown(),
    })
}

/// Writes data to stdout. A reader that has seen enough (`| head`) is no error.
///
/// # Errors
/// When stdout cannot be written for another reason: a full disk.
pub(crate) fn data(text: &str) -> Result<(), Unable> {
    some_data(text).map(|_| ())
}

/// Writes some of the data, and tells whether more is wanted: that the reader has left is no error.
///
/// # Errors
/// When stdout cannot be written for another reason: a full disk.
pub(crate) fn some_data(text: &str) -> Result<bool, Unable> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Unable(format!("stdout cannot be written: {error}"))),
    }
}

/// Says something on stderr, in a line or more. That nobody can hear it is no reason to stop.
pub(crate) fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// What stdout can show: as wide as the terminal, in colour unless NO_COLOR is set (no-color.org). Without a terminal there is no
/// colour, and tables are 120 columns wide at most, our own choice.
fn look() -> Look {
    let colour = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let width = terminal_size::terminal_size().map_or(120, |(terminal_size::Width(width), _)| width);
    Look { width, colour }
}
