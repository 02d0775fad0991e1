//! The extra table of the study `permessage-deflate`.

use super::figures::{Transcript, cell_of_row, digits, kib};
use super::reference_values::{ROWS, Row};
use lastmile_report::number::quantity;
use lastmile_report::record::{Cell, Run, Table};

/// The tables for which the run has rows.
pub(crate) fn exhibits(run: &Run) -> Vec<Table> {
    let rows: Vec<_> = ROWS
        .iter()
        .filter_map(|row| Some(cells(row, cell_of_row(run, row)?)))
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let whose = if Transcript::from_run(run).is_some_and(|transcript| transcript.is_of_2013()) {
        "ratios of his transcript, and of one with as many messages and bytes"
    } else {
        "ratios of his transcript, and of ours, which is a different one"
    };
    let columns = [
        "Setting",
        "Ratio, printed",
        "here",
        "Memory, printed",
        "formula",
        "here",
        "Time of a pass, printed",
        "here",
        "Remark",
    ];
    vec![Table {
        title: "Every printed figure, and ours".to_owned(),
        note: format!(
            "Peter Thorson, hybi list, 15 October 2013; {whose}. The formula is 2^(window bits + 2) + 2^(mem level + 9) bytes. The times \
             are from processors at least eleven years apart."
        ),
        columns: columns.map(str::to_owned).to_vec(),
        rows,
    }]
}

fn cells(row: &Row, cell: &Cell) -> Vec<String> {
    let figure = |name: &str| cell.figures.get(name).map(|figure| figure.mean);
    let or_blank = |text: Option<String>| text.unwrap_or_default();
    let (key, level) = row.level;
    let formula = row.kib.map(|_| row.formula_kib());
    let printed_time = match row.milliseconds {
        Some(milliseconds) => quantity(milliseconds / 1e3, "s"),
        None => row.time.to_owned(),
    };
    vec![
        format!("{} {level}", key.replace('_', " ")),
        or_blank(row.ratio.map(|ratio| ratio.to_string())),
        or_blank(figure("compression_ratio").map(digits)),
        or_blank(row.kib.map(|kib| format!("{kib} KiB"))),
        or_blank(formula.map(|kib| format!("{kib} KiB"))),
        or_blank(figure("memory_bytes").map(kib)),
        printed_time,
        or_blank(figure("pass_time").map(|time| quantity(time, "s"))),
        remark(row),
    ]
}

fn remark(row: &Row) -> String {
    let mut remarks = Vec::new();
    if row.kib.is_some_and(|kib| kib != row.formula_kib()) {
        remarks.push("printed memory differs from the formula");
    }
    if row.settings.0 == 8 {
        remarks.push("8 bits run as 9");
    }
    remarks.join("; ")
}
