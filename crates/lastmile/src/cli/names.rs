//! Completes names that a shell cannot know: link profiles, studies, and runs under `runs/`.
//!
//! A shell's script calls the binary with [`VARIABLE`] set at each press of TAB; the binary then prints the words that fit, and ends.

use super::Cli;
use crate::registry::CATALOGUE;
use crate::run_store;
use clap::{Arg, Command, CommandFactory as _};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use lastmile_link::all_profiles;
use std::ffi::OsStr;

/// The environment variable that names the shell which asks for words.
pub(crate) const VARIABLE: &str = "LASTMILE_COMPLETE";

/// Answers a shell that asks for words, and ends the process; does nothing otherwise.
pub(crate) fn complete() {
    CompleteEnv::with_factory(|| with_names(Cli::command()))
        .var(VARIABLE)
        .complete();
}

/// The command, whose arguments complete the names that their placeholders in the help stand for.
fn with_names(command: Command) -> Command {
    command.mut_args(with_names_of).mut_subcommands(with_names)
}

fn with_names_of(arg: Arg) -> Arg {
    let names: fn(&OsStr) -> Vec<CompletionCandidate> = match arg.get_value_names().and_then(<[_]>::first) {
        Some(name) => match name.as_str() {
            "LINKS" | "LINK" | "PROFILE" | "A" | "B" => links,
            "STUDY" => studies,
            "STUDY|FILE.toml" => studies_and_files,
            "RUN" | "BEFORE" | "AFTER" => runs,
            _ => return arg,
        },
        None => return arg,
    };
    arg.add(ArgValueCompleter::new(names))
}

/// Link profiles, behind the links of a list that are already there.
fn links(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let last = typed.rfind(',').map_or(0, |comma| comma + 1);
    let (before, begun) = typed.split_at(last);
    let fitting = all_profiles().filter(|profile| profile.id.starts_with(begun));
    let candidate = |profile: &lastmile_link::Profile| {
        let name = CompletionCandidate::new(format!("{before}{}", profile.id));
        name.help(Some(profile.set_title.clone().into()))
    };
    fitting.map(candidate).collect()
}

/// The built-in studies.
fn studies(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names = CATALOGUE.all().map(|study| study.name);
    fitting(typed, names.map(str::to_owned))
}

fn studies_and_files(typed: &OsStr) -> Vec<CompletionCandidate> {
    let is_study = |path: &std::path::Path| path.extension().is_some_and(|extension| extension == "toml");
    let mut candidates = studies(typed);
    candidates.extend(PathCompleter::any().filter(is_study).complete(typed));
    candidates
}

/// The folders under `runs/`, and any path.
fn runs(typed: &OsStr) -> Vec<CompletionCandidate> {
    let runs = run_store::all().into_iter().map(|run| run.display().to_string());
    let mut candidates = fitting(typed, runs);
    candidates.extend(PathCompleter::any().stdio().complete(typed));
    candidates
}

fn fitting(typed: &OsStr, names: impl Iterator<Item = String>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    names
        .filter(|name| name.starts_with(&*typed))
        .map(CompletionCandidate::new)
        .collect()
}
