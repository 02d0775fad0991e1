//! One log record as an event that has no place in a sequence yet.

use lastmile_events::event::{FIELDS_MAX, NAME_LENGTH_MAX, TEXT_LENGTH_MAX};
use lastmile_events::line::Line;
use lastmile_events::{Subject, Timestamp, Value};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use serde_json::Value as Json;
use std::fmt::Write as _;

/// The subject of a record without an event name.
const SUBJECT: &str = "log";
/// The attribute that held the event name before records had a field for it.
const EVENT_NAME: &str = "event.name";
/// The field that counts what does not fit into an event.
const LEFT_OUT: &str = "left_out";

/// The records of a request, each with its resource and scope.
pub(crate) fn lines(request: ExportLogsServiceRequest) -> Vec<Line> {
    let mut lines = Vec::new();
    for resource_logs in request.resource_logs {
        let resource = resource_logs
            .resource
            .map(|resource| resource.attributes)
            .unwrap_or_default();
        for scope_logs in resource_logs.scope_logs {
            let scope = scope_logs.scope.map(|scope| scope.name).unwrap_or_default();
            lines.extend(
                scope_logs
                    .log_records
                    .into_iter()
                    .map(|record| line(record, &scope, &resource)),
            );
        }
    }
    lines
}

fn line(record: LogRecord, scope: &str, resource: &[KeyValue]) -> Line {
    let mut fields = Fields::default();
    if record.severity_text.is_empty() && record.severity_number != 0 {
        fields.push("severity", Value::Integer(record.severity_number.into()));
    } else {
        fields.push_text("severity", record.severity_text);
    }
    fields.push_any("body", record.body.and_then(|body| body.value));
    let mut name = record.event_name;
    for attribute in record.attributes {
        let value = attribute.value.and_then(|value| value.value);
        match value {
            Some(AnyValue::StringValue(text)) if attribute.key == EVENT_NAME && name.is_empty() => name = text,
            value => fields.push_any(&attribute.key, value),
        }
    }
    fields.push_text("scope", scope.to_owned());
    fields.push_text("trace_id", hexadecimal(&record.trace_id));
    fields.push_text("span_id", hexadecimal(&record.span_id));
    for attribute in resource {
        let value = attribute.value.as_ref().and_then(|value| value.value.clone());
        fields.push_any(&format!("resource.{}", attribute.key), value);
    }
    fields.left_out += u64::from(record.dropped_attributes_count);
    // The observed time stands in where the event's own is unknown, as the data model has it.
    let time = [record.time_unix_nano, record.observed_time_unix_nano]
        .into_iter()
        .find(|time| *time > 0);
    Line {
        time: time.map(|time| Timestamp::from_unix_nanoseconds(i64::try_from(time).unwrap_or(i64::MAX))),
        subject: subject(&name),
        fields: fields.finish(),
    }
}

/// An event name as a subject: characters that tokens do not have become `_`.
fn subject(name: &str) -> Subject {
    let of_token = |token: &str| -> String {
        let refused = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '=' | '*' | '>');
        token.chars().map(|c| if refused(c) { '_' } else { c }).collect()
    };
    let tokens: Vec<String> = name
        .split('.')
        .filter(|token| !token.is_empty())
        .map(of_token)
        .collect();
    Subject::new(tokens.join(".").trim_start_matches('_'))
        .unwrap_or_else(|_| Subject::new(SUBJECT).expect("it is one word"))
}

/// The fields of an event, within its limits.
#[derive(Default)]
struct Fields {
    fields: Vec<(String, Value)>,
    /// How many fields or ends of texts did not fit.
    left_out: u64,
}

impl Fields {
    fn push(&mut self, name: &str, value: Value) {
        let is_name = |c: char| !(c.is_whitespace() || c.is_control() || matches!(c, '"' | '='));
        let fits = (1..=NAME_LENGTH_MAX).contains(&name.len()) && name.chars().all(is_name);
        // The last field is kept free for the count of what is left out.
        if fits && self.fields.len() < FIELDS_MAX - 1 {
            self.fields.push((name.to_owned(), value));
        } else {
            self.left_out += 1;
        }
    }

    /// A text that is not empty; an end beyond the limit is left out.
    fn push_text(&mut self, name: &str, mut text: String) {
        if text.len() > TEXT_LENGTH_MAX {
            text.truncate(text.floor_char_boundary(TEXT_LENGTH_MAX));
            self.left_out += 1;
        }
        if !text.is_empty() {
            self.push(name, Value::Text(text));
        }
    }

    fn push_any(&mut self, name: &str, value: Option<AnyValue>) {
        match value {
            None | Some(AnyValue::StringValueStrindex(_)) => {}
            Some(AnyValue::StringValue(text)) => self.push_text(name, text),
            Some(AnyValue::BoolValue(truth)) => self.push(name, Value::Boolean(truth)),
            Some(AnyValue::IntValue(number)) => self.push(name, Value::Integer(number)),
            Some(AnyValue::DoubleValue(number)) => self.push(name, Value::Float(number)),
            Some(other) => self.push_text(name, json(other).to_string()),
        }
    }

    fn finish(mut self) -> Vec<(String, Value)> {
        if self.left_out > 0 {
            let count = Value::Integer(self.left_out.min(i64::MAX as u64) as i64);
            self.fields.push((LEFT_OUT.to_owned(), count));
        }
        self.fields
    }
}

/// A list, a map or bytes as JSON; bytes are hexadecimal.
fn json(value: AnyValue) -> Json {
    let of = |value: Option<opentelemetry_proto::tonic::common::v1::AnyValue>| {
        value.and_then(|value| value.value).map_or(Json::Null, json)
    };
    match value {
        any_value::Value::StringValue(text) => text.into(),
        any_value::Value::BoolValue(truth) => truth.into(),
        any_value::Value::IntValue(number) => number.into(),
        any_value::Value::DoubleValue(number) => number.into(),
        any_value::Value::ArrayValue(array) => array.values.into_iter().map(|value| of(Some(value))).collect(),
        any_value::Value::KvlistValue(list) => {
            let members = list.values.into_iter().map(|pair| (pair.key, of(pair.value)));
            Json::Object(members.collect())
        }
        any_value::Value::BytesValue(bytes) => hexadecimal(&bytes).into(),
        any_value::Value::StringValueStrindex(_) => Json::Null,
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
