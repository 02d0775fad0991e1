//! The line protocol: one event a line, for shells and for languages that have no emitter.
//!
//! `[@NANOSECONDS ]SUBJECT[ NAME=VALUE]...`, for example `run.done cell=3 rate=2.5 ok=true text="a \"word\""`. A value is a whole number, a
//! number with a point or an exponent, `true`, `false`, a quoted text with `\"`, `\\`, `\n` and `\t`, or bare text without spaces and quotes. A
//! number that would not be printed as it was written is text: `0123`, `+49`, `1.10`, `1e16`.

use crate::chunk::EncodeError;
use crate::event::{FIELDS_MAX, NAME_LENGTH_MAX, TEXT_LENGTH_MAX};
use crate::subject::SubjectError;
use crate::{ChunkBuilder, Subject, Timestamp, Value};
use std::fmt::Write as _;
use thiserror::Error;

/// The longest line, in bytes.
pub const LINE_LENGTH_MAX: usize = 256 * 1024;

/// An event without a place in a sequence yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its time, where the line gives one.
    pub time: Option<Timestamp>,
    /// What it is about.
    pub subject: Subject,
    /// Its values by name.
    pub fields: Vec<(String, Value)>,
}

/// Why a line is no event.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LineError {
    /// Its subject is refused.
    #[error(transparent)]
    Subject(#[from] SubjectError),
    /// Its time is no number.
    #[error("time {text:?}: write @ and nanoseconds of Unix time, like @1767225600000000000")]
    Time {
        /// The text.
        text: String,
    },
    /// A field has no name, no `=` or no value.
    #[error(
        "column {column}: a field is NAME=VALUE, with a name of 1 to {NAME_LENGTH_MAX} bytes; quote values that have spaces"
    )]
    Field {
        /// Where, in bytes from 1.
        column: usize,
    },
    /// A name that the event has already.
    #[error("column {column}: the event has a field of this name already")]
    Twice {
        /// Where, in bytes from 1.
        column: usize,
    },
    /// It is no UTF-8.
    #[error("column {column}: this is no UTF-8")]
    Encoding {
        /// Where, in bytes from 1.
        column: usize,
    },
    /// A quoted text does not end, or has an unknown escape.
    #[error("column {column}: this text does not end in a quote, or has an escape other than \\\" \\\\ \\n \\t")]
    Quote {
        /// Where it begins, in bytes from 1.
        column: usize,
    },
    /// It passes a limit.
    #[error("an event has at most {FIELDS_MAX} fields, with texts of at most {TEXT_LENGTH_MAX} bytes")]
    TooLarge,
}

impl Line {
    /// Reads a line of foreign bytes, without its end.
    ///
    /// # Errors
    /// As [`Self::parse`], and where they are no UTF-8.
    pub fn from_bytes(line: &[u8]) -> Result<Self, LineError> {
        let text = std::str::from_utf8(line).map_err(|error| LineError::Encoding {
            column: error.valid_up_to() + 1,
        })?;
        Self::parse(text)
    }

    /// Reads a line, without its end.
    ///
    /// # Errors
    /// When it does not keep to the protocol; the message names the place.
    pub fn parse(line: &str) -> Result<Self, LineError> {
        let (mut rest, mut time) = (line.trim_ascii_start(), None);
        if let Some(timed) = rest.strip_prefix('@') {
            let (text, after) = timed.split_once(' ').unwrap_or((timed, ""));
            let nanoseconds = text.parse().map_err(|_| LineError::Time { text: text.to_owned() })?;
            time = Some(Timestamp::from_unix_nanoseconds(nanoseconds));
            rest = after.trim_ascii_start();
        }
        let (subject, mut rest) = rest.split_once(' ').unwrap_or((rest.trim_ascii_end(), ""));
        let subject = Subject::new(subject)?;
        let mut fields = Vec::new();
        loop {
            rest = rest.trim_ascii_start();
            if rest.is_empty() {
                return Ok(Self { time, subject, fields });
            }
            let column = line.len() - rest.len() + 1;
            let (name, after) = rest.split_once('=').ok_or(LineError::Field { column })?;
            let refused = |c: char| c.is_whitespace() || c.is_control() || c == '"';
            if name.is_empty() || name.len() > NAME_LENGTH_MAX || name.contains(refused) {
                return Err(LineError::Field { column });
            }
            if fields.iter().any(|(known, _)| known == name) {
                return Err(LineError::Twice { column });
            }
            let value = if let Some(quoted) = after.strip_prefix('"') {
                let column = line.len() - after.len() + 1;
                let (text, after) = unquote(quoted).ok_or(LineError::Quote { column })?;
                rest = after;
                Value::Text(text)
            } else {
                let (text, after) = after.split_once(' ').unwrap_or((after, ""));
                if text.is_empty() || text.contains(refused) {
                    return Err(LineError::Field { column });
                }
                rest = after;
                bare_value(text)
            };
            let too_long = matches!(&value, Value::Text(text) if text.len() > TEXT_LENGTH_MAX);
            if too_long || fields.len() == FIELDS_MAX {
                return Err(LineError::TooLarge);
            }
            fields.push((name.to_owned(), value));
        }
    }
}

impl Line {
    /// Appends the event to a chunk. It happened `now` where its line gives no time.
    ///
    /// # Errors
    /// As [`ChunkBuilder::push`].
    pub fn push(&self, builder: &mut ChunkBuilder, now: Timestamp) -> Result<(), EncodeError> {
        let fields = self.fields.iter();
        let fields = fields.map(|(name, value)| (name.as_str(), value.borrowed()));
        builder.push(self.time.unwrap_or(now), self.subject.as_str(), fields)
    }
}

/// The event as a line, without its end. Texts are always quoted.
pub fn write<T: AsRef<str>>(time: Option<Timestamp>, subject: &Subject, fields: &[(String, Value<T>)]) -> String {
    let mut line = String::new();
    if let Some(time) = time {
        let _ = write!(line, "@{} ", time.unix_nanoseconds());
    }
    line.push_str(subject.as_str());
    for (name, value) in fields {
        let _ = match value {
            Value::Integer(number) => write!(line, " {name}={number}"),
            Value::Float(number) => write!(line, " {name}={}", float_text(*number)),
            Value::Boolean(truth) => write!(line, " {name}={truth}"),
            Value::Text(text) => write!(line, " {name}=\"{}\"", escape(text.as_ref())),
        };
    }
    line
}

/// The value of a text without quotes: a number only where it is printed as it was written.
pub fn bare_value(text: &str) -> Value {
    let number_like = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    match text {
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        _ if !number_like => Value::Text(text.to_owned()),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(whole), _) if whole.to_string() == text => Value::Integer(whole),
            (_, Ok(number)) if float_text(number) == text => Value::Float(number),
            _ => Value::Text(text.to_owned()),
        },
    }
}

/// A number as a query prints it in JSON.
fn float_text(number: f64) -> String {
    match number.abs() {
        size if size >= 1e16 => format!("{number:e}").replace('e', "e+"),
        size if (1e-5..1e-4).contains(&size) => format!("{number}"),
        _ => format!("{number:?}"),
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The text until the closing quote, and what follows it.
fn unquote(quoted: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((text, &quoted[at + 1..])),
            '\\' => text.push(match characters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                c @ ('"' | '\\') => c,
                _ => return None,
            }),
            c => text.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_has_a_time_a_subject_and_typed_values() {
        let line = Line::parse(r#"@12 run.done cell=3 rate=2.5 ok=true name=abc text="a \"b\"" v=-1000.0"#).unwrap();
        assert_eq!(line.time, Some(Timestamp::from_unix_nanoseconds(12)));
        assert_eq!(line.subject.as_str(), "run.done");
        let text = |text: &str| Value::Text(text.to_owned());
        let values: Vec<Value> = line.fields.into_iter().map(|(_, value)| value).collect();
        let expected = [
            Value::Integer(3),
            Value::Float(2.5),
            Value::Boolean(true),
            text("abc"),
            text("a \"b\""),
            Value::Float(-1000.0),
        ];
        assert_eq!(values, expected);
    }

    #[test]
    fn a_bare_value_is_printed_as_it_was_written() {
        for text in [
            "0123456789",
            "+491234",
            "1.10",
            "1e5",
            "1e16",
            "5e-5",
            "18446744073709551615",
            "-0",
            ".5",
            "5.",
            "007",
        ] {
            assert_eq!(bare_value(text), Value::Text(text.to_owned()));
        }
        assert_eq!(bare_value("-12"), Value::Integer(-12));
        assert_eq!(bare_value("0.5"), Value::Float(0.5));
        assert_eq!(bare_value("1e+16"), Value::Float(1e16));
    }

    #[test]
    fn a_refused_line_names_the_column() {
        assert_eq!(Line::parse("a.b x=1 x=2"), Err(LineError::Twice { column: 9 }));
        assert_eq!(Line::parse("run.done cell"), Err(LineError::Field { column: 10 }));
        assert_eq!(Line::parse("run.done a=1 b=\"x"), Err(LineError::Quote { column: 16 }));
        assert_eq!(Line::from_bytes(b"a.b x=\xff"), Err(LineError::Encoding { column: 7 }));
        assert!(matches!(Line::parse("@soon run"), Err(LineError::Time { .. })));
        assert!(matches!(Line::parse(""), Err(LineError::Subject(_))));
    }

    proptest! {
        #[test]
        fn a_line_is_read_as_it_was_written(time: Option<i64>, number: i64, float in -1e300..1e300f64, text in "\\PC{0,40}|[\n\t\"]{0,4}") {
            let subject = Subject::new("a.b").unwrap();
            let time = time.map(Timestamp::from_unix_nanoseconds);
            let fields = vec![
                ("i".to_owned(), Value::Integer(number)),
                ("f".to_owned(), Value::Float(float)),
                ("t".to_owned(), Value::Text(text)),
            ];
            let line = write(time, &subject, &fields);
            prop_assert_eq!(Line::parse(&line), Ok(Line { time, subject, fields }));
        }

        #[test]
        fn any_text_is_an_event_or_is_refused(text in "[ -~\\PC]{0,80}") {
            let _ = Line::parse(&text);
        }
    }
}
