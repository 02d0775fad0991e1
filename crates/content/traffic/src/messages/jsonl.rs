//! Reads and writes messages as lines of JSON, one per line. They are read strictly, since they are written for lastmile.
//!
//! | key | value |
//! | --- | --- |
//! | `direction` | `"sent"` or `"received"` (or `"send"`, `"receive"`); the direction that the reader is given where absent |
//! | `time_ms` | when it was sent or received, in milliseconds from any common zero; to the microsecond |
//! | `opcode` | `"text"` or 1, `"binary"` or 2; text where absent, and binary with `payload_base64` |
//! | `connection` | a number, the same for all messages of a connection; 0 where absent |
//! | `payload` or `payload_base64` | the content, as text or as base64; one of them is required |
//!
//! A key whose value is null counts as absent. Empty lines are skipped. [`write()`] writes such lines.

use super::detect_log::{Proposal, propose_for_object};
use super::keys::{EXAMPLE, KEYS};
use super::lines::Lines;
use super::{Direction, Message, ReadError, Reader, Reading, TranscriptError};
use crate::reading::base64::decode_in_place;
use crate::reading::json_lines::{self, JsonLine};
use crate::reading::json_value::JsonValue;
use crate::reading::lenient::microseconds;
use crate::reading::note::NoteCounter;
use crate::reading::strict::{explain_line, set_as};
use base64::Engine;
use lastmile_codec::message::Kind;
use serde::de::MapAccess;
use std::io::{self, BufRead, Write};
use std::time::Duration;

/// The messages of lines of JSON.
pub(super) struct JsonLines<R> {
    lines: Lines<R>,
    /// Where the parts of a message seem to be in a line that is not written so.
    proposal: Option<Proposal>,
}

impl<R: BufRead> JsonLines<R> {
    pub(super) fn new(from: R, name: &str, reading: Reading) -> Self {
        Self {
            lines: Lines::new(from, name, reading),
            proposal: None,
        }
    }
}

impl<R: BufRead> Reader for JsonLines<R> {
    fn next(&mut self, _: &mut NoteCounter) -> Result<Option<Message>, ReadError> {
        let Self { lines, proposal } = self;
        let reading = lines.reading;
        while let Some(line) = lines.next(reading.json_size_max())? {
            let parsed = json_lines::parse::<Line>(line);
            if parsed.is_err() && proposal.is_none() {
                *proposal = propose_for_object(line);
            }
            let parsed =
                parsed.map_err(|error| ReadError::Message(explain_line(&error, &lines.name, lines.number, EXAMPLE)))?;
            let Some(line) = parsed else {
                continue;
            };
            let refuse = |problem| {
                let error = TranscriptError::new(&lines.name, problem, EXAMPLE);
                ReadError::Message(lines.with_position(error))
            };
            let message = line.into_message(reading.direction).map_err(refuse)?;
            let length = message.payload.len() as u64;
            if length > reading.largest_message.get() {
                return Err(lines.too_large(length));
            }
            return Ok(Some(message));
        }
        Ok(None)
    }

    fn line(&self) -> Option<usize> {
        Some(self.lines.number)
    }

    fn proposal(&self) -> Option<&Proposal> {
        self.proposal.as_ref()
    }
}

/// A line as written. A key that is present but null is `Some(None)`.
#[derive(Default)]
struct Line {
    direction: Option<Option<Direction>>,
    at: Option<Option<Duration>>,
    opcode: Option<Option<Kind>>,
    connection: Option<Option<u32>>,
    payload: Option<Option<String>>,
    payload_base64: Option<Option<String>>,
}

impl JsonLine for Line {
    const KEYS: &'static [&'static str] = &KEYS;
    const EXPECTED: &'static str = "an object, one message";

    fn read_key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        const TIME: &str = "a number of milliseconds, from 0 to 126 years";
        match key {
            "direction" => set_as(&mut self.direction, key, map, "\"sent\" or \"received\"", |value| {
                let text = value.text()?;
                direction(&text).ok_or(JsonValue::Text(text))
            })?,
            "time_ms" => set_as(&mut self.at, key, map, TIME, |value| {
                let time = value.number()?;
                microseconds(time * 1e3).ok_or(JsonValue::Number(time))
            })?,
            "opcode" => set_as(&mut self.opcode, key, map, "\"text\", 1, \"binary\" or 2", opcode)?,
            "connection" => {
                let wanted = "a whole number from 0 to 4294967295";
                set_as(&mut self.connection, key, map, wanted, |value| match value {
                    JsonValue::Count(count) => u32::try_from(count).map_err(|_| value),
                    other => Err(other),
                })?;
            }
            "payload" => set_as(&mut self.payload, key, map, "a text", JsonValue::text)?,
            "payload_base64" => set_as(&mut self.payload_base64, key, map, "a text in base64", JsonValue::text)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A direction as tools write it.
pub(super) fn direction(text: &str) -> Option<Direction> {
    match text {
        "sent" | "send" => Some(Direction::Sent),
        "received" | "receive" => Some(Direction::Received),
        _ => None,
    }
}

/// The type of an opcode, given as a number or a word.
fn opcode(value: JsonValue) -> Result<Kind, JsonValue> {
    match &value {
        JsonValue::Count(1) => Ok(Kind::Text),
        JsonValue::Count(2) => Ok(Kind::Binary),
        JsonValue::Text(text) if text == "text" => Ok(Kind::Text),
        JsonValue::Text(text) if text == "binary" => Ok(Kind::Binary),
        _ => Err(value),
    }
}

impl Line {
    fn into_message(self, usual: Direction) -> Result<Message, String> {
        let (payload, usual_kind) = match (self.payload.flatten(), self.payload_base64.flatten()) {
            (Some(text), None) => (text.into_bytes(), Kind::Text),
            (None, Some(text)) => {
                let bytes = decode_in_place(text.into_bytes()).ok_or("\"payload_base64\" is not base64")?;
                (bytes, Kind::Binary)
            }
            (None, None) => return Err("one of \"payload\" or \"payload_base64\" is required".to_owned()),
            (Some(_), Some(_)) => {
                return Err("only one of \"payload\" and \"payload_base64\" is allowed".to_owned());
            }
        };
        let kind = self.opcode.flatten().unwrap_or(usual_kind);
        if kind == Kind::Text
            && let Err(error) = std::str::from_utf8(&payload)
        {
            let valid = error.valid_up_to();
            return Err(format!(
                "a text message must be UTF-8, but this one is not from byte {valid} on"
            ));
        }
        Ok(Message {
            direction: self.direction.flatten().unwrap_or(usual),
            at: self.at.flatten(),
            kind,
            connection: self.connection.flatten().unwrap_or(0),
            payload: payload.into(),
        })
    }
}

/// Writes messages as lines of JSON. They read back equal, except that times are cut to the microsecond and text that is not UTF-8 becomes binary.
///
/// # Errors
/// When writing to `to` fails.
pub fn write<'a>(messages: impl IntoIterator<Item = &'a Message>, mut to: impl Write) -> io::Result<()> {
    for message in messages {
        let direction = match message.direction {
            Direction::Sent => "sent",
            Direction::Received => "received",
        };
        write!(to, r#"{{"direction":"{direction}""#)?;
        if let Some(at) = message.at {
            write!(to, r#","time_ms":{}.{:03}"#, at.as_millis(), at.subsec_micros() % 1000)?;
        }
        write!(to, r#","connection":{},"#, message.connection)?;
        match (message.kind, std::str::from_utf8(&message.payload)) {
            (Kind::Text, Ok(text)) => writeln!(to, r#""opcode":"text","payload":{}}}"#, serde_json::Value::from(text))?,
            _ => {
                let coded = base64::engine::general_purpose::STANDARD.encode(&message.payload);
                writeln!(to, r#""opcode":"binary","payload_base64":"{coded}"}}"#)?;
            }
        }
    }
    Ok(())
}
