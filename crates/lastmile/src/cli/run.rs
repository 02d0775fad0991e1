//! The arguments of `lastmile run`.

use super::monitor::TokenArg;
use super::{CpuArg, FormatArg, WORLDS, one_of, parse_from_one};
use clap::Args;
use lastmile_study::file::SettingOverride;
use lastmile_testbed::settings::World;
use std::net::SocketAddr;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// Run a study: every cell, repeated, measured, summarised
///
/// A study varies some factors, runs every combination of their levels (a cell) a number of times, and publishes each figure with
/// its spread. The run is kept in a folder: the study as run, its journal, report.html.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile run bulk                                       a built-in study
  lastmile run mine.toml --format json > mine.json        a study of your own
  lastmile run mine.toml --dry-run                        which cells, how long
  lastmile run permessage-deflate --set workload=chat.txt  your own messages
  lastmile run bulk --fail-on 'p95(transfer_time)>20s'    exit 99 where slower
  lastmile run --resume runs/bulk-20260131-142359         continue a run

To write a study of your own, begin with a copy: lastmile studies show bulk > mine.toml")]
pub(crate) struct RunArgs {
    /// A built-in study's name (see `lastmile studies`), or the path of a study's TOML file
    #[arg(value_name = "STUDY|FILE.toml", required_unless_present = "resume")]
    pub(crate) study: Option<String>,

    /// How often each cell runs, from 1 [default: the study's]
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_from_one::<NonZeroU64>(text, None))]
    pub(crate) repeats: Option<NonZeroU64>,

    /// The root of every random choice, from 0 to 2^64 - 1 [default: the study's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Set a value for all cells, as a study file writes it: window_bits=12, link=wpt/3g; workload=FILE is a transcript
    ///
    /// May be given several times, once for each key. Parts of the study that set or vary the same key keep their own values, and are
    /// named. A workload may be the path of a transcript, in any format that `lastmile tune` reads, or a table: --set 'workload={ kind =
    /// "chat", messages = 100 }'.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<SettingOverride>,

    /// Where cells run: sim in virtual time; emu over network namespaces, in real time [default: the study's]
    #[arg(long, value_parser = one_of(WORLDS))]
    pub(crate) world: Option<World>,

    /// With --world emu: run every part, repeat and idle wait of the study, instead of its plan of a few minutes
    #[arg(long)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) cpu: CpuArg,

    /// Continue a run that was interrupted: the folder RUN, or else the latest of STUDY
    #[arg(long, value_name = "RUN", num_args = 0..=1, conflicts_with_all = ["dry_run", "out"])]
    pub(crate) resume: Option<Option<PathBuf>>,

    /// Keep the packets: one pcapng per capture point, in the run's folder under captures/
    ///
    /// Each world of the study has two capture points, the client and the server, with whole packets: Wireshark opens the files. All
    /// repeats of a cell are in one file, unless the study makes a new world for each. A file is about a tenth larger than the delivered data, more
    /// over a lossy link: 5 repeats of 10 MB make two files of 54 MB. The figures do not depend on it. With --resume, only the remaining repeats
    /// are captured.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) capture: bool,

    /// Print the cells and the expected time, and run nothing
    #[arg(long, conflicts_with = "format")]
    pub(crate) dry_run: bool,

    /// How many cells run at once; the figures do not depend on it [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_from_one::<NonZeroUsize>(text, None))]
    pub(crate) threads: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// The run's folder [default: runs/STUDY-DATE-TIME, in UTC]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Show the run on a web page while it goes on, at this address; another than loopback needs --token-file
    ///
    /// The page has the progress, a chart of each figure, and the latest events. The events are kept in the run's folder under events/: `lastmile
    /// monitor RUN/events` answers queries about them later. What observing cost is printed, and is a doubt where it may have moved figures.
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:0", conflicts_with = "dry_run")]
    pub(crate) live: Option<SocketAddr>,

    #[command(flatten)]
    pub(crate) token: TokenArg,

    /// Write no report.html
    #[arg(long)]
    pub(crate) no_report: bool,

    /// Exit 99 where a cell's figure is beyond a bound: STATISTIC(FIGURE) > BOUND, or >=, <, <=
    ///
    /// The statistic is mean, min, max, or p0 to p100; the bound has its unit (20s, 1MB, 1Mbit/s; none for counts). May be
    /// given several times. A rule on a figure that no cell has is broken too.
    #[arg(long, value_name = "RULE")]
    pub(crate) fail_on: Vec<String>,
}
