//! The findings and extra tables of the study `gzip-filter`.
//!
//! Everything is computed from a [`Run`]; the figures that the report's authors printed are in `reference_values`, and are compared, never
//! mixed in. A run may lack cells (it may have been cut off): findings that need them are left out.

mod extra_tables;
mod figures;
mod findings;
mod reference_values;

pub(super) use extra_tables::exhibits;
pub(super) use findings::findings;

#[cfg(test)]
mod tests;
