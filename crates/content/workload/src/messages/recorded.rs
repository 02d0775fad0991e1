//! Recorded messages, read from a transcript file.

use crate::WorkloadError;
use lastmile_traffic::messages::{Direction, Format, Message, Reading, Transcript};
use std::path::PathBuf;

/// The messages of a file: `{ kind = "transcript", path = "chat.txt" }`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// The path, relative to the program's working directory.
    pub path: PathBuf,
    /// The format; if not given, detected from the name or the beginning of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// The direction of messages whose direction is not in the file; `sent` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
}

impl Recorded {
    pub(crate) fn read(&self) -> Result<Vec<Message>, WorkloadError> {
        let usual = Reading::default();
        let reading = Reading {
            format: self.format,
            direction: self.direction.unwrap_or(usual.direction),
            ..usual
        };
        Ok(Transcript::open(&self.path, reading)?.collect::<Result<_, _>>()?)
    }
}
