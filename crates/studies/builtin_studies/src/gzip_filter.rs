//! The findings and extra tables of the study `gzip-filter`.
//!
//! Everything is computed from a [`Run`]; the figures that the report's authors printed are in `reference_values`, and are compared, never
//! mixed in. A run may lack cells (it may have been cut off): findings that need them are left out.

mod extra_tables;
mod figures;
mod findings;
mod reference_values;

pub(super) use extra_tables::exhibits;
use lastmile_study::catalogue::ComputedFinding;

pub(super) const FINDINGS: &[ComputedFinding] = &[
    ("What the filter saves in bytes", findings::sizes),
    ("What the filter saves in time", findings::times),
    ("How much is compression, how much buffering", findings::buffering),
    (
        "The setting that comes closest to the printed times",
        findings::nearest_setting,
    ),
    ("The forecast on faster processors", findings::forecast),
    ("Where the network costs next to nothing", findings::local_host),
];

#[cfg(test)]
mod tests;
