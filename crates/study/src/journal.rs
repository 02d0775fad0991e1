//! What has been run so far? One line of JSON a finished repeat, appended and flushed, so that a run that is cut off loses at most
//! the line it was writing.

use crate::cell::CellKey;
use crate::observation::{Failure, Observation, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// The outcome of each repeat of each cell's work.
pub type Outcomes = BTreeMap<CellKey, BTreeMap<u64, Outcome>>;

/// A journal that is open for appending.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

/// A journal that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The journal.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line before the last is damaged, which no cut-off explains.
    #[error("{}: line {line}: {source}; remove the line, and resume to run that repeat again", path.display())]
    Line {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// A line of the journal.
#[derive(Serialize, Deserialize)]
struct Line {
    settings: CellKey,
    repeat: u64,
    #[serde(flatten)]
    outcome: Written,
}

/// An outcome as it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Written {
    Done(Observation),
    Failed(Failure),
}

impl Journal {
    /// Reads the journal at `path`, and leaves it as it is: someone may be writing it. A last line without its end is ignored.
    ///
    /// # Errors
    /// When the file cannot be read, or a whole line of it is damaged.
    pub fn read(path: &Path) -> Result<Outcomes, JournalError> {
        let held = std::fs::read(path).map_err(|source| JournalError::File {
            path: path.to_owned(),
            source,
        })?;
        outcomes(path, &held[..whole(&held)])
    }

    /// Opens the journal at `path`, which need not exist yet, and reads what it holds. A last line without its end is cut off: the
    /// run was stopped while it was being written.
    ///
    /// # Errors
    /// When the file cannot be read or written, or a whole line of it is damaged.
    pub fn open(path: &Path) -> Result<(Self, Outcomes), JournalError> {
        let (file, outcomes) = open_whole(path, |held| outcomes(path, held))?;
        let path = path.to_owned();
        Ok((Self { file, path }, outcomes))
    }

    /// Appends what became of a repeat, and flushes it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, key: &CellKey, repeat: u64, outcome: &Outcome) -> Result<(), JournalError> {
        let outcome = match outcome {
            Ok(observation) => Written::Done(observation.clone()),
            Err(failure) => Written::Failed(failure.clone()),
        };
        let line = Line {
            settings: key.clone(),
            repeat,
            outcome,
        };
        let mut text = serde_json::to_vec(&line).expect("a line of the journal is made of texts and finite numbers");
        text.push(b'\n');
        let written = self.file.write_all(&text).and_then(|()| self.file.flush());
        written.map_err(|source| JournalError::File {
            path: self.path.clone(),
            source,
        })
    }
}

/// Opens the file at `path`, which need not exist yet, to be appended to; `read` is given its whole lines. Once it has read them, a last
/// line without its end is cut off: whoever wrote it was stopped.
///
/// # Errors
/// When the file cannot be read or written, or as `read` has it; the file is then left as it is.
pub(crate) fn open_whole<T>(
    path: &Path,
    read: impl FnOnce(&[u8]) -> Result<T, JournalError>,
) -> Result<(File, T), JournalError> {
    let failed = |source| JournalError::File {
        path: path.to_owned(),
        source,
    };
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(failed)?;
    let mut held = Vec::new();
    file.read_to_end(&mut held).map_err(failed)?;
    let whole = whole(&held);
    let told = read(&held[..whole])?;
    file.set_len(whole as u64)
        .and_then(|()| file.seek(SeekFrom::End(0)))
        .map_err(failed)?;
    Ok((file, told))
}

/// How many octets of a journal are whole lines.
fn whole(held: &[u8]) -> usize {
    held.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

/// What whole lines say; `path` names them in messages.
fn outcomes(path: &Path, lines: &[u8]) -> Result<Outcomes, JournalError> {
    let mut outcomes = Outcomes::new();
    let lines = lines.split(|byte| *byte == b'\n').enumerate();
    for (at, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let line: Line = serde_json::from_slice(line).map_err(|source| JournalError::Line {
            path: path.to_owned(),
            line: at + 1,
            source,
        })?;
        let outcome = match line.outcome {
            Written::Done(observation) => Ok(observation),
            Written::Failed(failure) => Err(failure),
        };
        outcomes.entry(line.settings).or_default().insert(line.repeat, outcome);
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure;

    fn key(codec: &str) -> CellKey {
        CellKey::from([("codec".to_owned(), codec.to_owned())])
    }

    fn took(seconds: f64) -> Outcome {
        let mut observation = Observation::default();
        observation.sample(figure::TRANSFER_TIME, seconds);
        Ok(observation)
    }

    #[test]
    fn what_is_appended_is_read_back_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let (mut journal, held) = Journal::open(&path).unwrap();
        assert!(held.is_empty());
        let awkward = 0.1 + 0.2;
        journal.append(&key("gzip:6"), 0, &took(awkward)).unwrap();
        journal
            .append(&key("gzip:6"), 1, &Err(Failure::new("it timed out")))
            .unwrap();
        let (_, held) = Journal::open(&path).unwrap();
        assert_eq!(held[&key("gzip:6")][&0], took(awkward));
        assert_eq!(held[&key("gzip:6")][&1], Err(Failure::new("it timed out")));
    }

    #[test]
    fn a_cut_off_line_is_dropped_wherever_it_was_cut_and_the_next_is_appended_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let (mut journal, _) = Journal::open(&path).unwrap();
        journal.append(&key("a"), 0, &took(1.0)).unwrap();
        let first = std::fs::read(&path).unwrap();
        journal.append(&key("b"), 0, &took(2.0)).unwrap();
        let both = std::fs::read(&path).unwrap();
        for cut in first.len()..both.len() {
            std::fs::write(&path, &both[..cut]).unwrap();
            let (mut journal, held) = Journal::open(&path).unwrap();
            assert_eq!(held.len(), 1, "cut at {cut}");
            journal.append(&key("b"), 0, &took(2.0)).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), both, "cut at {cut}");
        }
    }

    #[test]
    fn reading_ignores_a_cut_off_line_and_leaves_it_to_who_is_writing_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let (mut journal, _) = Journal::open(&path).unwrap();
        journal.append(&key("a"), 0, &took(1.0)).unwrap();
        let mut held = std::fs::read(&path).unwrap();
        held.extend(b"{\"settings\":{");
        std::fs::write(&path, &held).unwrap();
        let read = Journal::read(&path).unwrap();
        assert_eq!((read.len(), &read[&key("a")][&0]), (1, &took(1.0)));
        assert_eq!(std::fs::read(&path).unwrap(), held);
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        std::fs::write(
            &path,
            "{\"settings\":{},\"repeat\":0,\"failed\":{\"reason\":\"x\"}}\n{oops\n",
        )
        .unwrap();
        let error = Journal::open(&path).unwrap_err().to_string();
        assert!(
            error.contains("journal.jsonl: line 2: ") && error.contains("remove the line"),
            "{error}"
        );
    }
}
