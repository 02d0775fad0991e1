//! What is to be said of a file that was read all the same?

use super::quoted::shortened;
use std::collections::BTreeMap;
use std::fmt;

/// Something that is true of several responses, messages or entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// What: "have no body in the file".
    pub what: &'static str,
    /// Of how many.
    pub count: u64,
    /// The URL, path or place of the first of them, shortened.
    pub example: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} (first: {})", self.count, self.what, self.example)
    }
}

/// What stands behind the count of a remark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Words {
    /// Behind 1.
    pub(crate) one: &'static str,
    /// Behind any other.
    pub(crate) many: &'static str,
}

impl From<&'static str> for Words {
    /// Words that stand behind any number.
    fn from(any: &'static str) -> Self {
        Self { one: any, many: any }
    }
}

/// Counts remarks while a source is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally(BTreeMap<Words, (u64, String)>);

impl Tally {
    pub(crate) fn count(&mut self, what: impl Into<Words>, example: &str) {
        self.add(what, 1, example);
    }

    /// Counts several at once; `example` is the first of them.
    pub(crate) fn add(&mut self, what: impl Into<Words>, count: u64, example: &str) {
        let shortened = || (0, shortened(example).into_owned());
        self.0.entry(what.into()).or_insert_with(shortened).0 += count;
    }

    pub(crate) fn into_remarks(self) -> Vec<Remark> {
        let remark = |(words, (count, example)): (Words, (u64, String))| Remark {
            what: if count == 1 { words.one } else { words.many },
            count,
            example,
        };
        self.0.into_iter().map(remark).collect()
    }
}
