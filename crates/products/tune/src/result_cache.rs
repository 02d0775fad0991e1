//! The stored measurements of a tuning: one line of JSON per finished measurement, keyed by content, build and parameters.
//!
//! The journal is appended to as measurements finish, so that an interrupted tuning resumes where it stopped. A measurement of other content
//! or with another build is not found, and is made again.

use lastmile_codec::message::MessageCodec;
use lastmile_testbed::journal::{Journal, JournalError};
use lastmile_traffic::messages::ContentHash;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the journal in a run folder.
pub const JOURNAL: &str = "journal.jsonl";

/// The stored measurements, and the journal that they are written to.
#[derive(Debug, Default)]
pub struct ResultCache {
    held: BTreeMap<Key, serde_json::Value>,
    journal: Option<Journal<Key, Measurement>>,
}

/// The content that was measured, the build that measured it, and the parameters.
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

/// What a codec's output depends on besides its settings: the library and its version.
pub(super) fn build(codec: &MessageCodec) -> String {
    codec.back_end().map_or_else(
        || "identity".to_owned(),
        |back_end| format!("{} {}", back_end.name, back_end.version),
    )
}

/// A measurement as the journal stores it.
#[derive(Debug, Serialize, Deserialize)]
struct Measurement {
    measured: serde_json::Value,
}

impl ResultCache {
    /// Stores measurements in memory only.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// The journal at `path`, which need not exist yet, with what it holds. An incomplete last line is cut off: the tuning
    /// was stopped while writing it.
    ///
    /// # Errors
    /// When the file cannot be read or written, or a whole line of it is damaged.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let (journal, held) = Journal::<Key, Measurement>::open(path)?;
        // Of two measurements with the same key, the later one holds.
        let held = held.into_iter().map(|(key, value)| (key, value.measured)).collect();
        let journal = Some(journal);
        Ok(Self { held, journal })
    }

    /// How many measurements are stored.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether none is stored.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// A stored measurement; none if there is none, or if it was stored in another form.
    pub(super) fn find<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        serde_json::from_value(self.held.get(key)?.clone()).ok()
    }

    /// Stores a measurement.
    pub(super) fn store<T: Serialize>(&mut self, key: &Key, measured: &T) -> Result<(), JournalError> {
        let measured = serde_json::to_value(measured).expect("a measurement consists of texts and finite numbers");
        let stored = Measurement { measured };
        if let Some(journal) = &mut self.journal {
            journal.append(key, &stored)?;
        }
        self.held.insert(key.clone(), stored.measured);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{message, recording};

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
        let mut kept = ResultCache::open(&path).unwrap();
        kept.store(&key("a", "w15"), &vec![0.1 + 0.2, 5e-324]).unwrap();
        drop(kept);
        let mut text = std::fs::read(&path).unwrap();
        text.extend_from_slice(b"{\"content\":\"cut off");
        std::fs::write(&path, &text).unwrap();
        let mut kept = ResultCache::open(&path).unwrap();
        assert_eq!(kept.find::<Vec<f64>>(&key("a", "w15")), Some(vec![0.1 + 0.2, 5e-324]));
        assert_eq!(kept.find::<Vec<f64>>(&key("b", "w15")), None, "other content");
        assert_eq!(kept.find::<Vec<f64>>(&key("a", "w14")), None, "other parameters");
        assert_eq!(kept.find::<String>(&key("a", "w15")), None, "another form");
        kept.store(&key("b", "w15"), &1).unwrap();
        assert_eq!(ResultCache::open(&path).unwrap().len(), 2);
    }

    #[test]
    fn a_journal_of_an_earlier_version_is_read_and_what_is_appended_has_its_form() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(JOURNAL);
        let line = |parameters: &str| {
            let content = recording(&[message("a")]).messages.sent.content_hash();
            format!(
                r#"{{"content":"{content}","build":"zlib 1.3.2","parameters":"{parameters}","measured":{{"sizes":[12,0.30000000000000004]}}}}"#
            )
        };
        let measured = serde_json::json!({"sizes": [12, 0.1 + 0.2]});
        std::fs::write(&path, format!("{}\n", line("w15"))).unwrap();
        let mut kept = ResultCache::open(&path).unwrap();
        assert_eq!(kept.find(&key("a", "w15")), Some(measured.clone()));
        kept.store(&key("a", "w14"), &measured).unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written, format!("{}\n{}\n", line("w15"), line("w14")));
    }
}
