//! What can be typed? The verbs, what several of them take, and what the help says of the whole. The flags of a verb are in its own file.

pub(crate) mod advise;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod conform;
pub(crate) mod doctor;
pub(crate) mod inspect;
pub(crate) mod link;
pub(crate) mod profiles;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod studies;
pub(crate) mod tune;

use crate::output::Format;
use advise::AdviseArgs;
use clap::{Args, Parser, Subcommand};
use compare::CompareArgs;
use completions::CompletionsArgs;
use conform::ConformArgs;
use doctor::DoctorArgs;
use inspect::InspectArgs;
use lastmile_study::cost::Choice;
use link::LinkArgs;
use profiles::ProfilesArgs;
use report::ReportArgs;
use run::RunArgs;
use std::num::NonZeroU64;
use studies::StudiesArgs;
use tune::TuneArgs;

/// What a delivery choice costs on the link your users really have
///
/// lastmile measures encodings, compression and ways of delivery on your own traffic, over the links that you name, in a
/// simulated network: no root, the same figures every time. stdout is data, stderr is progress and remarks.
#[derive(Debug, Parser)]
#[command(name = "lastmile", version, max_term_width = 120, after_help = EXIT_CODES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXIT_CODES: &str = "\
Exit codes:
    0    all went well
    2    wrong usage, configuration or input: the message names the file, the place and the remedy
    3    this machine or this build cannot: the message says what is missing
    4    some cells failed; the results of the others are kept
   99    a threshold or a --fail-on rule was broken (said even where cells failed too)
  130    stopped by Ctrl-C; a run says how to resume it
`lastmile link` ends as its command does.

NO_COLOR=1 turns colours off; there are none where stdout is no terminal.";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Advise(AdviseArgs),
    Tune(TuneArgs),
    Run(RunArgs),
    Report(ReportArgs),
    Compare(CompareArgs),
    Inspect(InspectArgs),
    Studies(StudiesArgs),
    Link(LinkArgs),
    Profiles(ProfilesArgs),
    Conform(ConformArgs),
    Doctor(DoctorArgs),
    Completions(CompletionsArgs),
    /// Print the manual page of the whole tool
    #[command(after_help = "Examples:
  lastmile man | man -l -                              read it
  lastmile man > ~/.local/share/man/man1/lastmile.1    install it")]
    Man,
}

/// Reads a whole number from 1 to `most`, or as many as there are.
pub(crate) fn from_one<T: TryFrom<NonZeroU64>>(text: &str, most: Option<u64>) -> Result<T, String> {
    let number = text.parse::<NonZeroU64>().ok();
    let number = number.filter(|number| most.is_none_or(|most| number.get() <= most));
    let to = most.map_or_else(String::new, |most| format!(" to {most}"));
    let refused = || format!("write a whole number from 1{to}, in digits alone");
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(refused)
}

#[derive(Debug, Args)]
pub(crate) struct FormatArg {
    /// How the record is printed on stdout
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CpuArg {
    /// What computing costs: reference, measured, free, or a cost table's file [default: reference]
    ///
    /// reference is a table that ships with lastmile: the same figures everywhere. measured is one measured here before anything
    /// runs, in about twenty seconds, and is kept in the run's folder as costs.toml. free lets computing take no time.
    #[arg(long, value_name = "TABLE")]
    pub(crate) cpu: Option<Choice>,
}
