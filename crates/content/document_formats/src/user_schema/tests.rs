//! Documents as messages of users' schemas, good and bad.

use super::*;
use crate::Encoder;
use serde_json::json;
use std::collections::HashMap;

const ORDER: &str = r#"syntax = "proto3";
package shop;
import "parts/money.proto";
import "google/protobuf/timestamp.proto";

enum State { UNKNOWN = 0; PAID = 1; }
message Line { string name = 1; float weight = 2; repeated sint32 counts = 3; }
message Order {
  uint64 order_id = 1;
  optional string note = 2;
  State state = 3;
  bytes seal = 4;
  repeated Line lines = 5;
  map<string, Line> by_name = 6;
  shop.Money total = 7;
  google.protobuf.Timestamp placed = 8;
  oneof payment { string card = 9; bool cash = 10; }
}
"#;

const MONEY: &str = "syntax = \"proto3\"; package shop; message Money { int64 cents = 1; }";

fn compile(files: &[(&str, &str)], message: Option<&str>) -> Result<UserSchema, UserSchemaError> {
    let texts: HashMap<String, String> = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    let read = move |name: &str| texts.get(name).cloned().ok_or_else(|| io::ErrorKind::NotFound.into());
    UserSchema::compile(files[0].0, read, message)
}

fn order() -> UserSchema {
    compile(&[("order.proto", ORDER), ("parts/money.proto", MONEY)], None).unwrap()
}

fn problem(files: &[(&str, &str)], message: Option<&str>) -> String {
    compile(files, message).unwrap_err().to_string()
}

#[test]
fn a_document_has_the_bytes_of_its_message() {
    let schema = order();
    assert_eq!((schema.file(), schema.message()), ("order.proto", "shop.Order"));
    let document = json!({"orderId": 300, "note": "", "state": "PAID", "total": {"cents": "5"}});
    let bytes = schema.encode(&document).unwrap();
    assert_eq!(bytes, b"\x08\xac\x02\x12\x00\x18\x01\x3a\x02\x08\x05");
    assert_eq!(
        schema.decode(&bytes).unwrap(),
        json!({"orderId": 300, "note": "", "state": "PAID", "total": {"cents": 5}})
    );
}

#[test]
fn every_form_of_the_json_mapping_comes_back() {
    let schema = order();
    for document in [
        json!({}),
        json!({"order_id": "18446744073709551615", "state": 1, "seal": "-_8", "note": null}),
        json!({"orderId": 0, "state": "UNKNOWN", "lines": [], "byName": {}, "seal": ""}),
        json!({"lines": [{"name": "bolt", "weight": 0.1, "counts": [-1, 0, 70_000]}, {}], "cash": false}),
        json!({"lines": [{"weight": "NaN"}, {"weight": "-Infinity"}], "placed": "2026-08-21T10:00:00.5+02:00"}),
        json!({"byName": {"b": {"name": "b"}, "a": {}, "": {"counts": [1]}}}),
    ] {
        let bytes = schema.encode(&document).unwrap();
        assert_eq!(schema.difference(&document, &bytes), Ok(None), "{document}");
        assert_eq!(Encoder::of_user_schema(schema.clone()).check(&document, &bytes), Ok(()));
        for length in 0..bytes.len() {
            let _ = schema.decode(&bytes[..length]);
        }
    }
}

#[test]
fn another_document_differs() {
    let schema = order();
    let bytes = schema
        .encode(&json!({"orderId": 7, "lines": [{"weight": 1.5}], "byName": {"a": {"name": "n"}}}))
        .unwrap();
    for (document, field) in [
        (
            json!({"orderId": 8, "lines": [{"weight": 1.5}], "byName": {"a": {"name": "n"}}}),
            "orderId",
        ),
        (
            json!({"orderId": 7, "lines": [{"weight": 1.25}], "byName": {"a": {"name": "n"}}}),
            "lines[0].weight",
        ),
        (
            json!({"orderId": 7, "lines": [{"weight": 1.5}], "byName": {"a": {"name": "m"}}}),
            "byName[\"a\"].name",
        ),
        (json!({"orderId": 7, "lines": [{"weight": 1.5}]}), "byName"),
        (
            json!({"orderId": 7, "lines": [{"weight": 1.5}], "byName": {"a": {"name": "n"}}, "note": ""}),
            "note",
        ),
    ] {
        assert_eq!(schema.difference(&document, &bytes), Ok(Some(field.to_owned())));
    }
}

#[test]
fn entries_of_a_map_have_one_order() {
    let document: Value =
        json!({"byName": (0..50).map(|n| (n.to_string(), json!({"name": "x"}))).collect::<serde_json::Map<_, _>>()});
    let schema = order();
    let bytes = schema.encode(&document).unwrap();
    for _ in 0..10 {
        assert_eq!(schema.encode(&document).unwrap(), bytes);
    }
    assert_eq!(schema.difference(&document, &bytes), Ok(None));
}

#[test]
fn a_document_that_does_not_fit_is_refused_with_field_and_value() {
    let schema = order();
    for (document, field, value, problem) in [
        (
            json!({"colour": "red"}),
            "colour",
            "\"red\"",
            "the message shop.Order has no such field; it has orderId",
        ),
        (
            json!({"lines": [{}, {"size": 3}]}),
            "lines[1].size",
            "3",
            "the message shop.Line has no such field",
        ),
        (
            json!({"orderId": "seven"}),
            "orderId",
            "\"seven\"",
            "the field is of type uint64",
        ),
        (json!({"orderId": -1}), "orderId", "-1", "the field is of type uint64"),
        (
            json!({"lines": {"name": "n"}}),
            "lines",
            "{\"name\":\"n\"}",
            "the field is of type",
        ),
        (
            json!({"lines": [{"counts": [1, 1.5]}]}),
            "lines[0].counts[1]",
            "1.5",
            "the field is of type sint32",
        ),
        (
            json!({"byName": {"a": {"weight": true}}}),
            "byName[\"a\"].weight",
            "true",
            "the field is of type float",
        ),
        (json!({"state": "LOST"}), "state", "\"LOST\"", "LOST"),
        (json!({"placed": "today"}), "placed", "\"today\"", ""),
        (
            json!({"card": "c", "cash": true}),
            "",
            "{\"card\":\"c\",\"cash\":true}",
            "oneof",
        ),
        (json!([1]), "", "[1]", "it must be an object"),
    ] {
        let misfit = schema.encode(&document).unwrap_err();
        assert_eq!(
            (misfit.field.as_str(), misfit.value.as_str()),
            (field, value),
            "{misfit}"
        );
        assert!(misfit.problem.contains(problem), "{misfit}");
    }
    let long = schema.encode(&json!({"orderId": "é".repeat(1000)})).unwrap_err();
    assert!(long.to_string().len() < 400, "{long}");
}

#[test]
fn a_required_field_is_demanded() {
    let text =
        "syntax = \"proto2\"; message Outer { repeated Inner inner = 1; } message Inner { required int32 a = 1; }";
    let schema = compile(&[("old.proto", text)], None).unwrap();
    assert!(schema.encode(&json!({"inner": [{"a": 0}]})).is_ok());
    let misfit = schema.encode(&json!({"inner": [{}]})).unwrap_err();
    assert_eq!(misfit.field, "inner.a");
}

#[test]
fn the_message_is_the_named_one_or_the_only_one_that_no_other_uses() {
    let text = "syntax = \"proto3\"; package p; message A { B b = 1; A next = 2; message C { int32 x = 1; } map<int32, C> c = 3; } message B {}";
    let chosen = |name| compile(&[("p.proto", text)], name).map(|schema| schema.message().to_owned());
    assert_eq!(chosen(None).unwrap(), "p.A");
    assert_eq!(chosen(Some("B")).unwrap(), "p.B");
    assert_eq!(chosen(Some("p.A.C")).unwrap(), "p.A.C");
    let unknown = chosen(Some("D")).unwrap_err().to_string();
    assert!(
        unknown.starts_with("p.proto has no message D; it has p.A, "),
        "{unknown}"
    );
    let several = problem(&[("p.proto", "syntax = \"proto3\"; message A {} message B {}")], None);
    assert!(several.ends_with("--message: A, B"), "{several}");
    let circle = "syntax = \"proto3\"; message A { B b = 1; } message B { A a = 1; }";
    assert!(problem(&[("p.proto", circle)], None).ends_with("--message: A, B"));
    assert!(problem(&[("p.proto", "syntax = \"proto3\"; enum E { Z = 0; }")], None).contains("defines no message"));
}

#[test]
fn a_broken_file_is_refused_with_its_line() {
    let error = problem(&[("p.proto", "syntax = \"proto3\";\nmessage A { int32 = 1; }\n")], None);
    assert!(error.starts_with("p.proto:2:"), "{error}");
    let error = problem(
        &[("p.proto", "syntax = \"proto3\";\nmessage A { Missing m = 1; }\n")],
        None,
    );
    assert!(error.starts_with("p.proto:2:") && error.contains("Missing"), "{error}");
    let error = problem(
        &[("p.proto", "syntax = \"proto3\"; import \"gone.proto\"; message A {}")],
        None,
    );
    assert!(error.contains("gone.proto"), "{error}");
    assert!(problem(&[("p.proto", "\u{0}\u{1}{{{")], None).contains("p.proto"));
    let missing = UserSchema::compile("p.proto", |_| Err(io::ErrorKind::NotFound.into()), None);
    let error = missing.unwrap_err().to_string();
    assert!(error.starts_with("p.proto cannot be read: "), "{error}");
}

#[test]
fn a_hostile_file_is_refused() {
    for import in ["../secret.proto", "/etc/passwd", "a/../../b.proto", "..\\\\b.proto"] {
        let text = format!("syntax = \"proto3\"; import \"{import}\"; message A {{}}");
        let read = move |name: &str| {
            assert_eq!(name, "p.proto", "nothing outside the folder is read");
            Ok(text.clone())
        };
        let error = UserSchema::compile("p.proto", read, None).unwrap_err().to_string();
        assert!(
            error.starts_with("p.proto: import ") && error.contains("inside the folder"),
            "{import}: {error}"
        );
    }
    let circle = [
        ("a.proto", "import \"b.proto\"; message A {}"),
        ("b.proto", "import \"a.proto\"; message B {}"),
    ];
    assert!(problem(&circle, None).contains("cycle"));
    let messages = "message M {".repeat(150) + &"}".repeat(150);
    let brackets = format!("option (a) = {}{};", "{ a: ".repeat(100_000), "}".repeat(100_000));
    let lists = format!("option (a) = {{ a: {}{} }};", "[".repeat(190), "]".repeat(190));
    let huge = " ".repeat(PROTO_BYTES_MAX as usize + 1);
    for text in [&messages, &brackets, &lists, &huge] {
        assert!(compile(&[("p.proto", text)], None).is_err());
    }
    let chain: Vec<(String, String)> = (0..600)
        .map(|at| {
            (
                format!("{at}.proto"),
                format!("import \"{}.proto\"; message M{at} {{}}", at + 1),
            )
        })
        .collect();
    let chain: Vec<(&str, &str)> = chain
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    assert!(problem(&chain, None).contains("more than 500 files"));
}

#[test]
fn a_message_nested_deeper_than_is_read_again_is_not_taken() {
    let schema = compile(&[("p.proto", "syntax = \"proto3\"; message A { A a = 1; }")], None).unwrap();
    let deep = (0..120).fold(json!({}), |inner, _| json!({ "a": inner }));
    let checked = schema.encode(&deep).map(|bytes| schema.difference(&deep, &bytes));
    assert!(matches!(checked, Err(_) | Ok(Err(_))), "{checked:?}");
}
