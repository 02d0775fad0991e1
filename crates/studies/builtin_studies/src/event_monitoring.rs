//! The findings and tables of the study `event-monitoring`: what the slides print, beside what we measured; and what explains what they leave
//! open.

mod open_questions;
mod planned;
mod printed_rows;
mod systems;
#[cfg(test)]
mod tests;

use lastmile_report::record::{Run, Table};
use lastmile_study::catalogue::ComputedFinding;

pub(super) const FINDINGS: &[ComputedFinding] = &[
    ("The first query", open_questions::first_query),
    ("Losses add up", planned::losses),
    ("Other systems: submission", systems::submission),
    ("Other systems: delivery", systems::delivery),
    ("Other systems: the trend within a test", systems::warm_up),
];

pub(super) fn exhibits(run: &Run) -> Vec<Table> {
    printed_rows::tables(run)
}
