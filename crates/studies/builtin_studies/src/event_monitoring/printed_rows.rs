//! The tables of the slides, run by run, beside our runs.

use super::systems;
use crate::record_lookup::cell;
use lastmile_report::number::quantity;
use lastmile_report::record::{Cell, Figure, Run, Table};
use serde::Deserialize;

/// The printed tables.
#[derive(Deserialize)]
struct PrintedRows {
    table: Vec<PrintedTable>,
}

#[derive(Deserialize)]
struct PrintedTable {
    /// Also the part that repeats it.
    test: String,
    title: String,
    /// The peer that is the system of its channel.
    original: Option<String>,
    columns: Vec<Column>,
}

#[derive(Deserialize)]
struct Column {
    figure: String,
    title: String,
    /// The printed value of each run, in seconds.
    printed: Vec<f64>,
}

fn printed_tables() -> Vec<PrintedTable> {
    let rows: PrintedRows =
        toml::from_str(include_str!("printed_rows.toml")).expect("the rows are well-formed: a test reads them");
    rows.table
}

/// What the slides print of a figure in a test, run by run.
pub(super) fn printed(test: &str, figure: &str) -> Option<Vec<f64>> {
    let table = printed_tables().into_iter().find(|table| table.test == test)?;
    let column = table.columns.into_iter().find(|column| column.figure == figure)?;
    Some(column.printed)
}

/// The part with the same tests over real kernels, and the one with other systems.
const KERNELS: &str = "kernels";
const SYSTEMS: &str = "systems";

pub(super) fn tables(run: &Run) -> Vec<Table> {
    printed_tables()
        .into_iter()
        .filter_map(|printed| table(run, printed))
        .collect()
}

/// Our cell of a printed table: in the simulated world or, where the run is of the emulated one, there.
fn ours<'a>(run: &'a Run, printed: &PrintedTable) -> Option<&'a Cell> {
    let levels = [("test", printed.test.as_str())];
    cell(run, &printed.test, &levels).or_else(|| cell(run, KERNELS, &levels))
}

/// The cell of the system that carried the events of a printed table, today.
fn original<'a>(run: &'a Run, printed: &PrintedTable) -> Option<(&'static str, &'a Cell)> {
    let server = printed.original.as_deref()?;
    let levels = [("test", printed.test.as_str()), ("server", server)];
    Some((systems::name(server)?, cell(run, SYSTEMS, &levels)?))
}

fn table(run: &Run, printed: PrintedTable) -> Option<Table> {
    let mut measured = vec![("ours", ours(run, &printed)?)];
    measured.extend(original(run, &printed));
    let mut columns = vec!["Run".to_owned()];
    for column in &printed.columns {
        columns.push(format!("{}, printed", column.title));
        columns.extend(measured.iter().map(|(whose, _)| format!("{}, {whose}", column.title)));
    }
    let seconds = |value: f64| quantity(value, "s");
    let rows = printed.columns.first()?.printed.len();
    // A record has no means of runs that are all equal.
    let of_run = |cell: &Cell, column: &Column, row: usize| {
        let figure = cell.figures.get(&column.figure)?;
        let constant = (figure.population_sd == 0.0 && (row as u64) < cell.repeats).then_some(figure.mean);
        figure.run_means.get(row).copied().or(constant).map(seconds)
    };
    let mut table: Vec<Vec<String>> = (0..rows)
        .map(|row| {
            let values = printed.columns.iter().flat_map(|column| {
                let measured = measured
                    .iter()
                    .map(|(_, cell)| of_run(cell, column, row).unwrap_or_default());
                std::iter::once(seconds(column.printed[row]))
                    .chain(measured)
                    .collect::<Vec<_>>()
            });
            std::iter::once((row + 1).to_string()).chain(values).collect()
        })
        .collect();
    let mut add = |name: &str, of_printed: fn(&[f64]) -> Option<f64>, of_measured: fn(&Figure) -> Option<f64>| {
        let values = printed.columns.iter().flat_map(|column| {
            let measured = measured
                .iter()
                .map(|(_, cell)| cell.figures.get(&column.figure).and_then(of_measured));
            let all: Vec<Option<f64>> = std::iter::once(of_printed(&column.printed)).chain(measured).collect();
            all.into_iter().map(|value| value.map(seconds).unwrap_or_default())
        });
        table.push(std::iter::once(name.to_owned()).chain(values).collect());
    };
    add("Mean", lastmile_statistics::mean, |figure| Some(figure.mean));
    add("Deviation", lastmile_statistics::sd, |figure| figure.sd);
    let mut note = "Printed: a virtual machine on an Athlon MP at 2.0 GHz, Java RMI and Ice. The means and deviations of printed runs are computed from them; deviations divide by n - 1.".to_owned();
    if let [_, (name, _)] = measured[..] {
        note += &format!(" {name}: the system of the printed channel, on this machine.");
    }
    Some(Table {
        title: printed.title,
        note,
        columns,
        rows: table,
    })
}
