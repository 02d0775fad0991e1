//! Reads the WebSocket messages that Chrome, and tools that follow it, write in the entries of a HAR.
//!
//! `log.entries[]._webSocketMessages[]` has `type` ("send", "receive"), `time` (seconds since 1970), `opcode` and `data` (text; base64 where
//! the opcode is 2). It is an extension of Chrome's (its developer tools, `HARWriter`), not of HTTP Archive 1.2. Each entry that has messages
//! is a connection, counted from 0. The rest of the file, which may be a thousand times larger, is skipped.

use super::json_walker::{Fault, Scanner};
use super::jsonl::direction;
use super::{Message, ReadError, Reader, Reading, TranscriptError, kind_of};
use crate::reading::base64::decode_in_place;
use crate::reading::lenient::{LenientTime, Number, Text, TextBytes, lenient_object};
use crate::reading::note::{NoteCounter, Plural};
use lastmile_codec::message::Kind;
use std::io::BufRead;

/// The messages of the entries of a HAR.
pub(super) struct Entries<R> {
    scanner: Scanner<R>,
    name: String,
    reading: Reading,
    state: State,
    /// The connection of the next entry that has messages.
    connection: u32,
    /// Whether all entries have been walked through.
    entries_done: bool,
    /// Whether this entry has had a message.
    has_messages: bool,
    message: Vec<u8>,
    /// Where the message begins: line and column.
    begins: (usize, usize),
}

/// The element that the walk is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Root,
    Log,
    Entries,
    Entry,
    Messages,
    /// After the object that is the HAR.
    Done,
}

lenient_object!(WrittenMessage, "a message" {
    "type" => way: Text,
    "time" => time: LenientTime,
    "opcode" => opcode: Number,
    "data" => data: TextBytes,
});

const MESSAGES: &[u8] = b"_webSocketMessages";

const NO_HAR: &str = "save one from the network panel of Chrome (\"Save all as HAR with content\")";

impl<R: BufRead> Entries<R> {
    pub(super) fn new(from: R, name: &str, reading: Reading) -> Self {
        Self {
            scanner: Scanner::new(from),
            name: name.to_owned(),
            reading,
            state: State::Start,
            connection: 0,
            entries_done: false,
            has_messages: false,
            message: Vec::new(),
            begins: (1, 1),
        }
    }

    /// Walks to the next message and stores its JSON. Returns the size of that JSON; none at the end.
    fn walk(&mut self) -> Result<Option<u64>, Fault> {
        let scanner = &mut self.scanner;
        loop {
            self.state = match self.state {
                State::Start => {
                    scanner.consume(b'{')?;
                    State::Root
                }
                State::Root => match member(scanner, b"log", b'{')? {
                    Member::Entered => State::Log,
                    Member::PassedOver => State::Root,
                    Member::End => State::Done,
                },
                State::Log => match member(scanner, b"entries", b'[')? {
                    Member::Entered => State::Entries,
                    Member::PassedOver => State::Log,
                    Member::End => State::Root,
                },
                State::Entries if scanner.has_another(b']')? => {
                    scanner.consume(b'{')?;
                    self.has_messages = false;
                    State::Entry
                }
                State::Entries => {
                    self.entries_done = true;
                    State::Log
                }
                State::Entry => match member(scanner, MESSAGES, b'[')? {
                    Member::Entered => State::Messages,
                    Member::PassedOver => State::Entry,
                    Member::End => {
                        self.connection += u32::from(self.has_messages);
                        State::Entries
                    }
                },
                State::Messages if scanner.has_another(b']')? => {
                    self.begins = scanner.position();
                    let most = usize::try_from(self.reading.json_size_max()).unwrap_or(usize::MAX);
                    return scanner.value(most, &mut self.message).map(Some);
                }
                State::Messages => State::Entry,
                State::Done => match scanner.peek() {
                    Ok(byte) => return Err(Fault::Unexpected(byte)),
                    Err(Fault::End) => return Ok(None),
                    Err(fault) => return Err(fault),
                },
            };
        }
    }

    fn explain(&self, fault: &Fault) -> TranscriptError {
        let (line, column) = self.scanner.position();
        let problem = match fault {
            Fault::End => "the file is cut off here".to_owned(),
            Fault::Io(error) => return TranscriptError::io(&self.name, error),
            Fault::Unexpected(byte) if self.state == State::Done => {
                let problem = format!("the HAR ends before this, but {:?} follows", char::from(*byte));
                let remedy = "remove what follows the HAR; put each HAR in a file of its own";
                return TranscriptError::new(&self.name, problem, remedy).at(line, column);
            }
            Fault::Unexpected(byte) => {
                format!(
                    "this is not a HAR: unexpected {:?} in {}",
                    char::from(*byte),
                    self.state.name()
                )
            }
        };
        TranscriptError::new(&self.name, problem, NO_HAR).at(line, column)
    }
}

impl State {
    /// The name of the element, in the terms of the format.
    const fn name(self) -> &'static str {
        match self {
            Self::Start | Self::Root | Self::Done => "the file",
            Self::Log => "log",
            Self::Entries => "log.entries",
            Self::Entry => "an entry",
            Self::Messages => "_webSocketMessages",
        }
    }
}

/// How a member of an object was treated.
enum Member {
    /// It is the wanted member, and the walk is in it.
    Entered,
    PassedOver,
    /// There are no more.
    End,
}

/// The next member of an object.
fn member<R: BufRead>(scanner: &mut Scanner<R>, wanted: &[u8], open: u8) -> Result<Member, Fault> {
    if !scanner.has_another(b'}')? {
        return Ok(Member::End);
    }
    // A null in place of a list or object, as some tools write for an empty one, is skipped too.
    if scanner.key()? == wanted && scanner.peek()? == open {
        scanner.consume(open)?;
        return Ok(Member::Entered);
    }
    scanner.value(0, &mut Vec::new())?;
    Ok(Member::PassedOver)
}

impl<R: BufRead> Reader for Entries<R> {
    fn next(&mut self, remarks: &mut NoteCounter) -> Result<Option<Message>, ReadError> {
        loop {
            let written = match self.walk() {
                Ok(Some(written)) => written,
                Ok(None) => return Ok(None),
                // A file cut off after the entries has lost no message.
                Err(Fault::End) if self.entries_done && matches!(self.state, State::Root | State::Log) => {
                    return Ok(None);
                }
                Err(fault) => return Err(ReadError::Rest(self.explain(&fault))),
            };
            self.has_messages = true;
            let (line, column) = self.begins;
            let at_position = |error: TranscriptError| ReadError::Message(error.at(line, column));
            if written > self.reading.json_size_max() {
                return Err(at_position(self.reading.too_large(written, &self.name)));
            }
            let read: WrittenMessage = serde_json::from_slice(&self.message).map_err(|error| {
                let problem = format!("this is not a HAR message: {}", TranscriptError::message(&error));
                let (lines, bytes) = (error.line().max(1) - 1, error.column().max(1));
                let column = if lines == 0 { column + bytes - 1 } else { bytes };
                ReadError::Message(TranscriptError::new(&self.name, problem, NO_HAR).at(line + lines, column))
            })?;
            let at_place = format!("line {line}, column {column}");
            let has_unreadable_time = read.time == LenientTime::Unreadable;
            match read.into_message(self.connection) {
                Ok(message) if message.payload.len() as u64 > self.reading.largest_message.get() => {
                    return Err(at_position(
                        self.reading.too_large(message.payload.len() as u64, &self.name),
                    ));
                }
                Ok(message) => {
                    if has_unreadable_time {
                        remarks.count(UNREADABLE_TIME, &at_place);
                    }
                    return Ok(Some(message));
                }
                Err(why_not) => remarks.count(why_not, &at_place),
            }
        }
    }
}

const NO_DIRECTION: Plural = Plural {
    one: "entry of _webSocketMessages is neither sent nor received",
    many: "entries of _webSocketMessages are neither sent nor received",
};

const NO_MESSAGE: Plural = Plural {
    one: "entry of _webSocketMessages is a control frame, or has an unknown opcode",
    many: "entries of _webSocketMessages are control frames, or have an unknown opcode",
};

const NO_DATA: Plural = Plural {
    one: "message of a HAR has no data",
    many: "messages of a HAR have no data",
};

const NO_BASE64: Plural = Plural {
    one: "binary message of a HAR is not base64, and is left out",
    many: "binary messages of a HAR are not base64, and are left out",
};

const UNREADABLE_TIME: Plural = Plural {
    one: "message of a HAR has a time that is not a number of seconds since 1970, and is read without it",
    many: "messages of a HAR have times that are not numbers of seconds since 1970, and are read without them",
};

impl WrittenMessage {
    /// The message; or the note on why it is not one.
    fn into_message(self, connection: u32) -> Result<Message, Plural> {
        let direction = direction(self.way.as_str()).ok_or(NO_DIRECTION)?;
        let data = self.data.0.ok_or(NO_DATA)?;
        let (kind, payload) = match self.opcode.whole() {
            Some(1) => (kind_of(&data), data),
            Some(2) => {
                let bytes = decode_in_place(data).ok_or(NO_BASE64)?;
                (Kind::Binary, bytes)
            }
            _ => return Err(NO_MESSAGE),
        };
        Ok(Message {
            direction,
            at: match self.time {
                LenientTime::At(at) => Some(at),
                LenientTime::Absent | LenientTime::Unreadable => None,
            },
            kind,
            connection,
            payload: payload.into(),
        })
    }
}
