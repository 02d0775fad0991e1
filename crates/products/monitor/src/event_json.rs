//! Events as JSON, one a line: written, and read back.

use crate::cursor::Cursor;
use lastmile_events::{EventView, Value};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;
use std::io::Write as _;

/// An event of an answer, as [`write_event`] wrote it.
#[derive(Debug, Deserialize)]
pub struct EventLine<'a> {
    pub sequence: u64,
    /// The events that it stands for: one, or those that a loss event states as lost.
    #[serde(default = "one")]
    pub span: u64,
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    #[serde(borrow)]
    pub subject: Cow<'a, str>,
    /// Unix time in nanoseconds.
    pub time_ns: i64,
    pub fields: Map<String, Json>,
}

const fn one() -> u64 {
    1
}

/// The last line of an answer to a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerEnd {
    /// Whether nothing that was asked for is damaged, deleted or lost.
    pub complete: bool,
    /// Where the next query goes on.
    pub cursor: String,
    pub events: u64,
}

impl<'a> EventLine<'a> {
    /// The event of a line; `None` for a line that says something else.
    ///
    /// # Errors
    /// When the line is not JSON.
    pub fn parse(line: &'a str) -> serde_json::Result<Option<Self>> {
        serde_json::from_str(line)
            .map(Some)
            .or_else(|_| serde_json::from_str::<IgnoredAny>(line).map(|_| None))
    }
}

impl AnswerEnd {
    /// The end that a line states; `None` for any other line.
    pub fn parse(line: &str) -> Option<Self> {
        if !line.starts_with("{\"end\":") {
            return None;
        }
        let mut line: Json = serde_json::from_str(line).ok()?;
        serde_json::from_value(line["end"].take()).ok()
    }

    /// The line that states this end.
    pub(crate) fn to_json(&self) -> Json {
        json!({ "end": self })
    }
}

/// Writes an event as JSON, with its members in the order of the alphabet and without a line's end. `cursor` is the place after it; `time_ns` is Unix time in
/// nanoseconds; a loss event has `span`, the count of lost events. Numbers that JSON does not have (NaN, the infinities) become texts.
pub fn write_event(out: &mut Vec<u8>, event: &EventView<'_>, cursor: Cursor) {
    // Writing to memory does not fail, here and below.
    let _ = write!(out, "{{\"cursor\":\"{cursor}\",\"fields\":{{");
    for (at, (name, value)) in sorted(&event.fields).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_text(out, name);
        out.push(b':');
        let _ = match value {
            Value::Integer(number) => write!(out, "{number}"),
            Value::Float(number) if number.is_finite() => serde_json::to_writer(&mut *out, &number).map_err(Into::into),
            Value::Float(number) => write!(out, "\"{number}\""),
            Value::Boolean(truth) => write!(out, "{truth}"),
            Value::Text(text) => {
                write_text(out, text);
                Ok(())
            }
        };
    }
    let _ = write!(out, "}},\"sequence\":{},\"source\":", event.sequence);
    write_text(out, &event.source.to_string());
    if event.span > 1 {
        let _ = write!(out, ",\"span\":{}", event.span);
    }
    out.extend_from_slice(b",\"subject\":");
    write_text(out, event.subject);
    let _ = write!(out, ",\"time_ns\":{}}}", event.time.unix_nanoseconds());
}

/// By name, as JSON libraries sort members; of two with one name the later one.
fn sorted<'a>(fields: &'a [(&'a str, Value<&'a str>)]) -> impl Iterator<Item = (&'a str, Value<&'a str>)> {
    let in_order = fields.is_sorted_by(|a, b| a.0 < b.0);
    let mut fields = fields.to_vec();
    if !in_order {
        fields.sort_by_key(|(name, _)| *name);
        fields.reverse();
        fields.dedup_by_key(|(name, _)| *name);
        fields.reverse();
    }
    fields.into_iter()
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        let _ = serde_json::to_writer(out, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_events::line::bare_value;
    use lastmile_events::{ChunkBuilder, Event, Source, Timestamp};
    use proptest::prelude::*;

    /// What is written, by a library.
    fn event_to_json(event: &Event, cursor: Cursor) -> Json {
        let fields: Map<String, Json> = event
            .fields
            .iter()
            .map(|(name, value)| (name.clone(), value_to_json(value)))
            .collect();
        let mut json = json!({
            "cursor": cursor.to_string(),
            "source": event.source.to_string(),
            "sequence": event.sequence,
            "time_ns": event.time.unix_nanoseconds(),
            "subject": event.subject.as_str(),
            "fields": fields,
        });
        if event.span > 1 {
            json["span"] = event.span.into();
        }
        json
    }

    fn value_to_json(value: &Value) -> Json {
        match value {
            Value::Integer(number) => (*number).into(),
            Value::Float(number) => {
                serde_json::Number::from_f64(*number).map_or_else(|| Json::String(number.to_string()), Json::Number)
            }
            Value::Boolean(truth) => (*truth).into(),
            Value::Text(text) => text.as_str().into(),
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<i64>().prop_map(Value::Integer),
            any::<f64>().prop_map(Value::Float),
            any::<bool>().prop_map(Value::Boolean),
            ".{0,20}".prop_map(Value::Text),
        ]
    }

    proptest! {
        #[test]
        fn a_bare_number_is_printed_as_it_was_written(number: f64, exponent in -30..30) {
            for number in [number, 10_f64.powi(exponent), 1.5 * 10_f64.powi(exponent)] {
                for text in [format!("{number:?}"), number.to_string(), format!("{number:e}"), Json::from(number).to_string()] {
                    match bare_value(&text) {
                        Value::Text(kept) => prop_assert_eq!(kept, text),
                        value if number.is_finite() => prop_assert_eq!(value_to_json(&value).to_string(), text),
                        _ => {}
                    }
                }
            }
        }

        #[test]
        fn what_is_written_is_the_json_of_the_event(time: i64, position: u64, fields in prop::collection::vec(("[a-c]{1,2}|.{1,5}", value()), 0..6)) {
            let mut builder = ChunkBuilder::new(Source::new("a\"b", 7).unwrap(), 3);
            let borrowed = fields.iter().map(|(name, value)| (name.as_str(), value.borrowed()));
            builder.push(Timestamp::from_unix_nanoseconds(time), "a.b", borrowed).unwrap();
            let event = builder.finish().unwrap().events().next().unwrap();
            let cursor = Cursor { epoch: 5, position };
            let mut written = Vec::new();
            write_event(&mut written, &event.view(), cursor);
            prop_assert_eq!(String::from_utf8(written).unwrap(), event_to_json(&event, cursor).to_string());
        }
    }
}
