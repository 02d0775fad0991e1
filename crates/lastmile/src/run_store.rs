//! Stores and reads runs: folders under `runs/`, the record that a journal adds up to, its page.

use crate::clock::Utc;
use crate::output;
use crate::registry::CATALOGUE;
use anyhow::{Context as _, bail};
use lastmile_advise::record::Advice;
use lastmile_builtin_studies::fidelity;
use lastmile_conform::record::Conformance;
use lastmile_encode::record::EncodingComparison;
use lastmile_inspect::record::Inspection;
use lastmile_load::record::Load;
use lastmile_report::page::{self, Provenance};
use lastmile_report::record::Run;
use lastmile_report::screen::{STANDARD_INPUT, shell_word};
use lastmile_study::catalogue::Builtin;
use lastmile_study::cell::expand;
use lastmile_study::file::Study;
use lastmile_study::run_folder::{RunFolder, StoredRun};
use lastmile_study::summary::summarise;
use lastmile_study::{journal, runner};
use lastmile_tune::record::Tuning;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The version that records carry.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The record in the folder of a verb that keeps no journal of a study.
pub(crate) const RECORD: &str = "record.json";

/// The default folder of runs.
const PARENT: &str = "runs";

/// Creates the folder of a run that begins now: `out`, or else one by [`create_dated`].
///
/// # Errors
/// When it cannot be made.
pub(crate) fn create(out: Option<&Path>, study: &str) -> anyhow::Result<RunFolder> {
    const REMEDY: &str = "a run needs a folder; name one that can be written with --out DIR";
    match out {
        Some(out) => RunFolder::at(out).context(REMEDY),
        None => create_dated(study, REMEDY),
    }
}

/// Creates `runs/<name>-<date>-<time>`, with a number behind it where that name is taken.
///
/// # Errors
/// When it cannot be made; the error names `remedy`.
pub(crate) fn create_dated(study: &str, remedy: &'static str) -> anyhow::Result<RunFolder> {
    let parent = Path::new(PARENT);
    let made = |path: &Path, made: std::io::Result<()>| {
        made.with_context(|| format!("{} cannot be made", path.display()))
            .context(remedy)
    };
    made(parent, fs::create_dir_all(parent))?;
    let stamp = Utc::now().stamp();
    for n in 1_u64.. {
        let number = if n == 1 { String::new() } else { format!("-{n}") };
        let path = parent.join(format!("{study}-{stamp}{number}"));
        // Only one process can make a folder, so that two runs that begin in the same second do not share one.
        match fs::create_dir(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => (),
            ended => {
                made(&path, ended)?;
                return Ok(RunFolder::at(&path)?);
            }
        }
    }
    unreachable!("a folder cannot hold every number")
}

/// The latest run of a study under `runs/`.
///
/// # Errors
/// When there is none.
pub(crate) fn latest(study: &str) -> anyhow::Result<RunFolder> {
    let newest = latest_holding(study, "meta.json");
    let path = newest.with_context(|| {
        format!("there is no run of {study} under {PARENT}/ here; name the run's folder: --resume RUN")
    })?;
    Ok(RunFolder::at(&path)?)
}

/// The latest folder `<name>-<date>` under `runs/` that holds this file.
pub(crate) fn latest_holding(name: &str, file: &str) -> Option<PathBuf> {
    all_holding(name, file).pop()
}

/// The folders under `runs/` that hold a run or the record of another verb, by name.
pub(crate) fn all() -> Vec<PathBuf> {
    let entries = fs::read_dir(PARENT).into_iter().flatten().flatten();
    let is_run = |path: &PathBuf| ["meta.json", RECORD].iter().any(|file| path.join(file).is_file());
    let mut runs: Vec<_> = entries.map(|entry| entry.path()).filter(is_run).collect();
    runs.sort();
    runs
}

/// The folders `<name>-<date>` under `runs/` that hold this file, the latest last: of a second, that with the largest number behind it.
pub(crate) fn all_holding(name: &str, file: &str) -> Vec<PathBuf> {
    const STAMP: usize = "20260131-142359".len();
    let begins = format!("{name}-");
    let order = |path: &Path| {
        let name = path.file_name()?.to_str()?.strip_prefix(&begins)?;
        let stamp = name.get(..STAMP)?;
        let number = name[STAMP..]
            .strip_prefix('-')
            .map_or(Some(1), |number| number.parse::<u64>().ok())?;
        stamp
            .starts_with(|c: char| c.is_ascii_digit())
            .then(|| (stamp.to_owned(), number))
    };
    let entries = fs::read_dir(PARENT).into_iter().flatten().flatten();
    let held = entries
        .map(|entry| entry.path())
        .filter(|path| path.join(file).is_file());
    let mut runs: Vec<_> = held.filter_map(|path| Some((order(&path)?, path))).collect();
    runs.sort();
    runs.into_iter().map(|(_, path)| path).collect()
}

/// The folder at `path`, which must hold a run.
///
/// # Errors
/// When it does not.
pub(crate) fn open_run(path: &Path) -> anyhow::Result<RunFolder> {
    open_holding(
        path,
        "meta.json",
        "run (it has no meta.json)",
        "give the folder that `lastmile run` printed, like runs/bulk-20260131-142359",
    )
}

/// The folder at `path`, which must hold this file.
///
/// # Errors
/// When it does not: it then lacks `what`, and the error names `remedy`.
pub(crate) fn open_holding(path: &Path, file: &str, what: &str, remedy: &str) -> anyhow::Result<RunFolder> {
    let name = path.display();
    if !path.exists() {
        bail!("{name} does not exist; {remedy}");
    }
    if !path.join(file).is_file() {
        bail!("{name} holds no {what}; {remedy}");
    }
    Ok(RunFolder::at(path)?)
}

/// The record that a run's journal adds up to; `study` is the stored one, or one with further thresholds.
///
/// # Errors
/// When the study's cells cannot be distinguished.
pub(crate) fn record(folder: &RunFolder, kept: &StoredRun, study: &Study) -> anyhow::Result<Run> {
    let expanded = expand(study)?;
    let mut run = summarise(
        &expanded,
        &kept.outcomes,
        &kept.meta,
        &folder.path().display().to_string(),
    );
    CATALOGUE.annotate(study, &mut run);
    fidelity::annotate(&expanded, &mut run);
    Ok(run)
}

/// The record of a run, or of another verb as a run: in a folder, a file that the verb printed with `--format json`, or standard input (`-`).
///
/// # Errors
/// When it is neither.
pub(crate) fn read_record(path: &Path) -> anyhow::Result<Run> {
    if path == Path::new("-") {
        let text = io::read_to_string(io::stdin()).with_context(|| format!("{STANDARD_INPUT} cannot be read"))?;
        return parse_record(STANDARD_INPUT, &text);
    }
    let kept = path.join(RECORD);
    let file = if kept.is_file() { &kept } else { path };
    if !file.is_file() {
        let folder = open_run(path)?;
        let kept = folder.read()?;
        note_missing_repeats(&folder, &kept)?;
        return record(&folder, &kept, &kept.study);
    }
    let name = file.display().to_string();
    let text = fs::read_to_string(file).with_context(|| format!("{name} cannot be read"))?;
    parse_record(&name, &text)
}

/// The record of any verb that measures, as a run; `name` is for messages.
fn parse_record(name: &str, text: &str) -> anyhow::Result<Run> {
    /// What all records begin with.
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    fn whole<T: DeserializeOwned>(name: &str, text: &str) -> anyhow::Result<T> {
        serde_json::from_str(text)
            .with_context(|| format!("{name} does not have the shape of its schema; it is from another version"))
    }
    let refused = || {
        format!(
            "{name} is not the record of a run; give a run's folder, or what `lastmile run --format json` printed, or advise, tune, encode, inspect, \
             load, time or conform with --format json"
        )
    };
    let Head { schema } = serde_json::from_str(text).with_context(refused)?;
    match schema.as_str() {
        Run::SCHEMA => whole(name, text),
        Load::SCHEMA => Ok(whole::<Load>(name, text)?.as_run()),
        Advice::SCHEMA => Ok(whole::<Advice>(name, text)?.as_run()),
        Tuning::SCHEMA => Ok(whole::<Tuning>(name, text)?.as_run()),
        EncodingComparison::SCHEMA => Ok(whole::<EncodingComparison>(name, text)?.as_run()),
        Inspection::SCHEMA => Ok(whole::<Inspection>(name, text)?.as_run()),
        Conformance::SCHEMA => Ok(whole::<Conformance>(name, text)?.as_run()),
        other => {
            let (kind, _) = other.rsplit_once('/').unwrap_or((other, ""));
            match Run::SCHEMA.rsplit_once('/') {
                Some((ours, _)) if ours == kind => bail!(
                    "{name} has the schema {other:?} instead of {:?}; it is from another version",
                    Run::SCHEMA
                ),
                _ => bail!("{}; it has the schema {other:?}", refused()),
            }
        }
    }
}

/// Notes how much of a run is missing, where it was interrupted.
///
/// # Errors
/// When the study's cells cannot be distinguished.
pub(crate) fn note_missing_repeats(folder: &RunFolder, kept: &StoredRun) -> anyhow::Result<()> {
    let total = runner::planned_repeats(&expand(&kept.study)?);
    let done = repeats_in(&kept.outcomes);
    if done < total {
        output::note(&format!(
            "{done} of {total} repeats are done; {}",
            how_to_resume(folder.path())
        ));
    }
    Ok(())
}

/// How to continue a run that was stopped.
pub(crate) fn how_to_resume(folder: &Path) -> String {
    format!(
        "continue with: lastmile run --resume {}",
        shell_word(&folder.display().to_string())
    )
}

/// How many repeats have an outcome.
pub(crate) fn repeats_in(outcomes: &journal::Outcomes) -> u64 {
    outcomes.values().map(|repeats| repeats.len() as u64).sum()
}

/// Writes the page of a run into its folder, and returns its path.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write_page(folder: &RunFolder, kept: &StoredRun, run: &Run) -> anyhow::Result<PathBuf> {
    const PAGE: &str = "report.html";
    // The journal's time of last change is the run's end, so that the page is the same whenever it is made.
    let finished = fs::metadata(folder.path().join("journal.jsonl")).and_then(|journal| journal.modified());
    let provenance = Provenance {
        command: command(kept),
        machine: kept.meta.machine.clone(),
        finished: finished.ok().map(|time| Utc::from_system_time(time).readable()),
        study: Some(kept.study.expanded()),
    };
    folder.write_whole(PAGE, page::render(run, &provenance).as_bytes())?;
    Ok(folder.path().join(PAGE))
}

/// The command that repeats a run: by name where the study is built in, or else with the study that its page shows.
fn command(kept: &StoredRun) -> String {
    let Study {
        name, repeats, seed, ..
    } = &kept.study;
    let same = |builtin: &Builtin| {
        let mut study = builtin.study();
        (study.repeats, study.seed, study.world) = (*repeats, *seed, kept.study.world);
        study == kept.study
    };
    let study = match CATALOGUE.find(name) {
        Some(builtin) if same(builtin) => format!("{name} --repeats {repeats} --seed {seed}"),
        _ => "study.toml".to_owned(),
    };
    let cpu = match kept.meta.cpu.as_str() {
        "measured" => "costs.toml",
        other => other,
    };
    format!("lastmile run {study} --cpu {}", shell_word(cpu))
}

/// The command line as typed, quoted for a shell.
pub(crate) fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| shell_word(&word));
    let words: Vec<String> = std::iter::once("lastmile".to_owned()).chain(words).collect();
    words.join(" ")
}
