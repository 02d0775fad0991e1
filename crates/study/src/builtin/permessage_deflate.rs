//! What do the figures of the `permessage-deflate` study say? Whether what was claimed in 2013 holds, what was asked then and not
//! answered, and every printed figure beside ours.
//!
//! Everything here is computed from a [`Run`](lastmile_report::record::Run); what was printed stands in `published`, and is compared,
//! never mixed in. A run may lack cells (it may have been cut off): what rests on those is left unsaid.

mod claims;
mod exhibits;
mod figures;
mod published;
mod questions;

use lastmile_report::record::{Finding, Run};

pub(super) use exhibits::exhibits;

/// The findings: claims first, in the order of the post, then open questions.
pub(super) fn findings(run: &Run) -> Vec<Finding> {
    let mut all = claims::findings(run);
    all.extend(questions::findings(run));
    all
}

#[cfg(test)]
mod tests;
