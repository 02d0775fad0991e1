//! The journal of a run: one line of JSON per finished repeat.

use crate::cell::CellKey;
use crate::observation::{Observation, Outcome};
use lastmile_testbed::failure::Failure;
use lastmile_testbed::journal::{self, JournalError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The outcome of each repeat of each cell's work.
pub type Outcomes = BTreeMap<CellKey, BTreeMap<u64, Outcome>>;

/// A journal that is open for appending.
#[derive(Debug)]
pub struct Journal(journal::Journal<RepeatKey, StoredOutcome>);

/// A repeat of a cell's work.
#[derive(Debug, Serialize, Deserialize)]
struct RepeatKey {
    settings: CellKey,
    repeat: u64,
}

/// An outcome as the journal stores it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredOutcome {
    Done(Observation),
    Failed(Failure),
}

impl Journal {
    /// Reads the journal at `path` without changing it: another process may be writing it. An incomplete last line is ignored.
    ///
    /// # Errors
    /// When the file cannot be read, or a complete line of it is damaged.
    pub fn read(path: &Path) -> Result<Outcomes, JournalError> {
        Ok(outcomes(journal::Journal::read(path)?))
    }

    /// Opens the journal at `path`, which need not exist yet, and reads it. An incomplete last line is removed: the run was stopped
    /// while writing it.
    ///
    /// # Errors
    /// When the file cannot be read or written, or a complete line of it is damaged.
    pub fn open(path: &Path) -> Result<(Self, Outcomes), JournalError> {
        let (journal, held) = journal::Journal::open(path)?;
        Ok((Self(journal), outcomes(held)))
    }

    /// Appends the outcome of a repeat, and flushes it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, key: &CellKey, repeat: u64, outcome: &Outcome) -> Result<(), JournalError> {
        let key = RepeatKey {
            settings: key.clone(),
            repeat,
        };
        let outcome = match outcome {
            Ok(observation) => StoredOutcome::Done(observation.clone()),
            Err(failure) => StoredOutcome::Failed(failure.clone()),
        };
        self.0.append(&key, &outcome)
    }
}

/// The outcomes by cell and repeat; of two outcomes of the same repeat, the later one holds.
fn outcomes(held: Vec<(RepeatKey, StoredOutcome)>) -> Outcomes {
    let mut outcomes = Outcomes::new();
    for (RepeatKey { settings, repeat }, outcome) in held {
        let outcome = match outcome {
            StoredOutcome::Done(observation) => Ok(observation),
            StoredOutcome::Failed(failure) => Err(failure),
        };
        outcomes.entry(settings).or_default().insert(repeat, outcome);
    }
    outcomes
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
    fn a_journal_of_an_earlier_version_is_read_and_what_is_appended_has_its_form() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let failed = r#"{"settings":{"codec":"gzip:6"},"repeat":1,"failed":{"reason":"it timed out"}}"#;
        let done = r#"{"settings":{"codec":"gzip:6"},"repeat":0,"done":{"figures":{"transfer_time":[1.5]}}}"#;
        std::fs::write(&path, format!("{done}\n{failed}\n")).unwrap();
        let (mut journal, held) = Journal::open(&path).unwrap();
        assert_eq!(held[&key("gzip:6")][&0], took(1.5));
        assert_eq!(held[&key("gzip:6")][&1], Err(Failure::new("it timed out")));
        journal.append(&key("gzip:6"), 0, &took(1.5)).unwrap();
        journal
            .append(&key("gzip:6"), 1, &Err(Failure::new("it timed out")))
            .unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written, format!("{done}\n{failed}\n{done}\n{failed}\n"));
    }

    #[test]
    fn distributions_and_timelines_are_read_back_and_take_little_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut observation = Observation::default();
        let time = |at: u64| 0.005 + (at as f64 * 0.618_033_988_749_895).fract().powi(4);
        (0..3_000).for_each(|at| observation.sample(figure::RESPONSE_TIME, time(at)));
        let raw = serde_json::to_string(&observation).unwrap().len();
        observation.bound_samples();
        observation.timeline(
            figure::CLIENT_QUEUE,
            std::time::Duration::from_secs(1),
            &[0.0, 1.0 / 3.0],
        );
        let (mut journal, _) = Journal::open(&path).unwrap();
        journal.append(&key("gzip:6"), 0, &Ok(observation.clone())).unwrap();
        let (_, held) = Journal::open(&path).unwrap();
        assert_eq!(held[&key("gzip:6")][&0].as_ref().unwrap(), &observation);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.len() * 8 < raw, "{} of {raw} bytes", text.len());
        let damaged = text.replace("\"bins\":\"", "\"bins\":\"AAAA");
        std::fs::write(&path, damaged).unwrap();
        let refusal = Journal::open(&path).unwrap_err().to_string();
        assert!(
            refusal.contains("the distribution of \"response_time\" is damaged"),
            "{refusal}"
        );
    }
}
