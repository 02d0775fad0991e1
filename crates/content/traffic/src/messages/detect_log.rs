//! Detects lines of a log that hold a message beside other things, and proposes where its parts stand.
//!
//! Compressed with the rest of its line, a message gives a ratio and a memory that no connection would ever have. So lines like these are
//! refused, unless the caller says that they are the messages:
//!
//! | the line | the payload |
//! | --- | --- |
//! | a JSON object with a text that is itself a JSON object or list | that text |
//! | a JSON object with a time and a level or a direction, or with such fields alone besides one | the value that has most of the line, or is named so |
//! | text that begins with a time stamp and ends with a JSON object or list | that JSON |
//! | the first of a file, with names between commas | unknown: CSV |
//!
//! A message may look so by chance (a chat in which someone pastes JSON), so that one line in [`RARE`] has to.

mod field_role;
mod json_object;
mod text_line;

use self::field_role::role;
use super::keys::OR_TEXT;
use super::log_mapping::LogMapping;
use super::{Direction, TranscriptError};
use crate::reading::excerpt::shortened;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// How many lines of a file are examined: our own choice, more than the preamble of a log has.
const EXAMINED: u64 = 1000;

/// A file is a log where at least one examined line in so many looks like one's: our own choice.
const RARE: u64 = 20;

/// Looks at the lines of a file, one after another.
#[derive(Debug, Default)]
pub(super) struct LogDetector {
    lines: u64,
    /// Lines that look like a log's.
    suspects: u64,
    found: BTreeMap<Rank, Suspects>,
    csv_head: Option<(String, usize)>,
    csv: bool,
    dated: u64,
}

/// Proposals in the order in which they are preferred, equal ones together.
type Rank = (Evidence, String);

/// How sure a proposal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    /// The payload is JSON within a text.
    Json,
    /// The other fields are those of a log.
    Envelope,
}

/// Lines with one proposal.
#[derive(Debug)]
struct Suspects {
    count: u64,
    /// The number of the first, from 1, and what it begins with.
    line: u64,
    excerpt: String,
    proposal: Proposal,
}

/// Where the parts of messages seem to be.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The mapping.
    pub mapping: LogMapping,
    /// A word that the log has for a direction, and which it is.
    pub direction: Option<(String, Direction)>,
}

/// The refusal of a log.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) error: TranscriptError,
    /// None where no mapping would do.
    pub(super) proposal: Option<Proposal>,
}

impl LogDetector {
    /// Looks at the next line. Returns whether it was the last that is worth looking at.
    pub(super) fn push(&mut self, line: &[u8]) -> bool {
        if self.lines == EXAMINED {
            return false;
        }
        self.lines += 1;
        if let Ok(text) = std::str::from_utf8(line) {
            self.examine(text);
        }
        self.lines == EXAMINED || self.csv
    }

    fn examine(&mut self, line: &str) {
        if self.lines == 1 {
            self.csv_head = csv_head(line);
        } else if self.lines == 2
            && let Some((separator, columns)) = &self.csv_head
        {
            self.csv = line.matches(separator.as_str()).count() + 1 >= *columns;
        }
        self.dated += u64::from(text_line::stamp(line).is_some());
        let Some((evidence, proposal)) = propose(line) else {
            return;
        };
        self.suspects += 1;
        let payload = match &proposal.mapping {
            LogMapping::Fields(fields) => fields.payload.clone(),
            LogMapping::Pattern(pattern) => pattern.as_str().to_owned(),
        };
        let (number, excerpt) = (self.lines, shortened(line).into_owned());
        let suspects = self.found.entry((evidence, payload)).or_insert_with(|| Suspects {
            count: 0,
            line: number,
            excerpt,
            proposal: proposal.clone(),
        });
        suspects.count += 1;
        suspects.proposal.complete(proposal);
    }

    /// The refusal of the lines so far, if they are a log's.
    pub(super) fn refusal(&self, name: &str) -> Option<Refusal> {
        if self.csv {
            let problem = "the file looks like CSV: its first line names columns";
            let remedy = format!(
                "write each row as a JSON object on a line of its own, as `mlr --icsv --ojsonl cat` does, and name the fields of its parts, {OR_TEXT}"
            );
            let error = TranscriptError::new(name, problem, remedy).at(1, 1);
            return Some(Refusal { error, proposal: None });
        }
        if self.suspects == 0 || self.suspects * RARE < self.lines {
            return None;
        }
        let ((evidence, _), suspects) = self
            .found
            .iter()
            .max_by_key(|((evidence, _), suspects)| (*evidence == Evidence::Json, suspects.count))?;
        let part = match (&suspects.proposal.mapping, evidence) {
            (LogMapping::Fields(fields), Evidence::Json) => format!("its field {:?} holds JSON", fields.payload),
            (LogMapping::Fields(fields), Evidence::Envelope) => {
                format!("the message is in its field {:?}", fields.payload)
            }
            (LogMapping::Pattern(_), _) => "the message stands behind a time stamp".to_owned(),
        };
        let problem = format!("the line is that of a log, not a message: {part}: {}", suspects.excerpt);
        let error = TranscriptError::new(name, problem, format!("name the parts of its lines, {OR_TEXT}"));
        Some(Refusal {
            error: error.at(usize::try_from(suspects.line).unwrap_or(usize::MAX), 1),
            proposal: Some(suspects.proposal.clone()),
        })
    }

    /// Whether every line so far begins with a time stamp, which is then compressed with it.
    pub(super) fn is_dated(&self) -> bool {
        self.lines > 1 && self.dated == self.lines
    }
}

impl Proposal {
    /// Adds the parts that another line with the same payload has.
    fn complete(&mut self, other: Self) {
        if let (LogMapping::Fields(fields), LogMapping::Fields(others)) = (&mut self.mapping, other.mapping) {
            fields.direction = fields.direction.take().or(others.direction);
            fields.connection = fields.connection.take().or(others.connection);
            fields.time = fields.time.take().or(others.time);
        }
        self.direction = self.direction.take().or(other.direction);
    }
}

/// The proposal for a line of a log; none where it may be a message.
fn propose(line: &str) -> Option<(Evidence, Proposal)> {
    if line.trim_start().starts_with('{') {
        json_object::propose(line)
    } else {
        Some((Evidence::Json, text_line::propose(line)?))
    }
}

/// The proposal for a line that is a JSON object, whatever its keys.
pub(super) fn propose_for_object(line: &[u8]) -> Option<Proposal> {
    json_object::propose(std::str::from_utf8(line).ok()?).map(|(_, proposal)| proposal)
}

/// Whether a text is a JSON object or list with something in it.
fn is_json(text: &str) -> bool {
    let text = text.trim();
    text.len() > 2 && text.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The separator and the number of columns of a line that names columns, at least one of them as a log does.
fn csv_head(line: &str) -> Option<(String, usize)> {
    let separator = [",", ";", "\t"]
        .into_iter()
        .find(|separator| line.contains(separator))?;
    let names: Vec<&str> = line
        .split(separator)
        .map(|name| name.trim().trim_matches('"'))
        .collect();
    let is_name = |name: &str| {
        let starts = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_' || letter == '@');
        let rest = |letter: char| letter.is_ascii_alphanumeric() || "_@.-".contains(letter);
        starts && name.len() <= 32 && name.chars().all(rest)
    };
    let known = names.iter().filter(|name| role(name).is_some()).count();
    (names.iter().all(|name| is_name(name)) && known > 0).then(|| (separator.to_owned(), names.len()))
}

#[cfg(test)]
mod tests;
