//! The findings and extra tables of the study `permessage-deflate`.
//!
//! The findings test the claims of 2013 and answer the questions that were left open then; the table shows every printed figure and ours.
//! Everything is computed from a [`Run`]; the printed figures are in `reference_values`, and are compared, never
//! mixed in. A run may lack cells (it may have been cut off): findings that need them are left out.

mod claims;
mod extra_tables;
mod figures;
mod questions;
mod reference_values;

use lastmile_report::record::{Finding, Run};

pub(super) use extra_tables::exhibits;

/// The findings: claims first, in the order of the post, then open questions.
pub(super) fn findings(run: &Run) -> Vec<Finding> {
    let mut all = claims::findings(run);
    all.extend(questions::findings(run));
    all
}

#[cfg(test)]
mod tests;
