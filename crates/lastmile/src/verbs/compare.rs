//! `lastmile compare`: what changed between two runs?

use crate::cli::compare::CompareArgs;
use crate::exit::Exit;
use crate::{output, runs};
use anyhow::bail;
use lastmile_report::compare;

/// Compares two runs.
///
/// # Errors
/// When one of them cannot be read, or they have no cell in common.
pub(crate) fn compare(args: &CompareArgs) -> anyhow::Result<Exit> {
    let before = runs::recorded(&args.before)?;
    let after = runs::recorded(&args.after)?;
    let comparison = compare::compare(&before, &after, &args.fail_on);
    if comparison.cells.is_empty() {
        bail!(
            "{} and {} have no cell in common: they are of the studies {:?} and {:?}",
            args.before.display(),
            args.after.display(),
            before.study,
            after.study
        );
    }
    output::record(&comparison, args.format.format)?;
    Ok(if comparison.breaks_a_rule() {
        Exit::Broken
    } else {
        Exit::Done
    })
}
