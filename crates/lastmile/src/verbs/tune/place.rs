//! Where is kept what a tuning measures, and where goes its report? In a folder under `runs/`, or nowhere.

use crate::cli::tune::TuneArgs;
use crate::runs;
use anyhow::{Context as _, bail};
use lastmile_study::run_folder::RunFolder;
use lastmile_study::tune::{JOURNAL, Kept};
use std::path::Path;

/// The name of the report in a folder under `runs/`, and that of the folder before its date.
const PAGE: &str = "report.html";
const NAME: &str = "tune";

const UNWRITABLE: &str = "what is measured is kept in a folder; go where one can be written, or say --no-report";

/// Where a tuning is kept.
pub(super) struct Place {
    /// Holds the journal; none where nothing is to be kept.
    folder: Option<RunFolder>,
    /// Where the report was asked for, if not in that folder.
    page: Option<(RunFolder, String)>,
    is_new: bool,
}

impl Place {
    /// The folder that was named, the latest, or a new one, as the command line has it.
    ///
    /// # Errors
    /// When there is nothing to go on with, or a folder cannot be made.
    pub(super) fn open(args: &TuneArgs) -> anyhow::Result<Self> {
        let page = args
            .report
            .as_deref()
            .map(|path| runs::named(path, "--report"))
            .transpose()?;
        let folder = match &args.resume {
            _ if args.no_report => None,
            Some(Some(run)) => Some(begun(run)?),
            Some(None) => Some(latest()?),
            None => Some(runs::create_dated(NAME, UNWRITABLE)?),
        };
        Ok(Self {
            folder,
            page,
            is_new: args.resume.is_none(),
        })
    }

    /// What was measured before.
    ///
    /// # Errors
    /// When the journal cannot be read or written.
    pub(super) fn kept(&self) -> anyhow::Result<Kept> {
        match &self.folder {
            Some(folder) => Ok(Kept::open(&folder.path().join(JOURNAL))?),
            None => Ok(Kept::in_memory()),
        }
    }

    /// The folder and the name of the report, if there is to be one.
    pub(super) fn page(&self) -> Option<(&RunFolder, &str)> {
        match (&self.page, &self.folder) {
            (Some((folder, name)), _) => Some((folder, name)),
            (None, Some(folder)) => Some((folder, PAGE)),
            (None, None) => None,
        }
    }

    /// How a tuning that was stopped is gone on with.
    pub(super) fn how_to_go_on(&self) -> String {
        let Some(folder) = &self.folder else {
            return "nothing was kept".to_owned();
        };
        let folder = runs::shell_word(&folder.path().display().to_string());
        // What was typed, with the folder in the place of whatever --resume named.
        let mut words = std::env::args().skip(1).peekable();
        let mut command = vec!["lastmile".to_owned()];
        while let Some(word) = words.next() {
            if word == "--resume" {
                words.next_if(|next| !next.starts_with('-') && Path::new(next).join(JOURNAL).exists());
            } else if !word.starts_with("--resume=") {
                command.push(runs::shell_word(&word));
            }
        }
        format!("go on with: {} --resume {folder}", command.join(" "))
    }

    /// There will be no report: a folder that was made for it goes, where nothing was measured.
    pub(super) fn give_up(&self) {
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

fn begun(run: &Path) -> anyhow::Result<RunFolder> {
    if !run.join(JOURNAL).is_file() {
        let what = if run.exists() {
            "holds no tuning (it has no journal)"
        } else {
            "does not exist"
        };
        bail!(
            "{} {what}; give the folder of one that was stopped, like runs/tune-20260131-142359",
            run.display()
        );
    }
    Ok(RunFolder::at(run)?)
}

fn latest() -> anyhow::Result<RunFolder> {
    let path = runs::latest_holding(NAME, JOURNAL)
        .context("no tuning is under runs/ here to go on with; name its folder: --resume RUN")?;
    Ok(RunFolder::at(&path)?)
}
