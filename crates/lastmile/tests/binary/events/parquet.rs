//! Parquet files of events, as Apache Arrow reads them.

use super::Running;
use crate::sandbox::Sandbox;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// More than a row group has.
const EVENTS: usize = 70_000;

#[test]
fn arrow_reads_from_a_parquet_file_what_query_prints() {
    let peer: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/pyarrow");
    if !peer.join("target/lib/pyarrow/__init__.py").exists() {
        return eprintln!("skipped: pyarrow is not installed (make peers installs it)");
    }
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &[]);
    let url = monitor.url();
    let mut lines = String::new();
    for number in 0..EVENTS {
        let _ = match number % 4 {
            0 => writeln!(
                lines,
                "run.done cell={number} rate={}.5 ok={}",
                number / 3,
                number % 3 == 0
            ),
            1 => writeln!(lines, "run.done cell=-1 rate=7 text=\"größer, \\\"{number}\\\"\""),
            2 => writeln!(lines, "run.other mixed={number} time=\"a field\""),
            _ => writeln!(lines, "run.other mixed=text great={}", i64::MAX),
        };
    }
    let mut emitting = sandbox
        .command(&["emit", "--monitor", &url])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    emitting.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    assert!(emitting.wait().unwrap().success());
    let printed = sandbox.data(&["query", "run.>", "--monitor", &url]);
    let text = sandbox.data(&["query", "run.>", "--parquet", "events.parquet", "--monitor", &url]);
    assert!(text.starts_with("{\"end\":") && text.lines().count() == 1, "{text}");

    let read = Command::new("python3")
        .arg(peer.join("client.py"))
        .env("LASTMILE_DATA", sandbox.path())
        .output()
        .unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let read = String::from_utf8(read.stdout).unwrap();
    let mut read = read.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert_eq!(read.next().unwrap()["event"], "hello");
    let columns = read.next().unwrap();
    assert_eq!((&columns["rows"], &columns["groups"]), (&EVENTS.into(), &2.into()));
    let expected = [
        ("time", "timestamp[ns, tz=UTC]"),
        ("subject", "string"),
        ("source", "string"),
        ("incarnation", "uint64"),
        ("sequence", "uint64"),
        ("span", "uint64"),
        ("position", "uint64"),
        ("cell", "int64"),
        ("great", "int64"),
        ("mixed", "string"),
        ("ok", "bool"),
        ("rate", "double"),
        ("text", "string"),
        ("time_field", "string"),
    ];
    let expected: Map<String, Value> = expected
        .into_iter()
        .map(|(name, kind)| (name.to_owned(), kind.into()))
        .collect();
    assert_eq!(columns["columns"], Value::Object(expected));

    let mut count = 0;
    for (line, row) in printed.lines().zip(read) {
        let event: Value = serde_json::from_str(line).unwrap();
        if row["event"] == "end" {
            assert!(event.get("end").is_some(), "{event}");
            break;
        }
        assert_eq!((&row["time"], &row["subject"]), (&event["time_ns"], &event["subject"]));
        assert_eq!((&row["sequence"], &row["span"]), (&event["sequence"], &1.into()));
        let source = format!(
            "{}@{:016x}",
            row["source"].as_str().unwrap(),
            row["incarnation"].as_u64().unwrap()
        );
        assert_eq!(event["source"], source);
        let position = format!("-{}", row["position"]);
        assert!(event["cursor"].as_str().unwrap().ends_with(&position), "{event} {row}");
        for (name, field) in [
            ("cell", "cell"),
            ("great", "great"),
            ("ok", "ok"),
            ("text", "text"),
            ("time_field", "time"),
        ] {
            assert_eq!(row[name], event["fields"][field], "{name} of {event}");
        }
        assert_eq!(row["rate"].as_f64(), event["fields"]["rate"].as_f64(), "{event}");
        // Of several types: as JSON.
        let mixed = event["fields"].get("mixed").map(Value::to_string);
        assert_eq!(row["mixed"].as_str(), mixed.as_deref(), "{event}");
        count += 1;
    }
    assert_eq!(count, EVENTS);
}
