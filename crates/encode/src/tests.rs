//! Comparisons of whole document sets.

use super::*;
use lastmile_document::same;
use lastmile_workload::access_log;
use serde_json::{Value, json};

fn log(count: usize) -> Documents {
    let line = |(at, line)| {
        let text = serde_json::to_string(line).expect("a log line is JSON");
        Document::parse(at, &text).expect("it is JSON")
    };
    Documents {
        documents: (1..).zip(&access_log::lines(count, Seed::new(1))).map(line).collect(),
        notes: Vec::new(),
    }
}

fn document(line: usize, value: &Value) -> Document {
    Document::parse(line, &value.to_string()).unwrap()
}

fn options() -> Options {
    Options {
        links: vec![(
            "published/dialup-56k".to_owned(),
            lastmile_link::resolve("published/dialup-56k").unwrap(),
        )],
        encodings: vec![Encoding::Json, Encoding::Xml, Encoding::Protobuf, Encoding::Ice],
        timed: false,
        ..Options::default()
    }
}

/// The order of the data set `log` of rust_serialization_benchmark (README of 2026-08-21), where the whole set is one message:
/// raw, protobuf 884,628, FlatBuffers 1,276,368, Cap'n Proto 1,443,216, JSON 1,827,461 bytes; after zstd, protobuf 314,959, JSON 360,727,
/// FlatBuffers 388,381, Cap'n Proto 426,532, packed 458,024 bytes.
#[test]
fn ten_thousand_log_lines_have_the_published_order_before_and_after_zstd() {
    let logs: Vec<Value> = log(10_000).documents.into_iter().map(|line| line.value).collect();
    let document = json!({ "logs": logs });
    let schema = infer([&document]);
    let sizes = |encoding| {
        let encoder = Encoder::new(encoding, &schema);
        let bytes = encoder.encode(&document).unwrap();
        assert!(
            same(&encoder.decode(&bytes).unwrap(), &document),
            "{}",
            encoding.label()
        );
        let zstd = lastmile_codec::content::encode("zstd:3".parse().unwrap(), &bytes);
        (bytes.len(), zstd.len())
    };
    let protobuf = sizes(Encoding::Protobuf);
    let flatbuffers = sizes(Encoding::FlatBuffers);
    let capnproto = sizes(Encoding::CapnProto);
    let packed = sizes(Encoding::CapnProtoPacked);
    let json = sizes(Encoding::Json);
    let found = format!(
        "protobuf {protobuf:?}, FlatBuffers {flatbuffers:?}, Cap'n Proto {capnproto:?}, packed {packed:?}, JSON {json:?}"
    );
    println!("{found}");
    assert!(
        protobuf.0 < flatbuffers.0 && flatbuffers.0 < capnproto.0 && capnproto.0 < json.0,
        "{found}"
    );
    assert!(
        protobuf.1 < json.1 && json.1 < flatbuffers.1 && flatbuffers.1 < capnproto.1 && capnproto.1 < packed.1,
        "{found}"
    );
}

#[test]
fn the_same_documents_give_the_same_record_with_an_answer_for_each_link() {
    let documents = log(60);
    let compared = |documents| compare("log", documents, &options(), &mut |_| ()).unwrap();
    let comparison = compared(&documents);
    assert_eq!(comparison, compared(&documents));
    let encodings = options().encodings.len();
    assert_eq!(
        comparison.settings.len(),
        encodings * COMPRESSIONS.len() * 3,
        "batches of 1, 10 and all 60"
    );
    assert!(comparison.refusals.is_empty());
    let link = &comparison.links[0];
    assert_eq!(link.outcomes.iter().filter(|outcome| outcome.to_use).count(), 1);
    assert!(
        comparison
            .answer
            .starts_with("On published/dialup-56k: A message of plain JSON takes"),
        "{}",
        comparison.answer
    );
}

#[test]
fn deliveries_take_what_the_rate_and_the_delay_of_the_link_imply() {
    let comparison = compare("log", &log(60), &options(), &mut |_| ()).unwrap();
    for outcome in comparison.links[0].outcomes.iter().filter(|outcome| outcome.batch == 1) {
        let predicted = outcome.predicted_s.unwrap();
        let off = outcome.delivery_time.mean / predicted - 1.0;
        assert!(
            off.abs() < 0.01,
            "{} {}: {} for {predicted}",
            outcome.encoding,
            outcome.codec,
            outcome.delivery_time.mean
        );
    }
}

#[test]
fn an_encoding_that_cannot_hold_a_document_is_named_with_its_line() {
    let mut documents = log(30);
    documents.documents[4] = document(
        5,
        &json!({"address": {"x0": 1, "x1": 2, "x2": 3, "x3": 4}, "identity": "\u{1}", "userid": "u", "date": "d", "request": "r", "code": 1, "size": 2}),
    );
    let comparison = compare("log", &documents, &options(), &mut |_| ()).unwrap();
    let [refusal] = &comparison.refusals[..] else {
        panic!("{:?}", comparison.refusals)
    };
    assert_eq!(
        (refusal.encoding.as_str(), refusal.line, refusal.documents),
        ("xml", 5, 1)
    );
    assert!(comparison.settings.iter().all(|setting| setting.encoding != "xml"));
}

const LOG_PROTO: &str = "syntax = \"proto3\"; package logs;
message Address { uint32 x0 = 1; uint32 x1 = 2; uint32 x2 = 3; uint32 x3 = 4; }
message Line {
  Address address = 1; string identity = 2; string userid = 3; string date = 4; string request = 5; uint32 code = 6; uint64 size = 7;
}";

fn with_user_schema() -> Options {
    let read = |_: &str| Ok(LOG_PROTO.to_owned());
    Options {
        user_schema: Some(UserSchema::compile("log.proto", read, None).unwrap()),
        ..options()
    }
}

#[test]
fn the_rows_of_protobuf_use_the_users_schema_and_the_answer_says_so() {
    let documents = log(60);
    let own = compare("log", &documents, &with_user_schema(), &mut |_| ()).unwrap();
    let inferred = compare("log", &documents, &options(), &mut |_| ()).unwrap();
    assert!(own.refusals.is_empty(), "{:?}", own.refusals);
    assert!(
        own.answer
            .ends_with("The rows of protobuf use your schema: the message logs.Line of log.proto. Other encodings that need a schema use the inferred one."),
        "{}",
        own.answer
    );
    assert!(!inferred.answer.contains("your schema"));
    for (own, inferred) in own.settings.iter().zip(&inferred.settings) {
        assert!(own.encoding == "protobuf" || own == inferred);
    }
    let bytes = documents.documents.iter().map(|line| {
        let schema = with_user_schema().user_schema.unwrap();
        schema.encode(&line.value).unwrap().len() as u64
    });
    let plain = |setting: &&lastmile_report::encode::EncodingSetting| {
        setting.encoding == "protobuf" && setting.codec == "none" && setting.batch == 1
    };
    assert_eq!(own.settings.iter().find(plain).unwrap().bytes, bytes.sum::<u64>());
}

#[test]
fn a_document_that_does_not_fit_the_users_schema_is_an_error() {
    let mut documents = log(5);
    documents.documents[2].value["address"]["x2"] = json!("east");
    let error = compare("log", &documents, &with_user_schema(), &mut |_| ()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("line 3: field address.x2, value \"east\": the field is of type uint32")
            && text.ends_with(
                "; correct the document or log.proto, or name another message than logs.Line with --message"
            ),
        "{text}"
    );
}

#[test]
fn json_is_the_users_own_text_and_what_others_cannot_hold_is_refused_with_its_line_field_and_value() {
    let text = "{\"b\": 1,  \"a\": 1e3}\n{\"b\": 2, \"a\": 107260880497441314860971833778156290045}\n";
    let documents = Documents::read(text, 10).unwrap();
    let options = Options {
        encodings: vec![Encoding::Json, Encoding::Protobuf, Encoding::MessagePack],
        links: Vec::new(),
        ..options()
    };
    let comparison = compare("own", &documents, &options, &mut |_| ()).unwrap();
    assert_eq!(
        comparison.json_bytes,
        text.len() as u64 - 2,
        "without the ends of the lines"
    );
    assert!(comparison.settings.iter().all(|setting| setting.encoding == "json"));
    let refused: Vec<_> = comparison
        .refusals
        .iter()
        .map(|refusal| refusal.encoding.as_str())
        .collect();
    assert_eq!(refused, ["protobuf", "msgpack"]);
    for refusal in &comparison.refusals {
        assert_eq!(refusal.line, 2);
        assert!(
            refusal
                .problem
                .starts_with("field a, value 107260880497441314860971833778156290045: "),
            "{}",
            refusal.problem
        );
    }
}

fn at_rate(rate: f64, link: &str) -> lastmile_report::encode::EncodingComparison {
    let options = Options {
        links: vec![(link.to_owned(), lastmile_link::resolve(link).unwrap())],
        rate,
        ..options()
    };
    compare("log", &log(200), &options, &mut |_| ()).unwrap()
}

#[test]
fn what_the_link_cannot_carry_is_said_and_not_recommended() {
    for rate in [10.0, 100.0, 1000.0] {
        let link = &at_rate(rate, "published/dialup-56k").links[0];
        let load =
            |outcome: &lastmile_report::encode::EncodingOutcome| 8.0 * outcome.link_bytes_per_message * rate / 56_000.0;
        for outcome in &link.outcomes {
            let own = outcome.link_load.unwrap();
            assert!((own / load(outcome) - 1.0).abs() < 0.1, "{own} of {}", load(outcome));
        }
        let used = link.outcomes.iter().find(|outcome| outcome.to_use).unwrap();
        let fits = link
            .outcomes
            .iter()
            .any(|outcome| outcome.link_load <= Some(1.0) && outcome.batch_delay_s <= 1.0);
        assert_eq!(used.link_load <= Some(1.0), fits, "{rate}");
        let plain = link
            .outcomes
            .iter()
            .find(|outcome| outcome.encoding == "json" && outcome.codec == "none")
            .unwrap();
        assert_eq!(
            link.summary.contains("and does not fit"),
            plain.link_load > Some(1.0),
            "{}",
            link.summary
        );
        assert_eq!(
            link.summary.contains("Nothing that was tried fits"),
            !fits,
            "{}",
            link.summary
        );
    }
}

#[test]
fn of_nearly_equal_settings_the_smallest_change_is_recommended() {
    let link = &at_rate(10.0, "wpt/3g").links[0];
    let used = link.outcomes.iter().find(|outcome| outcome.to_use).unwrap();
    let near = link.outcomes.iter().filter(|outcome| {
        outcome.framing == "length-prefix"
            && outcome.batch_delay_s <= 1.0
            && outcome.link_bytes_per_message <= used.link_bytes_per_message
    });
    let is_json = |outcome: &&lastmile_report::encode::EncodingOutcome| outcome.encoding == "json";
    assert!(near.clone().any(|outcome| is_json(&outcome)) <= is_json(&used));
    let least = near
        .map(|outcome| outcome.link_bytes_per_message)
        .fold(f64::INFINITY, f64::min);
    assert!(used.link_bytes_per_message <= 1.03 * least);
    assert_eq!(
        link.summary.contains("not worth it"),
        least < used.link_bytes_per_message,
        "{}",
        link.summary
    );
}
