//! The findings and tables of the study `event-monitoring`: what the slides print, beside what we measured; and what explains what they leave
//! open.

mod open_questions;
mod planned;
mod printed_rows;
mod systems;
#[cfg(test)]
mod tests;

use lastmile_report::record::{Finding, Run, Table};

pub(super) fn findings(run: &Run) -> Vec<Finding> {
    let all = [
        open_questions::subscription(run),
        open_questions::sustained_and_delayed(run),
        open_questions::first_query(run),
        open_questions::durability(run),
        planned::work_ratio(run),
        planned::scale(run),
        planned::slow_links(run),
        planned::losses(run),
        systems::submission(run),
        systems::delivery(run),
        systems::warm_up(run),
    ];
    all.into_iter().flatten().collect()
}

pub(super) fn exhibits(run: &Run) -> Vec<Table> {
    printed_rows::tables(run)
}

fn finding(title: &str, text: String, inferred: bool) -> Finding {
    Finding {
        title: title.to_owned(),
        text,
        inferred,
    }
}
