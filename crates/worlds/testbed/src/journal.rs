//! Journals: files of JSON lines, a key and a value per line, that are appended to and survive being cut off in the middle of a line.
//!
//! Each line is flushed, so that an interrupted writer loses at most the line that it was writing.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// A journal that is open for appending. The fields of a key and those of its value are side by side in one JSON object, the key's first.
#[derive(Debug)]
pub struct Journal<K, V> {
    file: File,
    path: PathBuf,
    entries: PhantomData<fn(K, V)>,
}

/// A line of a journal.
#[derive(Serialize, Deserialize)]
struct Line<K, V> {
    #[serde(flatten)]
    key: K,
    #[serde(flatten)]
    value: V,
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
    /// A complete line is damaged, which an interrupted run does not explain.
    #[error("{}: line {line}: {source}; remove the line, and resume to do again what it recorded", path.display())]
    Line {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl<K: Serialize + DeserializeOwned, V: Serialize + DeserializeOwned> Journal<K, V> {
    /// Reads the journal at `path` without changing it: another process may be writing it. An incomplete last line is ignored.
    ///
    /// # Errors
    /// When the file cannot be read, or a complete line of it is damaged.
    pub fn read(path: &Path) -> Result<Vec<(K, V)>, JournalError> {
        let held = std::fs::read(path).map_err(|source| JournalError::file(path, source))?;
        entries(path, complete_lines(&held))
    }

    /// Opens the journal at `path`, which need not exist yet, and reads it. An incomplete last line is removed: its writer was stopped.
    ///
    /// # Errors
    /// When the file cannot be read or written, or a complete line of it is damaged; the file is then left unchanged.
    pub fn open(path: &Path) -> Result<(Self, Vec<(K, V)>), JournalError> {
        let failed = |source| JournalError::file(path, source);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        let mut held = Vec::new();
        file.read_to_end(&mut held).map_err(failed)?;
        let complete = complete_lines(&held);
        let entries = entries(path, complete)?;
        file.set_len(complete.len() as u64)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .map_err(failed)?;
        let journal = Self {
            file,
            path: path.to_owned(),
            entries: PhantomData,
        };
        Ok((journal, entries))
    }

    /// Appends an entry, and flushes it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, key: &K, value: &V) -> Result<(), JournalError> {
        let line = Line { key, value };
        let mut text = serde_json::to_vec(&line).expect("an entry of a journal is made of texts and finite numbers");
        text.push(b'\n');
        let written = self.file.write_all(&text).and_then(|()| self.file.flush());
        written.map_err(|source| JournalError::file(&self.path, source))
    }
}

impl JournalError {
    fn file(path: &Path, source: io::Error) -> Self {
        Self::File {
            path: path.to_owned(),
            source,
        }
    }
}

/// The entries in complete lines, in order; `path` is for error messages.
fn entries<K: DeserializeOwned, V: DeserializeOwned>(path: &Path, lines: &[u8]) -> Result<Vec<(K, V)>, JournalError> {
    let lines = lines.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty());
    lines
        .map(|(index, line)| match serde_json::from_slice(line) {
            Ok(Line { key, value }) => Ok((key, value)),
            Err(source) => Err(JournalError::Line {
                path: path.to_owned(),
                line: index + 1,
                source,
            }),
        })
        .collect()
}

/// The part of a journal before its incomplete last line.
fn complete_lines(held: &[u8]) -> &[u8] {
    let length = held.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    &held[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Number {
        number: u64,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Square {
        square: f64,
    }

    fn entry(number: u64, square: f64) -> (Number, Square) {
        (Number { number }, Square { square })
    }

    fn in_folder<T>(test: impl FnOnce(&Path) -> T) -> T {
        let folder = tempfile::tempdir().unwrap();
        test(&folder.path().join("journal.jsonl"))
    }

    #[test]
    fn a_line_holds_the_fields_of_the_key_and_of_the_value_and_is_read_back_to_the_last_bit() {
        in_folder(|path| {
            let (mut journal, held) = Journal::<Number, Square>::open(path).unwrap();
            assert_eq!(held, []);
            let (key, value) = entry(3, 0.1 + 0.2);
            journal.append(&key, &value).unwrap();
            let written = std::fs::read_to_string(path).unwrap();
            assert_eq!(written, "{\"number\":3,\"square\":0.30000000000000004}\n");
            assert_eq!(Journal::read(path).unwrap(), [entry(3, 0.1 + 0.2)]);
        });
    }

    #[test]
    fn a_cut_off_line_is_removed_wherever_it_was_cut_and_the_next_is_appended_complete() {
        in_folder(|path| {
            let both = b"{\"number\":1,\"square\":1.0}\n{\"number\":2,\"square\":4.0}\n";
            for cut in both.len() / 2..both.len() {
                std::fs::write(path, &both[..cut]).unwrap();
                assert_eq!(Journal::<Number, Square>::read(path).unwrap(), [entry(1, 1.0)]);
                assert_eq!(std::fs::read(path).unwrap(), both[..cut], "reading changes nothing");
                let (mut journal, held) = Journal::open(path).unwrap();
                assert_eq!(held, [entry(1, 1.0)], "cut at {cut}");
                let (key, value) = entry(2, 4.0);
                journal.append(&key, &value).unwrap();
                assert_eq!(std::fs::read(path).unwrap(), both, "cut at {cut}");
            }
        });
    }

    #[test]
    fn a_damaged_line_is_named_and_the_file_is_left_unchanged() {
        in_folder(|path| {
            let damaged = b"{\"number\":1,\"square\":1.0}\n\n{oops\n{\"number\":2,";
            std::fs::write(path, damaged).unwrap();
            let error = Journal::<Number, Square>::open(path).unwrap_err().to_string();
            assert!(
                error.contains("journal.jsonl: line 3: ") && error.contains("remove the line"),
                "{error}"
            );
            assert_eq!(std::fs::read(path).unwrap(), damaged);
        });
    }
}
