//! Reads the links of the command line: formulas, with the files of their delivery traces.

use lastmile_link::{LinkError, LinkRequest, LinkSpec, parse_list};
use std::fs;

/// The link of a formula: `wpt/3g`, `wpt/3g+loss=1%`, `mine+trace=drive.up+one_way_delay=30ms`.
///
/// # Errors
/// When the formula is not understood, no profile has its name, or a trace's file cannot be read.
pub(crate) fn link(formula: &str) -> Result<LinkSpec, LinkError> {
    LinkRequest::parse(formula)?.resolve_with(&mut read_trace)
}

/// The links of lists such as `wpt/3g,published/dialup-56k`.
///
/// # Errors
/// As [`link`], for the first that is wrong.
pub(crate) fn list(lists: &[String]) -> Result<Vec<LinkSpec>, LinkError> {
    let mut links = Vec::new();
    for list in lists {
        for request in parse_list(list)? {
            links.push(request.resolve_with(&mut read_trace)?);
        }
    }
    Ok(links)
}

fn read_trace(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| error.to_string())
}
