//! The tables of the slides, run by run, beside our runs.

use crate::record_lookup::cell;
use lastmile_report::number::quantity;
use lastmile_report::record::{Cell, Figure, Run, Table};

/// A column that is printed: its figure, and the printed value of each run in seconds.
struct Column {
    figure: &'static str,
    title: &'static str,
    printed: &'static [f64],
}

/// A table that is printed: the test, the part that repeats it, the peer that is the system of its channel, and its columns.
struct Printed {
    test: &'static str,
    part: &'static str,
    original: Option<(&'static str, &'static str)>,
    title: &'static str,
    columns: &'static [Column],
}

const PRINTED: &[Printed] = &[
    Printed {
        test: "sustained",
        part: "sustained",
        original: Some(("java-events", "Java RMI")),
        title: "Sustained submission, run by run",
        columns: &[
            Column {
                figure: "send_time",
                title: "send",
                printed: &[
                    22.496, 20.733, 21.826, 21.460, 19.208, 21.644, 23.525, 21.782, 20.814, 23.085,
                ],
            },
            Column {
                figure: "create_time",
                title: "create",
                printed: &[3.609, 2.180, 1.843, 1.777, 1.753, 1.811, 1.790, 1.769, 1.783, 1.781],
            },
            Column {
                figure: "submission_time",
                title: "total",
                printed: &[
                    26.105, 22.913, 23.669, 23.237, 20.961, 23.455, 25.315, 23.551, 22.597, 24.866,
                ],
            },
        ],
    },
    Printed {
        test: "delayed",
        part: "delayed",
        original: None,
        title: "Delayed submission, run by run",
        columns: &[
            Column {
                figure: "application_time",
                title: "real run",
                printed: &[78.934, 78.786, 78.680, 78.716, 78.776],
            },
            Column {
                figure: "control_time",
                title: "control run",
                printed: &[75.150, 75.152, 75.152, 75.152, 75.149],
            },
            Column {
                figure: "submission_time",
                title: "difference",
                printed: &[3.784, 3.634, 3.528, 3.564, 3.627],
            },
        ],
    },
    Printed {
        test: "subscription",
        part: "subscription",
        original: Some(("ice-events", "Ice")),
        title: "Subscription, run by run",
        columns: &[
            Column {
                figure: "subscription_time",
                title: "time",
                printed: &[
                    31.108, 30.114, 30.072, 27.904, 25.283, 23.762, 22.434, 23.184, 23.181, 21.529,
                ],
            },
            Column {
                figure: "timing_time",
                title: "overhead",
                printed: &[0.007, 0.008, 0.002, 0.006, 0.003, 0.003, 0.009, 0.004, 0.009, 0.008],
            },
        ],
    },
    Printed {
        test: "query",
        part: "query",
        original: None,
        title: "Query, query by query",
        columns: &[Column {
            figure: "query_time",
            title: "time",
            printed: &[4.549, 0.173, 0.223, 0.387, 0.203, 0.151, 0.219, 0.140, 0.155, 0.270],
        }],
    },
];

/// The part with the same tests over real kernels, and the one with other systems.
const KERNELS: &str = "kernels";
const SYSTEMS: &str = "systems";

pub(super) fn tables(run: &Run) -> Vec<Table> {
    PRINTED.iter().filter_map(|printed| table(run, printed)).collect()
}

/// Our cell of a printed table: in the simulated world or, where the run is of the emulated one, there.
fn ours<'a>(run: &'a Run, printed: &Printed) -> Option<&'a Cell> {
    let levels = [("test", printed.test)];
    cell(run, printed.part, &levels).or_else(|| cell(run, KERNELS, &levels))
}

/// The cell of the system that carried the events of a printed table, today.
fn original<'a>(run: &'a Run, printed: &Printed) -> Option<(&'static str, &'a Cell)> {
    let (server, name) = printed.original?;
    Some((name, cell(run, SYSTEMS, &[("test", printed.test), ("server", server)])?))
}

fn table(run: &Run, printed: &Printed) -> Option<Table> {
    let mut measured = vec![("ours", ours(run, printed)?)];
    measured.extend(original(run, printed));
    let mut columns = vec!["Run".to_owned()];
    for column in printed.columns {
        columns.push(format!("{}, printed", column.title));
        columns.extend(measured.iter().map(|(whose, _)| format!("{}, {whose}", column.title)));
    }
    let seconds = |value: f64| quantity(value, "s");
    let rows = printed.columns.first()?.printed.len();
    // A record has no means of runs that are all equal.
    let of_run = |cell: &Cell, column: &Column, row: usize| {
        let figure = cell.figures.get(column.figure)?;
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
                .map(|(_, cell)| cell.figures.get(column.figure).and_then(of_measured));
            let all: Vec<Option<f64>> = std::iter::once(of_printed(column.printed)).chain(measured).collect();
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
        title: printed.title.to_owned(),
        note,
        columns,
        rows: table,
    })
}
