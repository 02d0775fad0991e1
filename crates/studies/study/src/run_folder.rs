//! The folder of a run: the expanded study, the cost table, the run's metadata, its journal and its captures.
//!
//! Files are written atomically, by a temporary file and a rename; only the journal is appended to. So a run that is interrupted at any
//! moment can be resumed, or summarised as far as it got.

use crate::file::{Study, StudyError};
use crate::journal::{Journal, Outcomes};
use lastmile_testbed::cpu_cost_model::{CostError, CostTable};
use lastmile_testbed::journal::JournalError;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

const STUDY: &str = "study.toml";
const COSTS: &str = "costs.toml";
const META: &str = "meta.json";
const JOURNAL: &str = "journal.jsonl";
const CAPTURES: &str = "captures";

/// The schema of `meta.json`.
const SCHEMA: &str = "lastmile/meta/1";

/// The folder of a run.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
}

/// The metadata of a run: `meta.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// `lastmile/meta/1`.
    pub schema: String,
    /// The study's name.
    pub study: String,
    /// The version of lastmile.
    pub version: String,
    /// The machine it ran on.
    pub machine: String,
    /// The root of every random choice.
    pub seed: u64,
    /// The cost table's name.
    pub cpu: String,
    /// The machine on which that table was measured.
    pub cpu_machine: String,
}

impl Meta {
    /// The metadata of a run that starts now, on this machine.
    pub fn new(study: &Study, costs: &CostTable, version: &str) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            study: study.name.clone(),
            version: version.to_owned(),
            machine: lastmile_testbed::cpu_cost_model::this_machine(),
            seed: study.seed,
            cpu: costs.name().to_owned(),
            cpu_machine: costs.machine().to_owned(),
        }
    }
}

/// The content of a run folder, read back.
#[derive(Debug)]
pub struct StoredRun {
    /// The expanded study.
    pub study: Study,
    /// The cost table.
    pub costs: CostTable,
    /// The run's metadata.
    pub meta: Meta,
    /// The outcomes in the journal.
    pub outcomes: Outcomes,
}

/// A run folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file of it cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It already contains a run.
    #[error("{} already contains a run; resume it, or name another folder", path.display())]
    Taken {
        /// The folder.
        path: PathBuf,
    },
    /// It contains a run other than the one to resume.
    #[error("{} cannot be resumed: {difference}", path.display())]
    Differs {
        /// The folder.
        path: PathBuf,
        /// What differs, and how.
        difference: String,
    },
    /// Its `meta.json` is damaged.
    #[error("{}: {source}", path.display())]
    Meta {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Its `study.toml` is damaged.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// Its `costs.toml` is damaged.
    #[error(transparent)]
    Costs(#[from] CostError),
    /// Its journal is damaged.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl RunFolder {
    /// The folder at `path`, which is created if it does not exist.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn at(path: &Path) -> Result<Self, FolderError> {
        fs::create_dir_all(path).map_err(|source| failed(path, source))?;
        Ok(Self { path: path.to_owned() })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder for captures, which is created if it does not exist.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn captures(&self) -> Result<PathBuf, FolderError> {
        let path = self.path.join(CAPTURES);
        fs::create_dir_all(&path).map_err(|source| failed(&path, source))?;
        Ok(path)
    }

    /// Writes the files of a new run, and opens its journal.
    ///
    /// # Errors
    /// When the folder already contains a run, or cannot be written.
    pub fn begin(&self, study: &Study, costs: &CostTable, meta: &Meta) -> Result<Journal, FolderError> {
        // The journal is created last, so a folder with a journal contains a run whose other files are complete.
        if self.path.join(JOURNAL).exists() {
            return Err(FolderError::Taken {
                path: self.path.clone(),
            });
        }
        self.write_whole(STUDY, study.expanded().as_bytes())?;
        self.write_whole(COSTS, costs.to_toml().as_bytes())?;
        let mut meta = serde_json::to_vec_pretty(meta).expect("meta is made of texts and numbers");
        meta.push(b'\n');
        self.write_whole(META, &meta)?;
        Ok(Journal::open(&self.path.join(JOURNAL))?.0)
    }

    /// Reads the folder back, as far as its run has got. Nothing in it is changed.
    ///
    /// # Errors
    /// When a file of it is missing or damaged.
    pub fn read(&self) -> Result<StoredRun, FolderError> {
        let path = self.path.join(META);
        let meta: Meta =
            serde_json::from_str(&self.text(META)?).map_err(|source| FolderError::Meta { path, source })?;
        let study = Study::parse(&self.path.join(STUDY).display().to_string(), &self.text(STUDY)?)?;
        let costs = match self.text(COSTS)? {
            toml if toml.is_empty() => CostTable::free(),
            toml => CostTable::parse(&meta.cpu, &toml)?,
        };
        let outcomes = Journal::read(&self.path.join(JOURNAL))?;
        Ok(StoredRun {
            study,
            costs,
            meta,
            outcomes,
        })
    }

    /// Reads the folder back and opens its journal to continue its run, which must be that of `study`, `cpu` and `version`. The cost table
    /// is the folder's: a measured one is not measured again.
    ///
    /// # Errors
    /// When the folder contains another run, with the difference; or as for [`RunFolder::read`].
    pub fn resume(&self, study: &Study, cpu: &str, version: &str) -> Result<(StoredRun, Journal), FolderError> {
        let mut kept = self.read()?;
        let difference = if kept.meta.version != version {
            Some(format!(
                "it was started with lastmile {}, but this is {version}",
                kept.meta.version
            ))
        } else if kept.study.seed != study.seed {
            Some(format!("its seed is {}, not {}", kept.study.seed, study.seed))
        } else if kept.meta.cpu != cpu {
            Some(format!("its cost table is {:?}, not {cpu:?}", kept.meta.cpu))
        } else {
            difference(&kept.study.expanded(), &study.expanded())
        };
        if let Some(difference) = difference {
            return Err(FolderError::Differs {
                path: self.path.clone(),
                difference,
            });
        }
        let (journal, outcomes) = Journal::open(&self.path.join(JOURNAL))?;
        kept.outcomes = outcomes;
        Ok((kept, journal))
    }

    /// Writes a file of the folder atomically.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_whole(&self, name: &str, content: &[u8]) -> Result<(), FolderError> {
        let path = self.path.join(name);
        let unfinished = self.path.join(format!(".{name}.unfinished"));
        let write = || {
            let mut file = fs::File::create(&unfinished)?;
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)
        };
        write().map_err(|source| failed(&path, source))
    }

    fn text(&self, name: &str) -> Result<String, FolderError> {
        let path = self.path.join(name);
        fs::read_to_string(&path).map_err(|source| failed(&path, source))
    }
}

fn failed(path: &Path, source: io::Error) -> FolderError {
    FolderError::File {
        path: path.to_owned(),
        source,
    }
}

/// The first line in which two expanded studies differ.
fn difference(kept: &str, asked: &str) -> Option<String> {
    let (mut ours, mut theirs) = (kept.lines(), asked.lines());
    loop {
        match (ours.next(), theirs.next()) {
            (None, None) => return None,
            (ours, theirs) if ours == theirs => (),
            (ours, theirs) => {
                let line = |line: Option<&str>| line.map_or("nothing".to_owned(), |line| format!("`{line}`"));
                return Some(format!(
                    "its study has {} where the other has {}",
                    line(ours),
                    line(theirs)
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests;
