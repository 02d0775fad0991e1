//! What messages does a HAR hold? Those that Chrome, and tools that follow it, write beside the entry of each WebSocket.
//!
//! `log.entries[]._webSocketMessages[]` has `type` ("send", "receive"), `time` (seconds since 1970), `opcode` and `data` (text; base64 where
//! the opcode is 2). It is an extension of Chrome's (its developer tools, `HARWriter`), not of HTTP Archive 1.2. Each entry that has messages
//! is a connection, counted from 0. All else in the file, which may be a thousand times as much, is passed over.

use super::jsonl::direction;
use super::scanner::{Fault, Scanner};
use super::{Kind, Message, Reader, Reading, TranscriptError, Trouble, kind_of};
use crate::source::base64::decode_in_place;
use crate::source::lenient::{Moment, Number, Text, TextOctets, lenient_object};
use crate::source::remark::{Tally, Words};
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
    is_through: bool,
    /// Whether this entry has had one.
    talked: bool,
    message: Vec<u8>,
    /// Where that begins: line and column.
    begins: (usize, usize),
}

/// Into what the walk has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Root,
    Log,
    Entries,
    Entry,
    Messages,
    /// Behind the object that is the HAR.
    Done,
}

lenient_object!(WrittenMessage, "a message" {
    "type" => way: Text,
    "time" => time: Moment,
    "opcode" => opcode: Number,
    "data" => data: TextOctets,
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
            is_through: false,
            talked: false,
            message: Vec::new(),
            begins: (1, 1),
        }
    }

    /// Goes on to the next message, and keeps what is written of it. Gives how much that is; none at the end.
    fn walk(&mut self) -> Result<Option<u64>, Fault> {
        let scanner = &mut self.scanner;
        loop {
            self.state = match self.state {
                State::Start => {
                    scanner.enter(b'{')?;
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
                State::Entries if scanner.another(b']')? => {
                    scanner.enter(b'{')?;
                    self.talked = false;
                    State::Entry
                }
                State::Entries => {
                    self.is_through = true;
                    State::Log
                }
                State::Entry => match member(scanner, MESSAGES, b'[')? {
                    Member::Entered => State::Messages,
                    Member::PassedOver => State::Entry,
                    Member::End => {
                        self.connection += u32::from(self.talked);
                        State::Entries
                    }
                },
                State::Messages if scanner.another(b']')? => {
                    self.begins = scanner.place();
                    let most = usize::try_from(self.reading.most_json()).unwrap_or(usize::MAX);
                    return scanner.value(most, &mut self.message).map(Some);
                }
                State::Messages => State::Entry,
                State::Done => match scanner.peek() {
                    Ok(octet) => return Err(Fault::Unexpected(octet)),
                    Err(Fault::End) => return Ok(None),
                    Err(fault) => return Err(fault),
                },
            };
        }
    }

    fn explain(&self, fault: &Fault) -> TranscriptError {
        let (line, column) = self.scanner.place();
        let problem = match fault {
            Fault::End => "the file is cut off: it ends here".to_owned(),
            Fault::Io(error) => return TranscriptError::io(&self.name, error),
            Fault::Unexpected(octet) if self.state == State::Done => {
                let problem = format!("the HAR ends before this, and {:?} stands here", char::from(*octet));
                let remedy = "leave out what stands behind it; give each HAR in a file of its own";
                return TranscriptError::new(&self.name, problem, remedy).at(line, column);
            }
            Fault::Unexpected(octet) => {
                format!(
                    "it is no HAR: {:?} stands here, within {:?}",
                    char::from(*octet),
                    self.state.name()
                )
            }
        };
        TranscriptError::new(&self.name, problem, NO_HAR).at(line, column)
    }
}

impl State {
    /// What the walk is in, as the format calls it.
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

/// What became of a member of an object.
enum Member {
    /// It is the one looked for, and the walk is in it.
    Entered,
    PassedOver,
    /// There are no more.
    End,
}

/// The next member of an object.
fn member<R: BufRead>(scanner: &mut Scanner<R>, wanted: &[u8], open: u8) -> Result<Member, Fault> {
    if !scanner.another(b'}')? {
        return Ok(Member::End);
    }
    // What should be a list or an object and is null, as tools write where there is nothing, is passed over too.
    if scanner.key()? == wanted && scanner.peek()? == open {
        scanner.enter(open)?;
        return Ok(Member::Entered);
    }
    scanner.value(0, &mut Vec::new())?;
    Ok(Member::PassedOver)
}

impl<R: BufRead> Reader for Entries<R> {
    fn next(&mut self, remarks: &mut Tally) -> Result<Option<Message>, Trouble> {
        loop {
            let written = match self.walk() {
                Ok(Some(written)) => written,
                Ok(None) => return Ok(None),
                // Nothing that is cut off behind the entries is read.
                Err(Fault::End) if self.is_through && matches!(self.state, State::Root | State::Log) => {
                    return Ok(None);
                }
                Err(fault) => return Err(Trouble::Rest(self.explain(&fault))),
            };
            self.talked = true;
            let (line, column) = self.begins;
            let place = |error: TranscriptError| Trouble::Message(error.at(line, column));
            if written > self.reading.most_json() {
                return Err(place(self.reading.too_large(written, &self.name)));
            }
            let read: WrittenMessage = serde_json::from_slice(&self.message).map_err(|error| {
                let problem = format!("it is no message of a HAR: {}", TranscriptError::message(&error));
                let (lines, octets) = (error.line().max(1) - 1, error.column().max(1));
                let column = if lines == 0 { column + octets - 1 } else { octets };
                Trouble::Message(TranscriptError::new(&self.name, problem, NO_HAR).at(line + lines, column))
            })?;
            let at_place = format!("line {line}, column {column}");
            let has_unreadable_time = read.time == Moment::Unreadable;
            match read.into_message(self.connection) {
                Ok(message) if message.payload.len() as u64 > self.reading.largest_message.get() => {
                    return Err(place(self.reading.too_large(message.payload.len() as u64, &self.name)));
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

const NO_DIRECTION: Words = Words {
    one: "entry of _webSocketMessages is neither sent nor received",
    many: "entries of _webSocketMessages are neither sent nor received",
};

const NO_MESSAGE: Words = Words {
    one: "entry of _webSocketMessages is a control frame, or of an unknown opcode",
    many: "entries of _webSocketMessages are control frames, or of an unknown opcode",
};

const NO_DATA: Words = Words {
    one: "message of a HAR has no data",
    many: "messages of a HAR have no data",
};

const NO_BASE64: Words = Words {
    one: "binary message of a HAR is not base64, and is left out",
    many: "binary messages of a HAR are not base64, and are left out",
};

const UNREADABLE_TIME: Words = Words {
    one: "message of a HAR has a time that is no number of seconds since 1970, and is taken without one",
    many: "messages of a HAR have times that are no number of seconds since 1970, and are taken without them",
};

impl WrittenMessage {
    /// The message; or what it is instead.
    fn into_message(self, connection: u32) -> Result<Message, Words> {
        let direction = direction(self.way.as_str()).ok_or(NO_DIRECTION)?;
        let data = self.data.0.ok_or(NO_DATA)?;
        let (kind, payload) = match self.opcode.whole() {
            Some(1) => (kind_of(&data), data),
            Some(2) => {
                let octets = decode_in_place(data).ok_or(NO_BASE64)?;
                (Kind::Binary, octets)
            }
            _ => return Err(NO_MESSAGE),
        };
        Ok(Message {
            direction,
            at: match self.time {
                Moment::At(at) => Some(at),
                Moment::Absent | Moment::Unreadable => None,
            },
            kind,
            connection,
            payload: payload.into(),
        })
    }
}
