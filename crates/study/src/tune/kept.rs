//! What has been measured before? One line of JSON a finished piece, found again by the content, the build and the parameters.
//!
//! The journal of a tune is appended to as pieces are done, so that one that is interrupted goes on where it was. A piece that rests on
//! other content or another build is not found, and measured.

use crate::journal::{JournalError, open_whole};
use lastmile_payload::transcript::ContentHash;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The name of the journal in a run folder.
pub const JOURNAL: &str = "journal.jsonl";

/// What was measured, and where it is written down.
#[derive(Debug, Default)]
pub struct Kept {
    held: BTreeMap<Key, serde_json::Value>,
    journal: Option<(File, PathBuf)>,
}

/// What a piece was measured of, by what, and with which parameters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Key {
    content: String,
    build: String,
    parameters: String,
}

impl Key {
    pub(super) fn new(content: ContentHash, build: &str, parameters: String) -> Self {
        Self {
            content: content.to_string(),
            build: build.to_owned(),
            parameters,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    key: Key,
    measured: serde_json::Value,
}

impl Kept {
    /// What keeps nothing beyond the process.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// The journal at `path`, which need not exist yet, with what it holds. A last line without its end is cut off: the tune was
    /// stopped while it was being written.
    ///
    /// # Errors
    /// When the file cannot be read or written, or a whole line of it is damaged.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let (file, held) = open_whole(path, |held| lines(path, held))?;
        let journal = Some((file, path.to_owned()));
        Ok(Self { held, journal })
    }

    /// How many pieces are held.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// What was measured, if it was; none where it was written down in another form.
    pub(super) fn find<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        serde_json::from_value(self.held.get(key)?.clone()).ok()
    }

    /// Writes down what was measured.
    pub(super) fn keep<T: Serialize>(&mut self, key: &Key, measured: &T) -> Result<(), JournalError> {
        let measured = serde_json::to_value(measured).expect("what is measured is made of texts and finite numbers");
        if let Some((file, path)) = &mut self.journal {
            let line = Line {
                key: key.clone(),
                measured: measured.clone(),
            };
            let mut text = serde_json::to_vec(&line).expect("a line is made of texts and finite numbers");
            text.push(b'\n');
            let written = file.write_all(&text).and_then(|()| file.flush());
            written.map_err(|source| JournalError::File {
                path: path.clone(),
                source,
            })?;
        }
        self.held.insert(key.clone(), measured);
        Ok(())
    }
}

/// The pieces of whole lines; of two under one key the later holds.
fn lines(path: &Path, text: &[u8]) -> Result<BTreeMap<Key, serde_json::Value>, JournalError> {
    let mut held = BTreeMap::new();
    let lines = text.split(|byte| *byte == b'\n').enumerate();
    for (at, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let line: Line = serde_json::from_slice(line).map_err(|source| JournalError::Line {
            path: path.to_owned(),
            line: at + 1,
            source,
        })?;
        held.insert(line.key, line.measured);
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::tests::{message, recording};

    fn key(text: &str, parameters: &str) -> Key {
        Key::new(
            recording(&[message(text)]).messages.sent.content_hash(),
            "zlib 1.3.2",
            parameters.to_owned(),
        )
    }

    #[test]
    fn what_is_kept_is_found_by_content_build_and_parameters_after_a_cut_off_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(JOURNAL);
        let mut kept = Kept::open(&path).unwrap();
        kept.keep(&key("a", "w15"), &vec![0.1 + 0.2, 5e-324]).unwrap();
        drop(kept);
        let mut text = std::fs::read(&path).unwrap();
        text.extend_from_slice(b"{\"content\":\"cut off");
        std::fs::write(&path, &text).unwrap();
        let mut kept = Kept::open(&path).unwrap();
        assert_eq!(kept.find::<Vec<f64>>(&key("a", "w15")), Some(vec![0.1 + 0.2, 5e-324]));
        assert_eq!(kept.find::<Vec<f64>>(&key("b", "w15")), None, "other content");
        assert_eq!(kept.find::<Vec<f64>>(&key("a", "w14")), None, "other parameters");
        assert_eq!(kept.find::<String>(&key("a", "w15")), None, "another form");
        kept.keep(&key("b", "w15"), &1).unwrap();
        assert_eq!(Kept::open(&path).unwrap().len(), 2);
    }

    #[test]
    fn a_damaged_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(JOURNAL);
        std::fs::write(&path, "\n{}\n").unwrap();
        let refused = Kept::open(&path).unwrap_err().to_string();
        assert!(refused.contains("line 2"), "{refused}");
    }
}
