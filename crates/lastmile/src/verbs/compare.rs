//! `lastmile compare`: compares two runs, and checks rules on the changes.

use crate::cli::compare::CompareArgs;
use crate::exit::Exit;
use crate::{output, run_store};
use anyhow::bail;
use lastmile_report::compare;
use std::path::PathBuf;

/// The two runs that were named, or the last two of a study.
fn runs(args: &CompareArgs) -> anyhow::Result<[PathBuf; 2]> {
    let Some(study) = &args.last else {
        let named = |path: &Option<PathBuf>| path.clone().expect("clap asks for a run wherever --last is not given");
        return Ok([named(&args.before), named(&args.after)]);
    };
    let mut runs = run_store::all_holding(study, "meta.json");
    match (runs.pop(), runs.pop()) {
        (Some(after), Some(before)) => Ok([before, after]),
        (one, _) => bail!(
            "--last {study}: there {} of it under runs/ here; two are compared",
            if one.is_some() { "is one run" } else { "is no run" }
        ),
    }
}

/// Compares two runs.
///
/// # Errors
/// When one of them cannot be read, or they have no cell in common.
pub(crate) fn compare(args: &CompareArgs) -> anyhow::Result<Exit> {
    let [before_path, after_path] = runs(args)?;
    let before = run_store::read_record(&before_path)?;
    let after = run_store::read_record(&after_path)?;
    let comparison = compare::compare(&before, &after, &args.fail_on, args.strict);
    if comparison.cells.is_empty() {
        bail!(
            "{} and {} have no cell in common: they are of the studies {:?} and {:?}",
            before_path.display(),
            after_path.display(),
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
