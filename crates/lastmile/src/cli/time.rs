//! The arguments of `lastmile time`.

use super::{FormatArg, parse_from_one};
use clap::Args;
use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::PathBuf;

/// Time a command behind each of several links, and compare the times
///
/// Each run is one of `lastmile link`, which says what COMMAND reaches. The links take turns, so that a machine that becomes slower
/// slows all of them down. A run's time is that from COMMAND's start to its end, without the set-up of the link. COMMAND's standard
/// input is empty, and its standard output is thrown away.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile time --link none,wpt/cable,wpt/3g -- curl http://host.lastmile:8000/
  lastmile time --link none,2Mbps,100ms -- git fetch
  lastmile time --link wpt/3g --fail-on 'mean(time)>5s' -- make it

none is a link that adds nothing. `lastmile profiles list` names the others.")]
pub(crate) struct TimeArgs {
    /// The links, separated by commas; the others' times are divided by those of the first
    #[arg(long, value_name = "LINKS", default_value = "none,wpt/cable,wpt/3g")]
    pub(crate) link: Vec<String>,

    /// How often COMMAND runs behind each link
    #[arg(long, value_name = "N", default_value = "5", value_parser = |text: &str| parse_from_one::<NonZeroU64>(text, Some(1_000_000)))]
    pub(crate) repeats: NonZeroU64,

    /// How often it runs behind each link before that, uncounted
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) warmup: u64,

    /// Count runs in which COMMAND fails, too
    #[arg(long)]
    pub(crate) ignore_failure: bool,

    /// Show what COMMAND writes, on stderr
    #[arg(long)]
    pub(crate) show_output: bool,

    /// Let COMMAND reach the outside network too, over the link
    #[arg(long)]
    pub(crate) allow_net: bool,

    /// The root of the links' random choices, from 0 to 2^64 - 1: every repeat has draws of its own, the same behind each link
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Exit with code 99 where this holds behind a link: 'mean(time)>2s'; may be given several times
    ///
    /// The figures are time, bytes_down, bytes_up and dropped_packets; the statistics mean, median, p95, p99.
    #[arg(long, value_name = "RULE")]
    pub(crate) fail_on: Vec<String>,

    /// The report's file [default: no report]
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// The command to run, with its arguments
    #[arg(last = true, value_name = "COMMAND", required = true)]
    pub(crate) command: Vec<OsString>,
}
