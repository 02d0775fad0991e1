//! Reads the messages that a log holds in its lines, from where a [`LogMapping`] says their parts are.
//!
//! A log has lines of other things too: what holds no message is left out and counted. What holds one whose direction is not understood is an
//! error, since a guess would put it into the wrong stream.

use super::json_members::{Members, scalar_text};
use super::lines::Lines;
use super::log_mapping::{DIRECTIONS, FieldMapping, LineParts, LogMapping, Pattern, direction, time};
use super::{Direction, Message, ReadError, Reader, Reading, TranscriptError};
use crate::reading::excerpt::shortened;
use crate::reading::note::{NoteCounter, Plural};
use lastmile_codec::message::Kind;
use std::collections::BTreeMap;
use std::io::BufRead;

/// The messages of the lines of a log.
pub(super) struct LogLines<R> {
    lines: Lines<R>,
    mapping: LogMapping,
    /// The direction of the server's messages.
    server_sends: Direction,
    /// The number of each connection, by what the log calls it: they are counted from 0.
    connections: BTreeMap<String, u32>,
}

impl<R: BufRead> LogLines<R> {
    pub(super) fn new(from: R, name: &str, reading: Reading, mapping: LogMapping, server_sends: Direction) -> Self {
        Self {
            lines: Lines::new(from, name, reading),
            mapping,
            server_sends,
            connections: BTreeMap::new(),
        }
    }

    /// The message of the line read last; or a note on why it is none.
    fn message(&mut self, parts: LineParts, notes: &mut NoteCounter) -> Result<Result<Message, Plural>, ReadError> {
        let position = format!("line {}", self.lines.number);
        let names = self.mapping.names();
        let reading = self.lines.reading;
        let direction = match (&names.direction, parts.direction) {
            (None, _) => reading.direction,
            (Some(_), None) => return Ok(Err(NO_DIRECTION)),
            (Some(name), Some(text)) => direction(&text, self.server_sends).ok_or_else(|| {
                let problem = format!(
                    "{name:?} is {:?}, which is not understood as a direction",
                    shortened(&text)
                );
                let remedy = format!("write {DIRECTIONS}");
                ReadError::Message(
                    self.lines
                        .with_position(TranscriptError::new(&self.lines.name, problem, remedy)),
                )
            })?,
        };
        let connection = match (&names.connection, parts.connection) {
            (None, _) => 0,
            (Some(_), None) => return Ok(Err(NO_CONNECTION)),
            (Some(_), Some(text)) => {
                let next = u32::try_from(self.connections.len()).unwrap_or(u32::MAX);
                *self.connections.entry(text).or_insert(next)
            }
        };
        let at = names.time.as_ref().and_then(|name| {
            let at = parts.time.and_then(|text| time(name, &text));
            if at.is_none() {
                notes.count(NO_TIME, &position);
            }
            at
        });
        let length = parts.payload.len() as u64;
        if length > reading.largest_message.get() {
            return Err(self.lines.too_large(length));
        }
        Ok(Ok(Message {
            direction,
            at,
            kind: Kind::Text,
            connection,
            payload: parts.payload.into(),
        }))
    }
}

impl<R: BufRead> Reader for LogLines<R> {
    fn next(&mut self, notes: &mut NoteCounter) -> Result<Option<Message>, ReadError> {
        let most = self.lines.reading.json_size_max();
        while let Some(line) = self.lines.next(most)? {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let parts = match &self.mapping {
                LogMapping::Fields(fields) => fields.parts(line),
                LogMapping::Pattern(pattern) => pattern.parts(line),
            };
            let read = match parts {
                Ok(parts) => self.message(parts, notes)?,
                Err(why_not) => Err(why_not),
            };
            match read {
                Ok(message) => return Ok(Some(message)),
                Err(why_not) => notes.count(why_not, &format!("line {}", self.lines.number)),
            }
        }
        Ok(None)
    }
}

impl FieldMapping {
    fn parts(&self, line: &[u8]) -> Result<LineParts, Plural> {
        let members: Members = serde_json::from_slice(line).map_err(|_| NO_OBJECT)?;
        let text = |path: &Option<String>| members.find(path.as_deref()?).and_then(scalar_text);
        let payload = members.find(&self.payload).ok_or(NO_PAYLOAD)?;
        let payload = match payload.get() {
            "null" => return Err(NO_PAYLOAD),
            text if text.starts_with('"') => serde_json::from_str(text).map_err(|_| NO_OBJECT)?,
            value => value.to_owned(),
        };
        Ok(LineParts {
            payload,
            direction: text(&self.direction),
            connection: text(&self.connection),
            time: text(&self.time),
        })
    }
}

impl Pattern {
    fn parts(&self, line: &[u8]) -> Result<LineParts, Plural> {
        let captured = std::str::from_utf8(line).ok().and_then(|line| self.capture(line));
        captured.ok_or(NO_MATCH)
    }
}

const NO_OBJECT: Plural = Plural {
    one: "line is not a JSON object, and is left out",
    many: "lines are not JSON objects, and are left out",
};

const NO_PAYLOAD: Plural = Plural {
    one: "line does not have the field of the payload, and is left out",
    many: "lines do not have the field of the payload, and are left out",
};

const NO_MATCH: Plural = Plural {
    one: "line does not match the regular expression, and is left out",
    many: "lines do not match the regular expression, and are left out",
};

const NO_DIRECTION: Plural = Plural {
    one: "line has a payload but no direction, and is left out",
    many: "lines have a payload but no direction, and are left out",
};

const NO_CONNECTION: Plural = Plural {
    one: "line has a payload but no connection, and is left out",
    many: "lines have a payload but no connection, and are left out",
};

const NO_TIME: Plural = Plural {
    one: "message has no time that is a number or a date, and is read without it",
    many: "messages have no time that is a number or a date, and are read without it",
};
