use super::*;
use serde_json::json;

fn kind(values: &[Value]) -> FieldType {
    let mut seen = Seen::default();
    values.iter().for_each(|value| seen.note(value));
    seen.kind()
}

#[test]
fn a_field_has_the_type_that_holds_all_its_values_and_is_json_where_none_does() {
    use ColumnType::{Boolean, Double, Integer, Text};
    let typed = FieldType::Typed;
    assert_eq!(kind(&[json!(true), json!(false)]), typed(Boolean));
    assert_eq!(kind(&[json!(1), json!(i64::MAX)]), typed(Integer));
    assert_eq!(kind(&[json!(1), json!(1.5), json!("NaN")]), typed(Double));
    assert_eq!(kind(&[json!("-inf"), json!(3)]), typed(Double));
    assert_eq!(kind(&[json!("NaN"), json!("a")]), typed(Text));
    for mixed in [
        [json!(1), json!("a")],
        [json!(true), json!(1)],
        [json!(i64::MAX), json!(0.5)],
        [json!(false), json!("false")],
    ] {
        assert_eq!(kind(&mixed), FieldType::Mixed, "{mixed:?}");
    }
}

#[test]
fn a_field_that_is_called_as_a_column_of_every_event_has_a_column_of_its_own() {
    let fields: BTreeMap<String, Seen> = ["time", "time_field", "cell"]
        .into_iter()
        .map(|name| (name.to_owned(), Seen::default()))
        .collect();
    let names: Vec<String> = fields.keys().map(|name| column_name(name, &fields)).collect();
    assert_eq!(names, ["cell", "time_field_field", "time_field"]);
}

#[test]
fn a_file_begins_and_ends_as_the_format_says_and_nothing_else_is_left_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.parquet");
    let mut output = ParquetOutput::create(&path).unwrap();
    let line = r#"{"cursor":"0000000000000001-2","fields":{"cell":3},"sequence":7,"source":"s@000000000000000a","subject":"a.b","time_ns":5}"#;
    assert!(output.take(line).unwrap());
    assert!(!output.take(r#"{"end":{"complete":true}}"#).unwrap());
    assert_eq!(output.finish().unwrap(), 1);
    let written = std::fs::read(&path).unwrap();
    assert!(written.starts_with(b"PAR1") && written.ends_with(b"PAR1"));
    let end = written.len() - 8;
    let footer = u32::from_le_bytes(written[end..end + 4].try_into().unwrap()) as usize;
    assert!(footer < end && written[end - footer..end].windows(4).any(|name| name == b"cell"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn too_many_field_names_are_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let mut output = ParquetOutput::create(&folder.path().join("events.parquet")).unwrap();
    let line = |field: usize| format!(r#"{{"fields":{{"f{field}":1}},"sequence":1}}"#);
    for field in 0..FIELDS_MAX {
        output.take(&line(field)).unwrap();
    }
    let error = output.take(&line(FIELDS_MAX)).unwrap_err().to_string();
    assert!(error.contains("fewer subjects"), "{error}");
}
