//! What messages does a user have? A transcript: what went over message connections, read from a file a message at a time.
//!
//! Of a transcript as long as one likes, a reader holds one message. What is made of messages, all of a direction at once, is
//! for others.

mod lines;
mod messages;
mod text;

pub use messages::{Connection, ContentHash, Directions, Messages};

pub use crate::source::{Place, SourceError as TranscriptError};

use bytes::Bytes as Octets;
use lastmile_units::Bytes;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::Duration;

/// One message of a connection, whole: what was fragmented is joined, what was compressed is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Which way it went.
    pub direction: Direction,
    /// When, from a zero that all messages of a transcript share. None where the file does not say.
    pub at: Option<Duration>,
    /// What it is said to hold.
    pub kind: Kind,
    /// Which connection it went over: equal within a transcript where the connection was the same.
    pub connection: u32,
    /// What it holds.
    pub payload: Octets,
}

/// Which way a message went, seen from whoever wrote the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From here.
    Sent,
    /// To here.
    Received,
}

impl Direction {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Sent, Self::Received];
}

/// What a message is said to hold: the opcode of its first frame (RFC 6455 section 11.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Text in UTF-8: opcode 1.
    Text,
    /// Anything: opcode 2.
    Binary,
}

/// How a transcript is written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// A line is a message.
    Text,
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// How it is written. None: as its name or its start says.
    pub format: Option<Format>,
    /// Which way messages went of which the file does not say it.
    pub direction: Direction,
    /// The largest message that is read. Of a larger one memory holds no more than this, and it is refused.
    pub largest_message: Bytes,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            format: None,
            direction: Direction::Sent,
            largest_message: Bytes::new(64 << 20),
        }
    }
}

/// The messages of a file, as they are read.
///
/// An error that concerns one message alone does not end them: the next is the message behind it. After any other
/// error there is none. That a file holds no message is an error too.
pub struct Transcript {
    messages: Box<dyn Iterator<Item = Result<Message, TranscriptError>> + Send>,
}

impl Transcript {
    /// Opens a file.
    ///
    /// # Errors
    /// When there is none, or it cannot be read or is empty.
    pub fn open(path: impl AsRef<Path>, reading: Reading) -> Result<Self, TranscriptError> {
        let name = path.as_ref().display().to_string();
        let file = std::fs::File::open(path).map_err(|error| TranscriptError::unopened(&name, &error, WANTED))?;
        Self::read(file, &name, reading)
    }

    /// Reads from anything; `name` stands in errors.
    ///
    /// # Errors
    /// As [`Transcript::open`].
    pub fn read(from: impl Read + Send + 'static, name: &str, reading: Reading) -> Result<Self, TranscriptError> {
        let mut from = BufReader::with_capacity(BUFFER, from);
        let start = from.fill_buf().map_err(|error| TranscriptError::io(name, &error))?;
        if start.is_empty() {
            return Err(TranscriptError::new(name, "the file is empty", WANTED));
        }
        let messages = text::Lines::new(from, name, reading);
        Ok(Self {
            messages: Box::new(messages),
        })
    }
}

impl Iterator for Transcript {
    type Item = Result<Message, TranscriptError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.messages.next()
    }
}

/// How much is read from a file at a time: our own choice.
const BUFFER: usize = 1 << 16;

const WANTED: &str = "give the path of a file of messages, a line each";

#[cfg(test)]
mod tests;
