//! The command line: the verbs, the options that several of them share, and the help's general text. Each verb's options are in its own file.

pub(crate) mod advise;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod conform;
pub(crate) mod doctor;
pub(crate) mod encode;
pub(crate) mod inspect;
pub(crate) mod link;
pub(crate) mod load;
pub(crate) mod monitor;
pub(crate) mod names;
pub(crate) mod perturb;
pub(crate) mod profiles;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod route;
pub(crate) mod run;
pub(crate) mod studies;
pub(crate) mod time;
pub(crate) mod transcript;
pub(crate) mod tune;

use crate::output::Format;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand};
use lastmile_report::screen::shell_word;
use lastmile_testbed::cpu_cost_model::Choice;
use lastmile_testbed::settings::World;
use std::num::NonZeroU64;

/// What a delivery choice costs on the link your users really have
///
/// lastmile measures encodings, compression and ways of delivery on your own traffic, over the links that you name, in a
/// simulated network: no root, the same figures every time. stdout is data, stderr is progress and notes.
#[derive(Debug, Parser)]
#[command(name = "lastmile", version, max_term_width = 120, after_help = EXIT_CODES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXIT_CODES: &str = "\
Exit codes:
    0    success
    2    wrong usage, configuration or input: the message names the file, the position and the remedy
    3    not possible on this machine or in this build, or a monitor does not answer: the message names what is missing
    4    some cells failed; the results of the others are kept
   99    a threshold or a --fail-on rule was broken (even where cells failed too)
  130    stopped by Ctrl-C; a run prints how to resume it
`lastmile link` exits with its command's code.

NO_COLOR=1 turns colours off; there are none where stdout is not a terminal.
LASTMILE_PROGRESS=0 turns off the lines of progress that stderr gets every 5 s where it is not a terminal.";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Advise on a page that lastmile brings along, and name what to try next
    #[command(after_help = "Examples:
  lastmile demo                                       no file, no options")]
    Demo,
    Record(record::RecordArgs),
    Advise(advise::AdviseArgs),
    Tune(Box<tune::TuneArgs>),
    Encode(encode::EncodeArgs),
    Run(Box<run::RunArgs>),
    Report(report::ReportArgs),
    Compare(compare::CompareArgs),
    Inspect(inspect::InspectArgs),
    Studies(studies::StudiesArgs),
    Link(link::LinkArgs),
    Time(time::TimeArgs),
    Load(Box<load::LoadArgs>),
    Route(route::RouteArgs),
    Monitor(monitor::MonitorArgs),
    Sensor(monitor::SensorArgs),
    Emit(monitor::EmitArgs),
    Query(monitor::QueryArgs),
    Subscribe(monitor::SubscribeArgs),
    Audit(monitor::AuditArgs),
    Salvage(monitor::SalvageArgs),
    Perturb(perturb::PerturbArgs),
    Profiles(profiles::ProfilesArgs),
    Conform(conform::ConformArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    /// Print the manual page of the whole tool
    #[command(after_help = "Examples:
  lastmile man | man -l -                              read it
  lastmile man > ~/.local/share/man/man1/lastmile.1    install it")]
    Man,
}

/// The command line, parsed; ends the process where it is not understood.
pub(crate) fn parse() -> Cli {
    let words: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    Cli::try_parse().unwrap_or_else(|error| with_tip(error, &words).exit())
}

/// Adds a tip where `link` is given a command without `--` before it.
fn with_tip(mut error: clap::Error, words: &[String]) -> clap::Error {
    let [program, verb, rest @ ..] = words else {
        return error;
    };
    let unexpected = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument && verb == "link" => {
            word.clone()
        }
        _ => return error,
    };
    let Some(at) = rest
        .iter()
        .position(|word| *word == unexpected && !word.starts_with('-'))
    else {
        return error;
    };
    let quoted = |words: &[String]| words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    let program = program.rsplit('/').next().unwrap_or(program);
    let command = format!("{program} link {} -- {}", quoted(&rest[..at]), quoted(&rest[at..]));
    let tip = format!("put -- before the command: {command}");
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// Reads a whole number from 1 to `most`, or to the type's largest.
pub(crate) fn parse_from_one<T: TryFrom<NonZeroU64>>(text: &str, most: Option<u64>) -> Result<T, String> {
    let number = text.parse::<NonZeroU64>().ok();
    let number = number.filter(|number| most.is_none_or(|most| number.get() <= most));
    let to = most.map_or_else(String::new, |most| format!(" to {most}"));
    let refused = || format!("write a whole number from 1{to}, in digits only");
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(refused)
}

/// A parser of the values with these names; `--help` lists each with its description.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    values: &'static [(&'static str, &'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let names = values.iter().map(|(name, help, _)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).map(move |text| {
        let known = values.iter().find(|(name, _, _)| *name == text);
        known.expect("clap accepts these names alone").2
    })
}

/// The values without duplicates, in the order given.
pub(crate) fn without_duplicates<T: Copy + PartialEq>(values: &[T]) -> Vec<T> {
    let is_first = |(index, value): &(usize, &T)| !values[..*index].contains(value);
    values
        .iter()
        .enumerate()
        .filter(is_first)
        .map(|(_, value)| *value)
        .collect()
}

/// The worlds.
pub(crate) const WORLDS: &[(&str, &str, World)] = &[
    ("sim", "In virtual time", World::Simulated),
    ("emu", "Over network namespaces, in real time", World::Emulated),
];

#[derive(Debug, Args)]
pub(crate) struct FormatArg {
    /// The format of the record on stdout
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,

    /// Print the tables and grounds of the answer, too: the same as --format table
    #[arg(long, conflicts_with = "format")]
    pub(crate) details: bool,
}

impl FormatArg {
    pub(crate) const fn format(&self) -> Format {
        if self.details { Format::Table } else { self.format }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CpuArg {
    /// The table of CPU times: reference, measured, free, or a cost table's file [default: reference]
    ///
    /// reference ships with lastmile: the same figures everywhere. measured is measured on this machine before anything
    /// runs, in about twenty seconds, and is kept in the run's folder as costs.toml. With free, CPU time is 0.
    #[arg(long, value_name = "TABLE")]
    pub(crate) cpu: Option<Choice>,
}
