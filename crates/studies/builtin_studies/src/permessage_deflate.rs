//! The findings and extra tables of the study `permessage-deflate`.
//!
//! The findings test the claims of 2013 and answer the questions that were left open then; the table shows every printed figure and ours.
//! Everything is computed from a [`Run`]; the printed rows are in `reference_values`, and are compared, never
//! mixed in. A run may lack cells (it may have been cut off): findings that need them are left out.

mod extra_tables;
mod memory;
mod reference_values;

use lastmile_study::catalogue::ComputedFinding;

pub(super) use extra_tables::exhibits;

pub(super) const FINDINGS: &[ComputedFinding] = &[(
    "Claim: a connection uses 2^(window bits + 2) + 2^(mem level + 9) bytes",
    memory::finding,
)];

#[cfg(test)]
mod tests;
