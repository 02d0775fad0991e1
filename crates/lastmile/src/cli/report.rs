//! What can be typed after `lastmile report`?

use super::FormatArg;
use clap::Args;
use std::path::PathBuf;

/// Show a run again: its tables, its record, its report
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile report runs/bulk-20260131-142359                 its tables
  lastmile report runs/bulk-20260131-142359 --format csv    a row a figure
  lastmile report runs/bulk-20260131-142359 --html          report.html anew

A run that was cut off is shown as far as it came.")]
pub(crate) struct ReportArgs {
    /// The run's folder
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// Write the folder's report.html anew, and print its path
    #[arg(long, conflicts_with = "format")]
    pub(crate) html: bool,
}
