//! How is the recommendation written for real servers?

use super::Study;
use super::measure::Measured;
use lastmile_report::advise::Snippet;

/// One a server.
pub(super) fn snippets(_study: &Study<'_>, _measured: &[Measured]) -> Vec<Snippet> {
    Vec::new()
}
