//! Events as comma-separated values (RFC 4180).

use serde_json::Value;

/// The columns that every event has.
const COLUMNS: [&str; 4] = ["time_ns", "source", "sequence", "subject"];

/// The first row.
pub(super) fn head(fields: &[String]) -> String {
    let names = COLUMNS.into_iter().chain(fields.iter().map(String::as_str));
    names.map(quote).collect::<Vec<_>>().join(",")
}

/// The row of a line of an answer; none where it is no event.
pub(super) fn row(line: &str, fields: &[String]) -> Option<String> {
    let event: Value = serde_json::from_str(line).ok()?;
    event.get("sequence")?;
    let own = COLUMNS.iter().map(|column| text(&event[*column]));
    let values = fields.iter().map(|field| text(&event["fields"][field.as_str()]));
    Some(
        own.chain(values)
            .map(|value| quote(&value))
            .collect::<Vec<_>>()
            .join(","),
    )
}

/// A value without JSON's quotes; nothing where there is none.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn quote(value: &str) -> String {
    if value.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_row_and_what_is_none_is_left_out() {
        let fields = ["cell".to_owned(), "a,b".to_owned(), "absent".to_owned()];
        assert_eq!(head(&fields), "time_ns,source,sequence,subject,cell,\"a,b\",absent");
        let line = r#"{"cursor":"1-2","fields":{"cell":3,"a,b":"say \"x\""},"sequence":7,"source":"s@1","subject":"a.b","time_ns":5}"#;
        assert_eq!(row(line, &fields).unwrap(), "5,s@1,7,a.b,3,\"say \"\"x\"\"\",");
        assert_eq!(row("{\"end\":{}}", &fields), None);
    }
}
