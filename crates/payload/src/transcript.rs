//! What messages does a user have? A transcript: what went over message connections, read from a file a message at a time.
//!
//! | [`Format`] | how messages are written |
//! | --- | --- |
//! | text | a line is a message, an empty one too |
//! | json-lines | a line is a JSON object: [`jsonl`] has its keys |
//! | length-prefixed | before each message its length, in 4 octets, big endian |
//! | har | HTTP Archive, with the `_webSocketMessages` that Chrome writes |
//!
//! Any of these may be packed by gzip or zstd. Of a transcript as long as one likes, a reader holds one message, and of one that
//! is larger than is allowed no more than that. What a capture of packets holds is read elsewhere.

mod format;
pub mod har;
mod json_start;
pub mod jsonl;
pub mod length_prefixed;
mod lines;
mod messages;
mod order;
mod scanner;
pub mod text;

pub use format::{Format, UnknownFormat};
pub use messages::{Connection, ContentHash, Directions, Messages};

pub use crate::source::{Place, SourceError as TranscriptError};

use crate::source::Remark;
use crate::source::opening::Opened;
use crate::source::remark::Tally;
use bytes::Bytes as Octets;
use lastmile_units::Bytes;
use order::Order;
use std::fmt;
use std::io::{self, Read};
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

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// How it is written. None: as its name or its start says.
    pub format: Option<Format>,
    /// Which way messages went of which the file does not say it.
    pub direction: Direction,
    /// The largest message that is read. Of a larger one memory holds no more than this, and it is refused. Where messages are
    /// written in JSON, one may take twice as much as it is written.
    pub largest_message: Bytes,
}

impl Default for Reading {
    /// Found out, sent, 64 MiB: the last is our own choice, larger than what servers accept unasked.
    fn default() -> Self {
        Self {
            format: None,
            direction: Direction::Sent,
            largest_message: Bytes::new(64 << 20),
        }
    }
}

impl Reading {
    /// Says that a message is too large.
    fn too_large(&self, length: u64, name: &str) -> TranscriptError {
        let most = self.largest_message.get();
        let problem = format!("the message has {length} octets, and no more than {most} are read");
        TranscriptError::new(name, problem, "leave it out, or send it as several")
    }

    /// How many octets of JSON are read for a message.
    fn most_json(&self) -> u64 {
        // An escape takes up to six octets for one, but rarely; base64 takes four for three.
        const REST: u64 = 4096;
        self.largest_message.get().saturating_mul(2).saturating_add(REST)
    }
}

/// A file whose packing is taken off, if it is packed by gzip or zstd; for who has to see what it begins with.
///
/// # Errors
/// When it cannot be read.
pub fn unpacked<'a>(from: impl Read + Send + 'a, name: &str) -> Result<impl Read + Send + 'a, TranscriptError> {
    let opened = Opened::new(Box::new(from) as Box<dyn Read + Send + 'a>, name)?;
    Ok(format::unpacked(opened, name)?.content())
}

/// The messages of a file, as they are read.
///
/// An error that concerns one message alone does not end them: the next is the message behind it. After any other
/// error there is none. That a file holds no message is an error too.
pub struct Transcript<'a> {
    reader: Box<dyn Reader + Send + 'a>,
    name: String,
    format: Format,
    remarks: Tally,
    order: Order,
    found: bool,
    ended: bool,
}

/// A reader of one format.
trait Reader {
    /// The next message; none where there are no more. Counts what there is to say of it.
    fn next(&mut self, remarks: &mut Tally) -> Result<Option<Message>, Trouble>;
}

/// Why there is no message where one should be.
enum Trouble {
    /// It cannot be read; the next may be.
    Message(TranscriptError),
    /// Nothing can be read from here on.
    Rest(TranscriptError),
}

impl Transcript<'static> {
    /// Opens a file. A file called `.har` is that; of another name, it is what its start says.
    ///
    /// # Errors
    /// When there is none, it cannot be read, is empty, or is something else.
    pub fn open(path: impl AsRef<Path>, reading: Reading) -> Result<Self, TranscriptError> {
        let name = path.as_ref().display().to_string();
        let file = std::fs::File::open(path).map_err(|error| TranscriptError::unopened(&name, &error, WANTED))?;
        Self::read(file, &name, reading)
    }
}

impl<'a> Transcript<'a> {
    /// Reads from anything; `name` stands in errors, and its extension counts as a file's does.
    ///
    /// # Errors
    /// As [`Transcript::open`].
    pub fn read(from: impl Read + Send + 'a, name: &str, reading: Reading) -> Result<Self, TranscriptError> {
        let mut remarks = Tally::default();
        let (format, opened) = format::find(Box::new(from), name, reading.format, &mut remarks)?;
        let reader: Box<dyn Reader + Send + 'a> = match format {
            Format::Text => Box::new(text::Text::new(opened.without_mark().content(), name, reading)),
            Format::JsonLines => Box::new(jsonl::JsonLines::new(opened.without_mark().content(), name, reading)),
            Format::LengthPrefixed => Box::new(length_prefixed::Frames::new(opened.content(), name, reading)),
            Format::Har => Box::new(har::Entries::new(opened.without_mark().content(), name, reading)),
        };
        Ok(Self {
            reader,
            name: name.to_owned(),
            format,
            remarks,
            order: Order::default(),
            found: false,
            ended: false,
        })
    }

    /// How it is written.
    pub fn format(&self) -> Format {
        self.format
    }

    /// What is to be said of what was read so far, each with how often.
    pub fn remarks(&self) -> Vec<Remark> {
        let mut remarks = self.remarks.clone();
        self.order.remark(&mut remarks);
        remarks.into_remarks()
    }
}

impl fmt::Debug for Transcript<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transcript")
            .field("name", &self.name)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

impl Iterator for Transcript<'_> {
    type Item = Result<Message, TranscriptError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let read = self.reader.next(&mut self.remarks);
        self.ended = matches!(read, Ok(None) | Err(Trouble::Rest(_)));
        match read {
            Ok(None) if self.found => None,
            Ok(None) => {
                let left_out: Vec<String> = self.remarks().iter().map(ToString::to_string).collect();
                let problem = match left_out.as_slice() {
                    [] => "it holds no message".to_owned(),
                    left_out => format!("it holds no message that can be used: {}", left_out.join("; ")),
                };
                let error = TranscriptError::new(&self.name, problem, self.format.wanted());
                Some(Err(error))
            }
            Ok(Some(message)) => {
                self.found = true;
                self.order.take(&message);
                Some(Ok(message))
            }
            Err(Trouble::Message(error)) => {
                self.found = true;
                Some(Err(error))
            }
            Err(Trouble::Rest(error)) => Some(Err(error)),
        }
    }
}

impl Trouble {
    /// What the system said when a file was read.
    fn io(name: &str, error: &io::Error) -> Self {
        Self::Rest(TranscriptError::io(name, error))
    }
}

/// Whether octets can be a message of text: where a file says nothing of it, those that can are.
fn kind_of(octets: &[u8]) -> Kind {
    match std::str::from_utf8(octets) {
        Ok(_) => Kind::Text,
        Err(_) => Kind::Binary,
    }
}

const WANTED: &str = "give the path of a file of messages: one a line, or as JSON Lines, a HAR or length-prefixed";

#[cfg(test)]
mod tests;
