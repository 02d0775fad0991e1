//! Records become events, within the limits of events, and hostile bytes are refused.

use super::{Format, REQUEST_SIZE_MAX};
use lastmile_codec::content::{CodecSpec, Coding, encode};
use lastmile_events::event::FIELDS_MAX;
use lastmile_events::{Timestamp, Value};
use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsServiceRequest, ExportLogsServiceResponse};
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::common::v1::{self as common, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use proptest::prelude::*;
use prost::Message as _;

fn attribute(key: &str, value: AnyValue) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(common::AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

fn request(record: LogRecord) -> ExportLogsServiceRequest {
    let resource = Resource {
        attributes: vec![attribute("service.name", AnyValue::StringValue("shop".into()))],
        ..Resource::default()
    };
    let scope_logs = ScopeLogs {
        log_records: vec![record],
        ..ScopeLogs::default()
    };
    ExportLogsServiceRequest {
        resource_logs: vec![ResourceLogs {
            resource: Some(resource),
            scope_logs: vec![scope_logs],
            ..ResourceLogs::default()
        }],
    }
}

fn order() -> LogRecord {
    LogRecord {
        time_unix_nano: 12,
        severity_text: "WARN".into(),
        event_name: "order.paid late".into(),
        body: Some(common::AnyValue {
            value: Some(AnyValue::StringValue("paid".into())),
        }),
        attributes: vec![
            attribute("seconds", AnyValue::DoubleValue(2.5)),
            attribute("items", AnyValue::IntValue(3)),
            attribute(
                "tags",
                AnyValue::ArrayValue(common::ArrayValue {
                    values: vec![common::AnyValue {
                        value: Some(AnyValue::BoolValue(true)),
                    }],
                }),
            ),
        ],
        trace_id: vec![0xab; 2],
        ..LogRecord::default()
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn a_record_becomes_an_event_from_protobuf_compressed_or_not_and_from_json() {
    let request = request(order());
    let protobuf = request.encode_to_vec();
    let gzip = encode(CodecSpec::with_default_level(Coding::Gzip), &protobuf);
    let json = serde_json::to_vec(&request).unwrap();
    let expected = [
        ("severity".to_owned(), text("WARN")),
        ("body".to_owned(), text("paid")),
        ("seconds".to_owned(), Value::Float(2.5)),
        ("items".to_owned(), Value::Integer(3)),
        ("tags".to_owned(), text("[true]")),
        ("trace_id".to_owned(), text("abab")),
        ("resource.service.name".to_owned(), text("shop")),
    ];
    for (format, coding, body) in [
        (Format::Protobuf, None, &protobuf),
        (Format::Protobuf, Some("gzip"), &gzip),
        (Format::Json, None, &json),
    ] {
        let lines = format.read_request(coding, body).unwrap();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].subject.as_str(), "order.paid_late");
        assert_eq!(lines[0].time, Some(Timestamp::from_unix_nanoseconds(12)));
        assert_eq!(lines[0].fields, expected, "{format:?}");
    }
}

#[test]
fn what_does_not_fit_into_an_event_is_counted_in_it() {
    let mut record = order();
    record.attributes = (0..100)
        .map(|number| attribute(&format!("a{number}"), AnyValue::IntValue(number)))
        .collect();
    record.dropped_attributes_count = 5;
    let lines = Format::Protobuf
        .read_request(None, &request(record).encode_to_vec())
        .unwrap();
    assert_eq!(lines[0].fields.len(), FIELDS_MAX);
    // Severity, body, 61 of 100 attributes; a trace and a resource beyond them.
    assert_eq!(
        lines[0].fields.last().unwrap(),
        &("left_out".to_owned(), Value::Integer(39 + 2 + 5))
    );
}

#[test]
fn a_name_that_is_no_subject_gives_the_subject_log() {
    for (name, subject) in [("", "log"), ("...", "log"), ("_loss", "loss"), ("a..b>c", "a.b_c")] {
        let record = LogRecord {
            event_name: name.to_owned(),
            ..LogRecord::default()
        };
        let lines = Format::Protobuf
            .read_request(None, &request(record).encode_to_vec())
            .unwrap();
        assert_eq!(lines[0].subject.as_str(), subject, "{name}");
    }
}

#[test]
fn a_refused_request_says_what_is_wrong_with_it() {
    let refusal = |format: Format, coding, body: &[u8]| format.read_request(coding, body).unwrap_err().to_string();
    assert!(refusal(Format::Protobuf, Some("snappy"), b"").contains("Content-Encoding \"snappy\""));
    assert!(refusal(Format::Protobuf, None, &[0xff; 9]).contains("as protobuf"));
    assert!(refusal(Format::Json, None, b"{").contains("as JSON"));
    let bomb = encode(
        CodecSpec::with_default_level(Coding::Gzip),
        &vec![0; REQUEST_SIZE_MAX.get() as usize + 1],
    );
    assert!(refusal(Format::Protobuf, Some("gzip"), &bomb).contains("the compressed request"));
    let refused = Format::from_content_type("text/plain").unwrap_err().to_string();
    assert!(refused.contains("application/x-protobuf"), "{refused}");
    assert_eq!(
        Format::from_content_type("application/JSON; charset=utf-8").unwrap(),
        Format::Json
    );
}

#[test]
fn a_response_counts_what_was_not_kept() {
    assert_eq!(Format::Protobuf.write_response(0), b"");
    let json: serde_json::Value = serde_json::from_slice(&Format::Json.write_response(7)).unwrap();
    assert_eq!(json["partialSuccess"]["rejectedLogRecords"], 7);
    let response = ExportLogsServiceResponse::decode(Format::Protobuf.write_response(7).as_slice()).unwrap();
    assert_eq!(response.partial_success.unwrap().rejected_log_records, 7);
}

proptest! {
    #[test]
    fn any_bytes_are_a_request_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5)) {
        for format in [Format::Protobuf, Format::Json] {
            let _ = format.read_request(None, &bytes);
            let _ = format.read_request(Some("gzip"), &bytes);
        }
        let mut damaged = request(order()).encode_to_vec();
        for (at, byte) in changes {
            let at = at.index(damaged.len());
            damaged[at] = byte;
        }
        let _ = Format::Protobuf.read_request(None, &damaged);
    }
}
