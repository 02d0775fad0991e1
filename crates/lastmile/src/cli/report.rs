//! The arguments of `lastmile report`.

use super::FormatArg;
use clap::Args;
use std::path::PathBuf;

/// Show a run again: its tables, its record, its report
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile report runs/bulk-20260131-142359                 its tables
  lastmile report --last bulk                               the latest
  lastmile report runs/bulk-20260131-142359 --format csv    a row per figure
  lastmile report runs/bulk-20260131-142359 --html          report.html again

A run that was interrupted is shown as far as it got.")]
pub(crate) struct ReportArgs {
    /// The run's folder
    #[arg(value_name = "RUN", required_unless_present = "last")]
    pub(crate) run: Option<PathBuf>,

    /// The last run of this study under runs/
    #[arg(long, value_name = "STUDY", conflicts_with = "run")]
    pub(crate) last: Option<String>,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// Rewrite the folder's report.html, and print its path
    #[arg(long, conflicts_with = "format")]
    pub(crate) html: bool,
}
