//! The findings and tables of the study `wireless-web`: what the slides print, beside what we measured; and what explains what they leave open.

mod capacity;
mod curves;
mod environments;
mod fairness;
mod future_work;
mod periodicity;
mod printed_figures;
mod real_programs;
#[cfg(test)]
mod tests;

use lastmile_report::record::{Finding, Run, Table};

pub(super) fn findings(run: &Run) -> Vec<Finding> {
    let all = [
        capacity::knee(run),
        capacity::first_drops(run),
        capacity::persistence(run),
        environments::finding(run),
        fairness::finding(run),
        periodicity::finding(run),
        capacity::airtime_or_server(run),
        real_programs::finding(run),
        future_work::finding(run),
    ];
    all.into_iter().flatten().collect()
}

pub(super) fn exhibits(run: &Run) -> Vec<Table> {
    let all = [
        printed_figures::table(run),
        environments::table(run),
        fairness::table(run),
        periodicity::table(run),
    ];
    all.into_iter().flatten().collect()
}

/// A finding.
fn finding(title: &str, text: String, inferred: bool) -> Finding {
    Finding {
        title: title.to_owned(),
        text,
        inferred,
    }
}

/// A table, unless it has no rows.
fn table(title: &str, note: &str, columns: &[&str], rows: Vec<Vec<String>>) -> Option<Table> {
    (!rows.is_empty()).then(|| Table {
        title: title.to_owned(),
        note: note.to_owned(),
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
        rows,
    })
}

/// Names in a sentence: `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}
