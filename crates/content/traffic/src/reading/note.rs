//! Notes on a file that was read although something in it is odd or left out.

use super::excerpt::shortened;
use std::collections::BTreeMap;
use std::fmt;

/// A note on one or several responses, messages or entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The text after the count: "have no body in the file".
    pub what: &'static str,
    /// How many there are.
    pub count: u64,
    /// The URL, path or position of the first one, shortened.
    pub example: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.count, self.what)?;
        if self.example.is_empty() {
            return Ok(());
        }
        write!(f, " (first: {})", self.example)
    }
}

/// The text that follows the count of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Plural {
    /// After a count of 1.
    pub(crate) one: &'static str,
    /// After any other count.
    pub(crate) many: &'static str,
}

impl From<&'static str> for Plural {
    /// One text for every count.
    fn from(any: &'static str) -> Self {
        Self { one: any, many: any }
    }
}

/// Counts notes while a source is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct NoteCounter(BTreeMap<Plural, (u64, String)>);

impl NoteCounter {
    pub(crate) fn count(&mut self, what: impl Into<Plural>, example: &str) {
        self.add(what, 1, example);
    }

    /// Counts several at once; `example` is the first of them.
    pub(crate) fn add(&mut self, what: impl Into<Plural>, count: u64, example: &str) {
        let shortened = || (0, shortened(example).into_owned());
        self.0.entry(what.into()).or_insert_with(shortened).0 += count;
    }

    pub(crate) fn into_notes(self) -> Vec<Note> {
        let remark = |(words, (count, example)): (Plural, (u64, String))| Note {
            what: if count == 1 { words.one } else { words.many },
            count,
            example,
        };
        self.0.into_iter().map(remark).collect()
    }
}
