//! Events as comma-separated values (RFC 4180).

use lastmile_monitor::event_json::EventLine;
use serde_json::Value;

/// The columns that every event has.
const COLUMNS: [&str; 4] = ["time_ns", "source", "sequence", "subject"];

/// The first row.
pub(super) fn head(fields: &[String]) -> String {
    let names = COLUMNS.into_iter().chain(fields.iter().map(String::as_str));
    names.map(quote).collect::<Vec<_>>().join(",")
}

/// The row of an event.
pub(super) fn row(event: &EventLine<'_>, fields: &[String]) -> String {
    let own = [
        event.time_ns.to_string(),
        event.source.to_string(),
        event.sequence.to_string(),
        event.subject.to_string(),
    ];
    let values = fields
        .iter()
        .map(|field| event.fields.get(field).map_or_else(String::new, text));
    let values = own.into_iter().chain(values).map(|value| quote(&value));
    values.collect::<Vec<_>>().join(",")
}

/// A value without JSON's quotes.
fn text(value: &Value) -> String {
    match value {
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
        let event = EventLine::parse(line).unwrap().unwrap();
        assert_eq!(row(&event, &fields), "5,s@1,7,a.b,3,\"say \"\"x\"\"\",");
        assert!(EventLine::parse("{\"end\":{}}").unwrap().is_none());
        assert!(EventLine::parse("{\"sequence\":").is_err());
    }
}
