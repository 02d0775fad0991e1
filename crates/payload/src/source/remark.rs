//! What is to be said of a file that was read all the same?

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

/// Counts remarks while a source is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally(BTreeMap<&'static str, (u64, String)>);

/// How much of a URL is shown beside a remark: our own choice, a line or two.
const EXAMPLE_CHARACTERS: usize = 120;

impl Tally {
    pub(crate) fn count(&mut self, what: &'static str, example: &str) {
        let shortened = || match example.char_indices().nth(EXAMPLE_CHARACTERS) {
            Some((end, _)) => format!("{}…", &example[..end]),
            None => example.to_owned(),
        };
        self.0.entry(what).or_insert_with(|| (0, shortened())).0 += 1;
    }

    pub(crate) fn into_remarks(self) -> Vec<Remark> {
        self.0
            .into_iter()
            .map(|(what, (count, example))| Remark { what, count, example })
            .collect()
    }
}
