//! What if one has messages? A transcript, as it was recorded.

use crate::transcript::{Direction, Format, Message, Reading, Transcript};
use crate::workload::WorkloadError;
use std::path::PathBuf;

/// The messages of a file: `{ kind = "transcript", path = "chat.txt" }`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// Where it is, from the folder that the program runs in.
    pub path: PathBuf,
    /// How it is written; what its name or its start says where this does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Which way messages went of which the file does not say it; sent where this does not either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
}

impl Recorded {
    pub(in crate::workload) fn read(&self) -> Result<Vec<Message>, WorkloadError> {
        let usual = Reading::default();
        let reading = Reading {
            format: self.format,
            direction: self.direction.unwrap_or(usual.direction),
            ..usual
        };
        Ok(Transcript::open(&self.path, reading)?.collect::<Result<_, _>>()?)
    }
}
