//! Writes the response times of measured runs as an HdrHistogram log, version 1.3, which the tools of that format read.

use crate::report_file::ReportFile;
use crate::run_store;
use lastmile_load::measurement::Measurement;
use lastmile_load::record::LoadRun;
use lastmile_load::summary::hdr_log;
use std::path::Path;

/// Writes the file, whole.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write(path: &Path, runs: &[(LoadRun, Measurement)]) -> anyhow::Result<()> {
    let file = ReportFile::at(path, "--hdr")?;
    let log = hdr_log(runs.iter().map(|(run, measured)| (run, measured)), run_store::VERSION)?;
    file.write_text(&log)
}
