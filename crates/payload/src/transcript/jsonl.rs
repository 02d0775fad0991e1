//! What do lines of JSON say of messages? One a line, read strictly: whoever writes these wrote them for lastmile.
//!
//! | key | value |
//! | --- | --- |
//! | `direction` | `"sent"` or `"received"` (or `"send"`, `"receive"`); the reading's where absent |
//! | `time_ms` | when it went, in milliseconds from any common zero; to the microsecond |
//! | `opcode` | `"text"` or 1, `"binary"` or 2; text where absent, and binary with `payload_base64` |
//! | `connection` | a number, the same for all messages of a connection; 0 where absent |
//! | `payload` or `payload_base64` | what it holds, as text or as base64; one of them is required |
//!
//! Empty lines are passed over. [`write()`] gives such lines.

use super::lines::Lines;
use super::{Direction, Kind, Message, Reader, Reading, TranscriptError, Trouble};
use crate::source::base64::decode_in_place;
use crate::source::lenient::microseconds;
use crate::source::remark::Tally;
use crate::source::strict::{explain_line, set, unknown_key};
use base64::Engine;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Unexpected, Visitor};
use std::fmt;
use std::io::{self, BufRead, Write};

/// The keys of a line.
pub(super) const KEYS: [&str; 6] = [
    "direction",
    "time_ms",
    "opcode",
    "connection",
    "payload",
    "payload_base64",
];

pub(super) const EXAMPLE: &str = r#"write a line like {"direction": "sent", "time_ms": 12.5, "opcode": "text", "connection": 0, "payload": "…"}, or say that the format is text, if each line as it stands is a message"#;

/// The messages of lines of JSON.
pub(super) struct JsonLines<R>(Lines<R>);

impl<R: BufRead> JsonLines<R> {
    pub(super) fn new(from: R, name: &str, reading: Reading) -> Self {
        Self(Lines::new(from, name, reading))
    }
}

impl<R: BufRead> Reader for JsonLines<R> {
    fn next(&mut self, _: &mut Tally) -> Result<Option<Message>, Trouble> {
        let Self(lines) = self;
        let reading = lines.reading;
        while let Some(line) = lines.next(reading.most_json())? {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let line: Line = serde_json::from_slice(line)
                .map_err(|error| Trouble::Message(explain_line(&error, &lines.name, lines.number, EXAMPLE)))?;
            let refuse = |problem| {
                let error = TranscriptError::new(&lines.name, problem, EXAMPLE);
                Trouble::Message(lines.placed(error))
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
}

/// A line as written.
#[derive(Default)]
struct Line {
    direction: Option<Direction>,
    time_ms: Option<f64>,
    opcode: Option<Opcode>,
    connection: Option<u32>,
    payload: Option<String>,
    payload_base64: Option<String>,
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Line;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object, one message")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
                let mut line = Line::default();
                let mut direction: Option<Written> = None;
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "direction" => set(&mut direction, &key, &mut map)?,
                        "time_ms" => set(&mut line.time_ms, &key, &mut map)?,
                        "opcode" => set(&mut line.opcode, &key, &mut map)?,
                        "connection" => set(&mut line.connection, &key, &mut map)?,
                        "payload" => set(&mut line.payload, &key, &mut map)?,
                        "payload_base64" => set(&mut line.payload_base64, &key, &mut map)?,
                        other => return Err(A::Error::custom(unknown_key(&KEYS, other))),
                    }
                }
                line.direction = direction.map(|written| written.0);
                Ok(line)
            }
        }
        from.deserialize_map(Fields)
    }
}

/// A direction, in either way to write it.
struct Written(Direction);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let expected = &"\"sent\" or \"received\"";
        direction(&text)
            .map(Self)
            .ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), expected))
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

/// An opcode, as a number or a word.
struct Opcode(Kind);

impl<'de> Deserialize<'de> for Opcode {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct WordOrNumber;
        impl Visitor<'_> for WordOrNumber {
            type Value = Opcode;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"text\", 1, \"binary\" or 2")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Opcode, E> {
                match text {
                    "text" => Ok(Opcode(Kind::Text)),
                    "binary" => Ok(Opcode(Kind::Binary)),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Opcode, E> {
                match number {
                    1 => Ok(Opcode(Kind::Text)),
                    2 => Ok(Opcode(Kind::Binary)),
                    _ => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
                }
            }
        }
        from.deserialize_any(WordOrNumber)
    }
}

impl Line {
    fn into_message(self, usual: Direction) -> Result<Message, String> {
        let (payload, usual_kind) = match (self.payload, self.payload_base64) {
            (Some(text), None) => (text.into_bytes(), Kind::Text),
            (None, Some(text)) => {
                let octets = decode_in_place(text.into_bytes()).ok_or("\"payload_base64\" is not base64")?;
                (octets, Kind::Binary)
            }
            (None, None) => return Err("one of \"payload\" and \"payload_base64\" is missing".to_owned()),
            (Some(_), Some(_)) => {
                return Err("only one of \"payload\" and \"payload_base64\" may be there".to_owned());
            }
        };
        let kind = self.opcode.map_or(usual_kind, |opcode| opcode.0);
        if kind == Kind::Text
            && let Err(error) = std::str::from_utf8(&payload)
        {
            let valid = error.valid_up_to();
            return Err(format!(
                "a message of text is UTF-8, and this is not from octet {valid} on"
            ));
        }
        let at = self.time_ms.map(|time| {
            microseconds(time * 1e3)
                .ok_or_else(|| format!("\"time_ms\" is {time}, which is no time from 0 to 126 years"))
        });
        Ok(Message {
            direction: self.direction.unwrap_or(usual),
            at: at.transpose()?,
            kind,
            connection: self.connection.unwrap_or(0),
            payload: payload.into(),
        })
    }
}

/// Writes messages as lines of JSON, which read back as they were, save that times are cut to the microsecond, and that text which is not UTF-8 is binary.
///
/// # Errors
/// When `to` does not take them.
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
