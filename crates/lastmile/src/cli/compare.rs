//! What can be typed after `lastmile compare`?

use super::FormatArg;
use clap::Args;
use std::path::PathBuf;

/// Compare two runs: what changed, and is it more than noise?
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile compare runs/bulk-20260131-142359 runs/bulk-20260201-091500
  lastmile compare before.json after.json --fail-on 'p95(transfer_time)>+5%'
  lastmile compare before.json after.json --fail-on 'p95>+5%' --format md

The last two exit with 99 where a figure grew by more than 5 %.")]
pub(crate) struct CompareArgs {
    /// The run to compare with: a folder, or a file that `lastmile run --format json` printed
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,

    /// The run to compare, likewise
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,

    /// Exit 99 where a figure changed like this, in per cent: STATISTIC(FIGURE)>+5%, or <-5%
    ///
    /// The statistic is mean, median, p95 or p99. Without (FIGURE), > is held against every figure of which less is better, and <
    /// against those of which more is. May be given several times.
    #[arg(long, value_name = "RULE")]
    pub(crate) fail_on: Vec<lastmile_report::compare::rule::Rule>,

    #[command(flatten)]
    pub(crate) format: FormatArg,
}
