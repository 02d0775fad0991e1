//! Which links are named on the command line? Formulas, read, with the files of their delivery traces.

use lastmile_link::{LinkError, LinkRequest, LinkSpec};
use std::fs;

/// The link of a formula: `wpt/3g`, `wpt/3g+loss=1%`, `mine+trace=drive.up+one_way_delay=30ms`.
///
/// # Errors
/// When the formula is not understood, no profile has its name, or a trace's file cannot be read.
pub(crate) fn link(formula: &str) -> Result<LinkSpec, LinkError> {
    LinkRequest::parse(formula)?.resolve_with(&mut read_trace)
}

fn read_trace(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| error.to_string())
}
