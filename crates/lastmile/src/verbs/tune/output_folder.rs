//! The output folder of a tuning under `runs/`: its journal and its report, or neither.

use crate::cli::tune::TuneArgs;
use crate::report_file::ReportFile;
use crate::run_store;
use anyhow::Context as _;
use lastmile_report::screen::shell_word;
use lastmile_study::run_folder::RunFolder;
use lastmile_tune::{JOURNAL, ResultCache};
use std::path::Path;

/// The folder's name before its date.
const NAME: &str = "tune";

const UNWRITABLE: &str =
    "measurements are stored in a folder; change to a directory where one can be created, or use --no-report";

/// Where a tuning stores its measurements and its report.
pub(super) struct TuneOutput {
    /// Holds the journal; none where nothing is to be stored.
    folder: Option<RunFolder>,
    /// Where the report was asked for, or else in the output folder.
    pub(super) report: Option<ReportFile>,
    is_new: bool,
}

impl TuneOutput {
    /// Opens the named folder, the latest, or a new one, as the command line says.
    ///
    /// # Errors
    /// When there is no tuning to resume, or a folder cannot be made.
    pub(super) fn open(args: &TuneArgs) -> anyhow::Result<Self> {
        let named = args.report.as_deref();
        let named = named.map(|path| ReportFile::at(path, "--report")).transpose()?;
        let folder = match &args.resume {
            _ if args.no_report => None,
            Some(Some(run)) => Some(resumed_folder(run)?),
            Some(None) => Some(latest()?),
            None => Some(run_store::create_dated(NAME, UNWRITABLE)?),
        };
        Ok(Self {
            report: named.or_else(|| folder.clone().map(ReportFile::in_folder)),
            folder,
            is_new: args.resume.is_none(),
        })
    }

    /// The stored measurements.
    ///
    /// # Errors
    /// When the journal cannot be read or written.
    pub(super) fn open_cache(&self) -> anyhow::Result<ResultCache> {
        match &self.folder {
            Some(folder) => Ok(ResultCache::open(&folder.path().join(JOURNAL))?),
            None => Ok(ResultCache::in_memory()),
        }
    }

    /// How to resume a tuning that was stopped.
    pub(super) fn resume_hint(&self) -> String {
        let Some(folder) = &self.folder else {
            return "nothing was kept".to_owned();
        };
        let folder = shell_word(&folder.path().display().to_string());
        // The command as typed, with this folder as the argument of --resume.
        let mut words = std::env::args().skip(1).peekable();
        let mut command = vec!["lastmile".to_owned()];
        while let Some(word) = words.next() {
            if word == "--resume" {
                words.next_if(|next| !next.starts_with('-') && Path::new(next).join(JOURNAL).exists());
            } else if !word.starts_with("--resume=") {
                command.push(shell_word(&word));
            }
        }
        format!("go on with: {} --resume {folder}", command.join(" "))
    }

    /// Removes a new folder in which nothing was measured; there will be no report.
    pub(super) fn remove_empty_folder(&self) {
        let Some(folder) = self.folder.as_ref().filter(|_| self.is_new) else {
            return;
        };
        let journal = folder.path().join(JOURNAL);
        if std::fs::metadata(&journal).is_ok_and(|journal| journal.len() == 0) {
            let _ = std::fs::remove_file(journal);
            let _ = std::fs::remove_dir(folder.path());
        }
    }
}

fn resumed_folder(run: &Path) -> anyhow::Result<RunFolder> {
    let remedy = "name the folder of one that was stopped, like runs/tune-20260131-142359";
    run_store::open_holding(run, JOURNAL, "tuning (it has no journal)", remedy)
}

fn latest() -> anyhow::Result<RunFolder> {
    let path = run_store::latest_holding(NAME, JOURNAL)
        .context("no tuning is under runs/ here to resume; name its folder: --resume RUN")?;
    Ok(RunFolder::at(&path)?)
}
