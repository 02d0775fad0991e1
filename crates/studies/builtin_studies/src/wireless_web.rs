//! The findings and tables of the study `wireless-web`: what the slides print, beside what we measured; and what explains what they leave open.

mod capacity;
mod curves;
mod environments;
mod fairness;
mod future_work;
mod periodicity;
mod printed_figures;
#[cfg(test)]
mod tests;

use lastmile_report::record::{Run, Table};
use lastmile_study::catalogue::ComputedFinding;

pub(super) const FINDINGS: &[ComputedFinding] = &[
    ("The knee", capacity::knee),
    ("Persistent connections", capacity::persistence),
    ("What the place was like", environments::finding),
    ("Why one of two or three clients gains", fairness::finding),
    ("Where periodicity comes from", periodicity::finding),
    ("Airtime, or the server of 2003", capacity::airtime_or_server),
    ("The future work of the slides", future_work::finding),
];

pub(super) fn exhibits(run: &Run) -> Vec<Table> {
    let all = [
        printed_figures::table(run),
        environments::table(run),
        fairness::table(run),
        periodicity::table(run),
    ];
    all.into_iter().flatten().collect()
}

/// Names in a sentence: `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}
