//! The arguments of `lastmile compare`.

use super::FormatArg;
use clap::Args;
use std::path::PathBuf;

/// Compare two runs: what changed, and whether it is more than noise
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile compare runs/bulk-20260131-142359 runs/bulk-20260201-091500
  lastmile compare --last bulk
  lastmile compare --last advise
  lastmile compare before.json after.json --fail-on 'p95(transfer_time)>+5%'
  lastmile compare before.json after.json --fail-on 'p95>+5%' --format md
  lastmile run bulk --format json | lastmile compare before.json -

With --fail-on it exits with 99 where a figure certainly grew by more than 5 %.")]
pub(crate) struct CompareArgs {
    /// The run to compare with: a folder under runs/, what a verb printed with --format json, or - for standard input
    ///
    /// The verbs are run, advise, tune, encode, inspect, load, time and conform.
    #[arg(value_name = "BEFORE", required_unless_present = "last")]
    pub(crate) before: Option<PathBuf>,

    /// The run to compare, likewise
    #[arg(value_name = "AFTER", required_unless_present = "last")]
    pub(crate) after: Option<PathBuf>,

    /// Compare the last two runs of this study under runs/, or of advise or tune
    #[arg(long, value_name = "STUDY", conflicts_with_all = ["before", "after"])]
    pub(crate) last: Option<String>,

    /// Exit 99 where a figure changed like this, in per cent: STATISTIC(FIGURE)>+5%, or <-5%
    ///
    /// A rule is broken where the whole interval of the change lies beyond the bound, so that noise stops no build. The intervals of a rule hold
    /// together: of a hundred comparisons of equal runs, fewer than three break it, however many cells there are. Repeats are compared pair by
    /// pair where both runs have one seed. A mean that changed in all cells alike is found in all of them together. Where figures vary and
    /// have no interval (one repeat, a quantile of messages), their values decide, with a doubt. Between seeds, a change beyond the bound is
    /// undecided (exit 2) where figures have no interval, or repeats share what was drawn for their cell (fresh = "cell", the default); one seed,
    /// or fresh = "repeat", tells.
    ///
    /// The statistic is mean, median, p95 or p99. Without (FIGURE), > applies to every figure that should be low, and <
    /// to every figure that should be high. May be given several times.
    #[arg(long, value_name = "RULE")]
    pub(crate) fail_on: Vec<lastmile_report::compare::rule::Rule>,

    /// Check the rules of --fail-on on values alone, even where the change may be noise
    #[arg(long, requires = "fail_on")]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) format: FormatArg,
}
