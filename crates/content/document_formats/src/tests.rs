//! Every document comes back from every encoding, and hostile bytes are refused.

use super::{Encoder, Encoding, Field, Presence, Schema, infer, proto_text, same};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn returns(documents: &[Value]) {
    let schema = infer(documents);
    for encoding in Encoding::ALL {
        let encoder = Encoder::new(*encoding, &schema);
        for document in documents {
            match encoder.encode(document) {
                Ok(bytes) => {
                    let decoded = encoder
                        .decode(&bytes)
                        .unwrap_or_else(|error| panic!("{error}: {document} of {schema:?}"));
                    assert!(
                        same(&decoded, document),
                        "{}: {document} became {decoded}",
                        encoding.label()
                    );
                    if encoding.needs_schema() {
                        for length in 0..bytes.len().min(40) {
                            let _ = encoder.decode(&bytes[..length]);
                        }
                    }
                }
                Err(error) => assert!(is_known_limit(&error.problem), "{error}: {document}"),
            }
        }
    }
}

/// What some encodings cannot hold, and say so.
fn is_known_limit(problem: &str) -> bool {
    ["XML cannot hold", "zero byte", "does not fit into"]
        .iter()
        .any(|known| problem.contains(known))
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-300..300_i64).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e300..1e300_f64).prop_map(Value::from),
        "[ -~\n\r\té€]{0,12}".prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ]
}

fn document() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map("[a-d]|a-b|x y|1", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Documents of one shape, as programs send them.
fn record() -> impl Strategy<Value = Value> {
    (
        any::<i32>(),
        "[a-z]{0,9}",
        prop::option::of(any::<bool>()),
        prop::option::of(-1e9..1e9_f64),
        prop::collection::vec(0..70_000_u32, 0..5),
        prop::collection::vec((any::<u8>(), prop::option::of("[a-z]{0,3}")), 0..4),
        prop::option::of(prop::collection::vec(any::<bool>(), 0..9)),
        any::<[i16; 2]>(),
    )
        .prop_map(|(id, name, flag, level, readings, tags, marks, [x, y])| {
            let tags: Vec<Value> = tags.into_iter().map(|(kind, note)| json!({"kind": kind, "note": note})).collect();
            let mut record = json!({"id": id, "name": name, "flag": flag, "readings": readings, "tags": tags, "place": {"x": x, "y": y}});
            if let Some(level) = level {
                record["level"] = json!(level);
            }
            if let Some(marks) = marks {
                record["marks"] = json!(marks);
            }
            record
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_document_returns_from_every_encoding(documents in prop::collection::vec(document(), 1..6)) {
        returns(&documents);
    }

    #[test]
    fn every_record_returns_from_every_encoding(documents in prop::collection::vec(record(), 1..9)) {
        returns(&documents);
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(record in record(), bytes in prop::collection::vec(any::<u8>(), 0..120), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6)) {
        let schema = infer([&record]);
        for encoding in Encoding::ALL {
            let encoder = Encoder::new(*encoding, &schema);
            let _ = encoder.decode(&bytes);
            let mut damaged = encoder.encode(&record).unwrap();
            for (at, byte) in &changes {
                let at = at.index(damaged.len());
                damaged[at] = *byte;
            }
            let _ = encoder.decode(&damaged);
        }
    }
}

#[test]
fn a_map_and_lists_of_lists_and_nulls_among_values_return() {
    let maps: Vec<Value> = (0..80)
        .map(|id| json!({"grid": [[1, 2], [], [id]], "holes": [null, 1, null], "users": { format!("user-{id}"): {"age": id} }}))
        .collect();
    assert!(matches!(infer(&maps), Schema::Struct(_)));
    returns(&maps);
    returns(&[json!([1, 2]), json!([])]);
    returns(&[json!(7), json!(null)]);
    returns(&[json!(u64::MAX)]);
    returns(&[json!({"b": u64::MAX}), json!({"b": -1})]);
}

#[test]
fn what_an_encoding_cannot_hold_is_said() {
    let documents = [json!({"text": "a\u{0}b"}), json!({"text": ""})];
    let schema = infer(&documents);
    let problem = |encoding| {
        Encoder::new(encoding, &schema)
            .encode(&documents[0])
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        problem(Encoding::Xml),
        "XML: field \"text\": XML cannot hold the character U+0000"
    );
    assert_eq!(
        problem(Encoding::Cdr),
        "CDR: CDR cannot hold a string with a zero byte; use a sequence of bytes"
    );
}

#[test]
fn a_number_that_no_machine_number_holds_is_refused_by_name() {
    let whole = Schema::Integer {
        min: -1,
        max: u64::MAX.into(),
    };
    let schema = Schema::Struct(vec![Field {
        name: "n".to_owned(),
        presence: Presence::Always,
        schema: whole,
    }]);
    let problem = |encoding| {
        Encoder::new(encoding, &schema)
            .encode(&json!({"n": u64::MAX}))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        problem(Encoding::Protobuf),
        "protobuf: field \"n\": 18446744073709551615 does not fit into sint64"
    );
    assert_eq!(
        problem(Encoding::Postcard),
        "postcard: 18446744073709551615 does not fit into a signed number of 64 bits"
    );
}

#[test]
fn a_document_of_another_schema_is_refused() {
    let schema = infer([&json!({"a": 1})]);
    for encoding in Encoding::ALL.iter().filter(|encoding| encoding.needs_schema()) {
        let encoder = Encoder::new(*encoding, &schema);
        for other in [
            json!({"a": 1, "b": 2}),
            json!({"a": "x"}),
            json!({"a": 2}),
            json!({}),
            json!(3),
        ] {
            assert!(encoder.encode(&other).is_err(), "{}: {other}", encoding.label());
        }
    }
}

#[test]
fn the_schema_is_shown_as_a_proto_file() {
    let documents = [
        json!({"id": 1, "tags": ["a"], "place": {"x": -1, "y": 0.5}, "odd name": null}),
        json!({"id": 2, "tags": [], "note": "n", "odd name": true}),
    ];
    let expected = "syntax = \"proto3\";

message Document {
  uint64 id = 1;
  optional string note = 2;
  optional bool odd_name = 3 [json_name = \"odd name\"];
  Place place = 4;
  repeated string tags = 5;
}

message Place {
  sint64 x = 1;
  double y = 2;
}
";
    assert_eq!(proto_text(&infer(&documents)), expected);
}

#[test]
fn deep_nesting_is_refused_and_overflows_no_stack() {
    let msgpack = Encoder::new(Encoding::MessagePack, &Schema::Json);
    assert!(msgpack.decode(&[0x91; 100_000]).is_err());
    let cbor = Encoder::new(Encoding::Cbor, &Schema::Json);
    assert!(cbor.decode(&[0x81; 100_000]).is_err());
    let xml = "<document>".repeat(100_000);
    assert!(
        Encoder::new(Encoding::Xml, &Schema::Text)
            .decode(xml.as_bytes())
            .is_err()
    );
}
