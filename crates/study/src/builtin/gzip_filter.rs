//! What do the figures of the `gzip-filter` study say? Findings in words made from them, and the tables beside them.
//!
//! Everything here is computed from a [`Run`]; what the report's authors printed stands in `published`, and is compared, never
//! mixed in. A run may lack cells (it may have been cut off): what rests on those is left unsaid.

mod exhibits;
mod figures;
mod findings;
mod published;

pub(super) use exhibits::exhibits;
pub(super) use findings::findings;

#[cfg(test)]
mod tests;
