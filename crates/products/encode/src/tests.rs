//! Comparisons of whole document sets.

pub(crate) mod fixtures;
mod round_trip;

use super::*;
use crate::deliver::{arrivals, deliver, predicted};
use crate::record::{EncodingDelivery, EncodingOutcome};
use lastmile_document_formats::same;
use lastmile_workload::access_log;
use serde_json::{Value, json};

fn log(count: usize) -> Documents {
    let line = |(at, line)| {
        let text = serde_json::to_string(line).expect("a log line is JSON");
        Document::parse(Location::Line(at), &text).expect("it is JSON")
    };
    Documents {
        documents: (1..).zip(&access_log::lines(count, Seed::new(1))).map(line).collect(),
        notes: Vec::new(),
    }
}

fn document(line: usize, value: &Value) -> Document {
    Document::parse(Location::Line(line), &value.to_string()).unwrap()
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
        comparison.answer.starts_with("On published/dialup-56k: "),
        "{}",
        comparison.answer
    );
}

fn modem() -> LinkSpec {
    lastmile_link::resolve("published/dialup-56k").unwrap()
}

#[test]
fn deliveries_take_what_the_rate_and_the_delay_of_the_link_imply() {
    for size in [20, 150, 900] {
        let delivered = deliver(&modem(), &[size; 12], None, Seed::new(1)).unwrap();
        let mean = delivered.times.iter().sum::<f64>() / 12.0;
        let predicted = predicted(&modem(), &[size]).unwrap();
        assert!((mean / predicted - 1.0).abs() < 0.01, "{size}: {mean} for {predicted}");
    }
}

/// Lindley's recursion: a batch begins to be sent when it is full, or when the one before it has been sent.
#[test]
fn batches_wait_for_those_before_them_as_in_a_queue() {
    let link = modem();
    let sizes: Vec<usize> = (0..300).map(|n| 60 + n * 7919 % 400).collect();
    // The headers of IPv4, of TCP with timestamps, and of the link.
    let bytes = |size: usize| size + 20 + 32 + link.down.framing_overhead.get() as usize;
    let seconds = |size: usize| 8.0 * bytes(size) as f64 / 56_000.0;
    let service = sizes.iter().map(|size| seconds(*size)).sum::<f64>() / 300.0;
    let arrivals = arrivals(300, Seed::new(1));
    let mut means = Vec::new();
    for load in [0.2, 0.5, 0.8] {
        let due: Vec<Duration> = arrivals
            .iter()
            .map(|at| Duration::from_secs_f64(at * service / load))
            .collect();
        let mut free = 0.0;
        let waiting = due.iter().zip(&sizes).map(|(due, size)| {
            free = due.as_secs_f64().max(free) + seconds(*size);
            free - due.as_secs_f64() + link.down.one_way_delay.as_secs_f64()
        });
        let expected = waiting.sum::<f64>() / 300.0;
        let delivered = deliver(&link, &sizes, Some(&due), Seed::new(1)).unwrap();
        let mean = delivered.times.iter().sum::<f64>() / 300.0;
        assert!((mean / expected - 1.0).abs() < 0.03, "{load}: {mean} for {expected}");
        means.push(mean);
    }
    assert!(1.1 * means[0] < means[1] && 1.1 * means[1] < means[2], "{means:?}");
}

fn plain_json(link: &EncodingDelivery) -> &EncodingOutcome {
    let is_plain = |outcome: &&EncodingOutcome| {
        outcome.encoding == "json"
            && outcome.codec == "none"
            && outcome.batch == 1
            && outcome.framing == "length-prefix"
    };
    link.outcomes.iter().find(is_plain).unwrap()
}

#[test]
fn messages_take_longer_the_fuller_the_link_is_and_no_time_is_told_where_they_do_not_fit() {
    let mut before = 0.0;
    for rate in [1.0, 10.0, 20.0] {
        let comparison = at_rate(rate, "published/dialup-56k");
        let plain = plain_json(&comparison.links[0]);
        let (mean, idle) = (plain.delivery_time.as_ref().unwrap().mean, plain.predicted_s.unwrap());
        assert!(mean > before && mean > idle, "{rate}: {mean}, where idle {idle}");
        before = mean;
    }
    let full = at_rate(1000.0, "published/dialup-56k");
    let plain = plain_json(&full.links[0]);
    assert!(plain.link_load > Some(1.0) && plain.delivery_time.is_none() && !plain.frontier);
}

#[test]
fn where_nothing_is_gained_the_answer_says_so_and_from_which_rate_on_it_would_be() {
    let summary = |rate| at_rate(rate, "wpt/cable").links[0].summary.clone();
    let quiet = summary(10.0);
    let rate = quiet
        .strip_prefix("Nothing is gained below about ")
        .and_then(|rest| rest.split_once(" messages a second: plain JSON takes "))
        .unwrap_or_else(|| panic!("{quiet}"));
    let rate: f64 = rate.0.replace(',', "").parse().unwrap();
    assert!(summary(rate / 2.0).starts_with("Nothing is gained below"), "{rate}");
    let busy = summary(rate * 2.0);
    assert!(!busy.contains("Nothing is gained"), "{rate}: {busy}");
}

#[test]
fn every_answer_is_compared_with_plain_json_and_one_document_is_one() {
    let options = Options {
        encodings: vec![Encoding::Protobuf],
        batches: vec![10],
        ..options()
    };
    let comparison = compare("log", &log(60), &options, &mut |_| ()).unwrap();
    assert!(
        comparison.links[0].summary.contains("plain JSON takes"),
        "{}",
        comparison.links[0].summary
    );
    let encodings: Vec<&str> = comparison.settings.iter().map(|setting| &*setting.encoding).collect();
    assert_eq!(encodings.iter().filter(|encoding| **encoding == "json").count(), 1);
    let one = compare("log", &log(1), &options, &mut |_| ()).unwrap();
    assert!(
        one.doubts[0].text.starts_with("there is 1 document: "),
        "{:?}",
        one.doubts
    );
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
        (refusal.encoding.as_str(), refusal.location.as_str(), refusal.documents),
        ("xml", "line 5", 1)
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
    let plain = |setting: &&crate::record::EncodingSetting| {
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
    let lines = (1..).zip(text.lines());
    let documents = Documents {
        documents: lines
            .map(|(line, text)| Document::parse(Location::Line(line), text).unwrap())
            .collect(),
        notes: Vec::new(),
    };
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
        assert_eq!(refusal.location, "line 2");
        assert!(
            refusal
                .problem
                .starts_with("field a, value 107260880497441314860971833778156290045: "),
            "{}",
            refusal.problem
        );
    }
}

fn at_rate(rate: f64, link: &str) -> EncodingComparison {
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
        let load = |outcome: &EncodingOutcome| 8.0 * outcome.link_bytes_per_message * rate / 56_000.0;
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
        let plain = plain_json(link);
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
    let is_json = |outcome: &&EncodingOutcome| outcome.encoding == "json";
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
