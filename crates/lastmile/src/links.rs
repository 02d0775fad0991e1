//! Reads the links of the command line: formulas, with the files of their delivery traces.

use crate::output;
use lastmile_link::{LinkError, LinkRequest, LinkSpec, parse_list};
use std::fs;

/// The link of a formula: `wpt/3g`, `wpt/3g+loss=1%`, `mine+trace=drive.up+one_way_delay=30ms`.
///
/// # Errors
/// When the formula is not understood, no profile has its name, or a trace's file cannot be read.
pub(crate) fn link(formula: &str) -> Result<LinkSpec, LinkError> {
    LinkRequest::parse(formula)?.resolve_with(&mut read_trace)
}

/// The links of lists such as `wpt/3g,published/dialup-56k`, each with its name.
///
/// # Errors
/// As [`link`], for the first that is wrong.
pub(crate) fn list(lists: &[String]) -> Result<Vec<(String, LinkSpec)>, LinkError> {
    let mut links = Vec::new();
    for list in lists {
        for request in parse_list(list)? {
            let link = request.resolve_with(&mut read_trace)?;
            links.push((link.name(), link));
        }
    }
    Ok(links)
}

/// The links of lists, each with its name; those of `default` where there is no list.
///
/// # Errors
/// As [`link`], for the first that is wrong.
pub(crate) fn list_or(lists: &[String], default: &str) -> Result<Vec<(String, LinkSpec)>, LinkError> {
    match lists {
        [] => list(&[default.to_owned()]),
        lists => list(lists),
    }
}

/// Notes which links are used where none was named.
pub(crate) fn note_default(lists: &[String], default: &str) {
    if lists.is_empty() {
        output::note(&format!(
            "links: {default}; name your users' with --link (`lastmile profiles list` has them)"
        ));
    }
}

fn read_trace(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| error.to_string())
}
