//! What can be typed after `lastmile run`?

use super::{CpuArg, FormatArg, from_one};
use clap::{Args, ValueEnum};
use lastmile_study::file::Overriding;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// Run a study: every cell, repeated, measured, summed up
///
/// A study varies some factors, runs every combination of their levels (a cell) a number of times, and publishes each figure with
/// its spread. The run is kept in a folder: the study as run, its journal, report.html.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile run bulk                                       a built-in study
  lastmile run mine.toml --format json > mine.json        a study of your own
  lastmile run mine.toml --dry-run                        which cells, how long
  lastmile run permessage-deflate --set workload=chat.txt your own messages
  lastmile run bulk --fail-on 'p95(transfer_time)>20s'    exit 99 where slower
  lastmile run --resume runs/bulk-20260131-142359         go on with a run

Write a study of your own by beginning with one: lastmile studies show bulk > mine.toml")]
pub(crate) struct RunArgs {
    /// A built-in study's name (see `lastmile studies`), or the path of a study's TOML file
    #[arg(value_name = "STUDY|FILE.toml", required_unless_present = "resume")]
    pub(crate) study: Option<String>,

    /// How often each cell runs, from 1 [default: the study's]
    #[arg(long, value_name = "N", value_parser = |text: &str| from_one::<NonZeroU64>(text, None))]
    pub(crate) repeats: Option<NonZeroU64>,

    /// The root of every random choice, from 0 to 2^64 - 1 [default: the study's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// What all cells have in common, as a study file writes it: window_bits=12, link=wpt/3g; workload=FILE is a transcript
    ///
    /// May be given several times, once for each key. Parts of the study that set or vary the same themselves keep their own, and are
    /// named. A workload may be the path of a transcript, of any kind that `lastmile tune` reads, or a table: --set 'workload={ kind =
    /// "chat", messages = 100 }'.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<Overriding>,

    /// Where cells run: sim in virtual time; emu over network namespaces, in real time [default: the study's]
    #[arg(long, value_enum)]
    pub(crate) world: Option<World>,

    /// With --world emu: every part, repeat and idle wait of the study, and not only its plan of some minutes
    #[arg(long)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) cpu: CpuArg,

    /// Go on with a run that was cut off: the folder RUN, or else the latest of STUDY
    #[arg(long, value_name = "RUN", num_args = 0..=1, conflicts_with_all = ["dry_run", "out"])]
    pub(crate) resume: Option<Option<PathBuf>>,

    /// Keep the packets: a pcapng a vantage point, in the run's folder under captures/
    ///
    /// Each world of the study has two, the client's and the server's, with whole packets: Wireshark opens them. All repeats of a cell
    /// are in one file, unless the study makes a fresh world for each. A file is about a tenth larger than what is delivered, more over a lossy link: 5
    /// repeats of 10 MB make two of 54 MB. The figures do not depend on it. With --resume, what is yet to be run is kept.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) capture: bool,

    /// Print the cells and the expected time, and run nothing
    #[arg(long, conflicts_with = "format")]
    pub(crate) dry_run: bool,

    /// How many cells run at once; the figures do not depend on it [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = |text: &str| from_one::<NonZeroUsize>(text, None))]
    pub(crate) threads: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// The folder that keeps the run [default: runs/STUDY-DATE-TIME, in UTC]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Write no report.html
    #[arg(long)]
    pub(crate) no_report: bool,

    /// Exit 99 where a figure of a cell is like this: STATISTIC(FIGURE) > BOUND, or >=, <, <=
    ///
    /// The statistic is mean, min, max, or p0 to p100; the bound carries its unit (20s, 1MB, 1Mbit/s; none for counts). May be
    /// given several times. A figure that no cell has breaks the rule too.
    #[arg(long, value_name = "RULE")]
    pub(crate) fail_on: Vec<String>,
}

/// Where cells run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum World {
    /// In virtual time
    Sim,
    /// Over network namespaces, in real time
    Emu,
}
