//! Transcripts: the messages of WebSocket-like connections, read from a file one message at a time.
//!
//! | [`Format`] | how messages are written |
//! | --- | --- |
//! | text | each line is a message, empty lines too |
//! | json-lines | each line is a JSON object: [`jsonl`] lists its keys |
//! | length-prefixed | each message follows its length, in 4 bytes, big endian |
//! | har | HTTP Archive, with the `_webSocketMessages` that Chrome writes |
//!
//! The lines of other logs are read by a [`LogMapping`]: [`Transcript::read_log`]. Where lines are detected to be those of a log, they are
//! refused, and [`Transcript::proposal`] says where the parts of messages seem to be.
//!
//! A file that is one JSON list of objects is read as if each object had a line of its own.
//!
//! Any of these may be compressed with gzip or zstd. A reader holds one message in memory, however long the transcript is, and of
//! one above the size limit no more than the limit. Packet captures are read elsewhere.

mod chronology;
mod detect_format;
mod detect_json_log;
mod detect_log;
mod format;
pub mod har;
mod json_members;
mod json_walker;
pub mod jsonl;
mod keys;
mod length_prefixed;
mod lines;
mod log_lines;
mod log_mapping;
mod store;
pub mod text;

pub use detect_format::LINES_AS_THEY_STAND;
pub use detect_log::Proposal;
pub use format::{Format, UnknownFormat};
pub use log_mapping::{FieldMapping, LogMapping, ParsePatternError, Pattern};
pub use store::{Connection, ContentHash, Directions, Messages};

pub use crate::reading::{Note, Position, SourceError as TranscriptError};
pub use lastmile_codec::message::Kind;

use crate::reading::note::NoteCounter;
use crate::reading::sniff::OpenedFile;
use bytes::Bytes;
use chronology::Order;
use detect_format::Detected;
use lastmile_units::ByteCount;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

/// One whole message of a connection: fragments are joined, and compression is undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Whether it was sent or received.
    pub direction: Direction,
    /// When it was sent or received, from a zero that all messages of a transcript share. None where the file does not say.
    pub at: Option<Duration>,
    /// Text or binary.
    pub kind: Kind,
    /// The number of its connection, unique within a transcript.
    pub connection: u32,
    /// Its content.
    pub payload: Bytes,
}

/// The direction of a message, seen from the end that recorded the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Sent by the recording end.
    Sent,
    /// Received by the recording end.
    Received,
}

impl Direction {
    /// Both directions.
    pub const ALL: [Self; 2] = [Self::Sent, Self::Received];

    /// The other direction.
    pub const fn opposite(self) -> Self {
        match self {
            Self::Sent => Self::Received,
            Self::Received => Self::Sent,
        }
    }
}

/// The options for reading a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The format of the file. None: detect it from the name or the start of the file.
    pub format: Option<Format>,
    /// The direction of messages where the file does not state it.
    pub direction: Direction,
    /// The largest message that is read. A larger one is refused without holding more than this in memory. In JSON, the written form
    /// of a message may have twice this size.
    pub largest_message: ByteCount,
}

impl Default for Reading {
    /// Detected format, sent, 64 MiB. The limit is our own choice, above the default limits of servers.
    fn default() -> Self {
        Self {
            format: None,
            direction: Direction::Sent,
            largest_message: ByteCount::new(64 << 20),
        }
    }
}

impl Reading {
    /// The error for a message that is too large.
    fn too_large(&self, length: u64, name: &str) -> TranscriptError {
        let most = self.largest_message.get();
        let problem = format!("the message has {length} bytes, above the limit of {most}");
        TranscriptError::new(name, problem, "leave it out, or split it into several messages")
    }

    /// The largest JSON form of a message that is read, in bytes.
    fn json_size_max(&self) -> u64 {
        // Rarely, an escape needs six bytes for one; base64 needs four for three.
        const REST: u64 = 4096;
        self.largest_message.get().saturating_mul(2).saturating_add(REST)
    }
}

/// Decompresses a file if it is compressed with gzip or zstd, for callers that examine its first bytes.
///
/// # Errors
/// When it cannot be read.
pub fn decompressed<'a>(from: impl Read + Send + 'a, name: &str) -> Result<impl Read + Send + 'a, TranscriptError> {
    let opened = OpenedFile::new(Box::new(from) as Box<dyn Read + Send + 'a>, name)?;
    Ok(opened.unpacked(name)?.content())
}

/// Where a message stands in its file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// In a line.
    Line(usize),
    /// In an element of the JSON list that the file is.
    Element(usize),
    /// Among the messages of a file that has no lines.
    Message(usize),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, "line {number}"),
            Self::Element(number) => write!(f, "element {number}"),
            Self::Message(number) => write!(f, "message {number}"),
        }
    }
}

/// An iterator over the messages of a file.
///
/// An error in a single message does not end the iteration: the message after it follows. Any other error ends it. A file without
/// messages is an error too.
pub struct Transcript<'a> {
    reader: Box<dyn Reader + Send + 'a>,
    name: String,
    format: Format,
    /// The remedy where there is no message.
    remedy: &'static str,
    notes: NoteCounter,
    order: Order,
    /// Whether the file is a JSON list, whose elements are read as lines.
    is_list: bool,
    /// How many messages were found, those that cannot be read included.
    found: usize,
    ended: bool,
}

/// A reader of one format.
trait Reader {
    /// The next message; none at the end. Counts notes on it in `remarks`.
    fn next(&mut self, remarks: &mut NoteCounter) -> Result<Option<Message>, ReadError>;

    /// The number of the line read last, from 1; none where messages have no lines.
    fn line(&self) -> Option<usize> {
        None
    }

    /// Where the parts of messages seem to be, after lines were refused.
    fn proposal(&self) -> Option<&Proposal> {
        None
    }
}

/// Why a message could not be read.
enum ReadError {
    /// This message cannot be read; later ones may be.
    Message(TranscriptError),
    /// Nothing after this can be read.
    Rest(TranscriptError),
}

impl Transcript<'static> {
    /// Opens a file. The extension `.har` means a HAR; otherwise the start of the file decides on the format.
    ///
    /// # Errors
    /// When there is no such file, or it cannot be read, is empty, or is another kind of file.
    pub fn open(path: impl AsRef<Path>, reading: Reading) -> Result<Self, TranscriptError> {
        let name = path.as_ref().display().to_string();
        let file = std::fs::File::open(path).map_err(|error| TranscriptError::unopened(&name, &error, WANTED))?;
        Self::read(file, &name, reading)
    }
}

impl<'a> Transcript<'a> {
    /// Reads from any source; `name` is used in errors, and its extension counts as a file's does.
    ///
    /// # Errors
    /// As [`Transcript::open`].
    pub fn read(from: impl Read + Send + 'a, name: &str, reading: Reading) -> Result<Self, TranscriptError> {
        let mut remarks = NoteCounter::default();
        let Detected {
            format,
            opened,
            is_list,
        } = detect_format::detect(Box::new(from), name, reading, &mut remarks)?;
        let reader: Box<dyn Reader + Send + 'a> = match format {
            Format::Text => Box::new(text::Text::new(opened.without_mark().content(), name, reading)),
            Format::JsonLines => Box::new(jsonl::JsonLines::new(opened.without_mark().content(), name, reading)),
            Format::LengthPrefixed => Box::new(length_prefixed::Frames::new(opened.content(), name, reading)),
            Format::Har => Box::new(har::Entries::new(opened.without_mark().content(), name, reading)),
        };
        Ok(Self {
            is_list,
            ..Self::of(reader, name, format, format.remedy(), remarks)
        })
    }

    /// Reads the lines of a log from any source, as `mapping` says where the parts of messages are; the format of `reading` does not count.
    /// `server_sends` is the direction of the server's messages, for logs that name the ends.
    ///
    /// # Errors
    /// When it cannot be read, or is empty.
    pub fn read_log(
        from: impl Read + Send + 'a,
        name: &str,
        reading: Reading,
        mapping: LogMapping,
        server_sends: Direction,
    ) -> Result<Self, TranscriptError> {
        let format = match mapping {
            LogMapping::Fields(_) => Format::JsonLines,
            LogMapping::Pattern(_) => Format::Text,
        };
        let stated = Reading {
            format: Some(format),
            ..reading
        };
        let mut notes = NoteCounter::default();
        let mut opened = detect_format::detect(Box::new(from), name, stated, &mut notes)?.opened;
        let mut is_list = false;
        if format == Format::JsonLines {
            (opened, is_list) =
                detect_format::with_elements_as_lines(opened, name, reading.largest_message, &mut notes)?;
        }
        let remedy = mapping.remedy();
        let lines = log_lines::LogLines::new(opened.without_mark().content(), name, reading, mapping, server_sends);
        Ok(Self {
            is_list,
            ..Self::of(Box::new(lines), name, format, remedy, notes)
        })
    }

    fn of(
        reader: Box<dyn Reader + Send + 'a>,
        name: &str,
        format: Format,
        remedy: &'static str,
        notes: NoteCounter,
    ) -> Self {
        Self {
            reader,
            name: name.to_owned(),
            format,
            remedy,
            notes,
            order: Order::default(),
            is_list: false,
            found: 0,
            ended: false,
        }
    }

    /// Where the parts of messages seem to be in the lines of a log, after an error that refuses them.
    pub fn proposal(&self) -> Option<&Proposal> {
        self.reader.proposal()
    }

    /// Where the message that was read last stands in the file.
    pub fn location(&self) -> Location {
        match self.reader.line() {
            Some(number) if self.is_list => Location::Element(number),
            Some(number) => Location::Line(number),
            None => Location::Message(self.found),
        }
    }

    /// The format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Notes on the messages read so far, each with its count.
    pub fn notes(&self) -> Vec<Note> {
        let mut remarks = self.notes.clone();
        self.order.add_note(&mut remarks);
        remarks.into_notes()
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
        let read = self.reader.next(&mut self.notes);
        self.ended = matches!(read, Ok(None) | Err(ReadError::Rest(_)));
        match read {
            Ok(None) if self.found > 0 => None,
            Ok(None) => {
                let left_out: Vec<String> = self.notes().iter().map(ToString::to_string).collect();
                let problem = match left_out.as_slice() {
                    [] => "the file contains no message".to_owned(),
                    left_out => format!("the file contains no usable message: {}", left_out.join("; ")),
                };
                let error = TranscriptError::new(&self.name, problem, self.remedy);
                Some(Err(error))
            }
            Ok(Some(message)) => {
                self.found += 1;
                self.order.push(&message);
                Some(Ok(message))
            }
            Err(ReadError::Message(error)) => {
                self.found += 1;
                Some(Err(error))
            }
            Err(ReadError::Rest(error)) => Some(Err(error)),
        }
    }
}

impl ReadError {
    /// An I/O error while reading.
    fn io(name: &str, error: &io::Error) -> Self {
        Self::Rest(TranscriptError::io(name, error))
    }
}

/// The type of a message where the file does not state it: text if the bytes are UTF-8, or else binary.
fn kind_of(bytes: &[u8]) -> Kind {
    match std::str::from_utf8(bytes) {
        Ok(_) => Kind::Text,
        Err(_) => Kind::Binary,
    }
}

const WANTED: &str = "give the path of a file of messages: one per line, JSON Lines, length-prefixed or a HAR";

#[cfg(test)]
mod tests;
