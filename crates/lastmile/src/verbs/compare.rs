//! `lastmile compare`: compares two runs, and checks rules on the changes.

use crate::cli::compare::CompareArgs;
use crate::exit::Exit;
use crate::{output, run_store};
use anyhow::bail;
use lastmile_report::compare;
use std::path::{Path, PathBuf};

/// Verbs whose records are compared and that keep none under `runs/`.
const KEEP_NO_RECORD: [&str; 5] = ["encode", "inspect", "conform", "load", "time"];

/// The two runs that were named, or the last two of a study or verb.
fn runs(args: &CompareArgs) -> anyhow::Result<[PathBuf; 2]> {
    let Some(study) = &args.last else {
        let named = |path: &Option<PathBuf>| path.clone().expect("clap asks for a run wherever --last is not given");
        let named = [named(&args.before), named(&args.after)];
        if named.iter().all(|path| path == Path::new("-")) {
            bail!("standard input is one record: name a file or a run's folder for the other");
        }
        return Ok(named);
    };
    if KEEP_NO_RECORD.contains(&study.as_str()) {
        bail!(
            "--last {study}: `lastmile {study}` keeps no record under runs/; print two with --format json > before.json and > after.json, and compare \
             these files"
        );
    }
    let mut runs = run_store::all_holding(study, "meta.json");
    if runs.is_empty() {
        runs = run_store::all_holding(study, run_store::RECORD);
    }
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
