//! `lastmile compare`: compares two runs, and checks rules on the changes.

use crate::cli::compare::CompareArgs;
use crate::exit::Exit;
use crate::{output, run_store};
use anyhow::bail;
use lastmile_report::compare;

/// Compares two runs.
///
/// # Errors
/// When one of them cannot be read, or they have no cell in common.
pub(crate) fn compare(args: &CompareArgs) -> anyhow::Result<Exit> {
    let before = run_store::read_record(&args.before)?;
    let after = run_store::read_record(&args.after)?;
    let comparison = compare::compare(&before, &after, &args.fail_on, args.strict);
    if comparison.cells.is_empty() {
        bail!(
            "{} and {} have no cell in common: they are of the studies {:?} and {:?}",
            args.before.display(),
            args.after.display(),
            before.study,
            after.study
        );
    }
    output::print_record(&comparison, args.format.format())?;
    for broken in comparison.broken_rules() {
        output::note(&format!("broken: {broken}"));
    }
    for undecided in comparison.undecided_rules() {
        output::note(&format!("undecided: {undecided}"));
    }
    Ok(if comparison.breaks_a_rule() {
        Exit::Broken
    } else if comparison.is_undecided() {
        Exit::Undecided
    } else {
        Exit::Done
    })
}
