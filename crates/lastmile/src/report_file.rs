//! The file that a verb writes its report to.

use crate::clock::Utc;
use crate::output::{self, Format};
use crate::run_store::{RECORD, command_line};
use anyhow::Context as _;
use lastmile_report::page::{self, PageRecord, Provenance};
use lastmile_study::run_folder::RunFolder;
use lastmile_testbed::cpu_cost_model::this_machine;
use std::path::{Path, PathBuf};

/// A file in a folder that exists.
pub(crate) struct ReportFile {
    pub(crate) folder: RunFolder,
    name: String,
    /// Whether the folder is the run's own, and keeps its record, too.
    keeps_record: bool,
}

impl ReportFile {
    /// The file at the path that `flag` was given; its folder is made where it does not exist.
    ///
    /// # Errors
    /// When it names no file, or its folder cannot be made.
    pub(crate) fn at(path: &Path, flag: &str) -> anyhow::Result<Self> {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.filter(|_| !path.is_dir()).with_context(|| {
            format!(
                "{flag} {}: it names no file; write it like {flag} report.html",
                path.display()
            )
        })?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = RunFolder::at(parent.unwrap_or(Path::new(".")))
            .with_context(|| format!("{flag} {} cannot be written", path.display()))?;
        Ok(Self {
            folder,
            name: name.to_owned(),
            keeps_record: false,
        })
    }

    /// `report.html` in the folder of a run, which also gets the record, for `lastmile compare`.
    pub(crate) fn in_folder(folder: RunFolder) -> Self {
        Self {
            folder,
            name: "report.html".to_owned(),
            keeps_record: true,
        }
    }

    /// Writes the page of a record, and returns its path as a person would write it.
    fn write(&self, record: &impl PageRecord) -> anyhow::Result<PathBuf> {
        let provenance = Provenance {
            command: command_line(),
            machine: this_machine(),
            finished: Some(Utc::now().readable()),
            study: None,
        };
        if self.keeps_record {
            self.folder.write_whole(RECORD, output::json(record).as_bytes())?;
        }
        self.write_text(&page::render(record, &provenance))?;
        let path = self.folder.path().join(&self.name);
        Ok(path.strip_prefix(".").unwrap_or(&path).to_owned())
    }

    /// Writes the file, whole.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write_text(&self, text: &str) -> anyhow::Result<()> {
        Ok(self.folder.write_whole(&self.name, text.as_bytes())?)
    }
}

/// Writes the report, prints the record, and then names the report. The page comes first, since it survives a closed pipe on stdout; if it
/// cannot be written, the figures are still printed.
///
/// # Errors
/// When the report or stdout cannot be written.
pub(crate) fn print_with_report(
    record: &impl PageRecord,
    report: Option<&ReportFile>,
    format: Format,
    all: bool,
) -> anyhow::Result<()> {
    let written = report.map(|report| report.write(record)).transpose();
    let printed = output::print_record_in(record, format, all);
    if let Some(path) = written? {
        output::note(&format!("report: {}", path.display()));
    }
    Ok(printed?)
}
