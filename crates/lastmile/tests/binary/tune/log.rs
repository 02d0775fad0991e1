//! Tests that the lines of a log are not compressed as if they were messages, and that their messages are found.

use super::{number, words};
use crate::sandbox::Sandbox;
use serde_json::{Value, json};

/// One message of a service, as it has it and as it is logged.
struct Logged {
    sent: bool,
    connection: usize,
    seconds: f64,
    payload: String,
}

/// Messages that resemble each other as those of services do; connections are numbered as they appear.
fn messages() -> Vec<Logged> {
    let mut state = 1_u64;
    let mut below = |n: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    (0..300_usize)
        .map(|n| Logged {
            sent: n % 3 != 0,
            connection: n % 7,
            seconds: 1_700_000_000.0 + n as f64 * 0.25,
            payload: json!({"type": "quote", "id": n, "price": below(100_000), "volume": below(1_000_000), "venue": below(40)}).to_string(),
        })
        .collect()
}

fn log(line: impl Fn(&Logged) -> String) -> String {
    messages().iter().map(|message| line(message) + "\n").collect()
}

fn json_log() -> String {
    log(|message| {
        let direction = if message.sent { "out" } else { "in" };
        json!({"ts": message.seconds, "dir": direction, "conn_id": format!("c-{}", message.connection), "data": message.payload}).to_string()
    })
}

/// As lastmile writes messages itself.
fn own_lines() -> String {
    log(|message| {
        let direction = if message.sent { "sent" } else { "received" };
        let at = message.seconds * 1000.0;
        json!({"direction": direction, "time_ms": at, "connection": message.connection, "payload": message.payload})
            .to_string()
    })
}

/// Everything of a tuning that does not depend on the clock.
fn figures(tuning: &Value) -> Value {
    let points = tuning["points"].as_array().unwrap().iter();
    let sizes: Vec<_> = points
        .map(|point| {
            json!([
                point["setting"],
                point["direction"],
                point["compressed_bytes"],
                point["memory_bytes"]
            ])
        })
        .collect();
    let transcript = &tuning["transcript"];
    json!([
        tuning["directions"],
        sizes,
        transcript["messages"],
        transcript["connections"],
        transcript["duration_seconds"]
    ])
}

#[test]
fn a_log_is_refused_with_the_command_that_reads_it_as_our_own_lines_are_read() {
    let sandbox = Sandbox::new();
    let tune =
        |file: &str, more: &[&str]| sandbox.json(&words(file, &[&["--no-report", "--format", "json"], more].concat()));
    sandbox.file("odd.jsonl", json_log());
    let refused = sandbox.run(&words("odd.jsonl", &["--connections", "50000"]));
    let mapping = "--field data --direction-field dir --connection-field conn_id --time-field ts";
    refused.refused(
        2,
        &[
            "odd.jsonl: line 1, column 1: the line is that of a log, not a message: its field \"data\" holds JSON: {",
            "(\"in\" is received)",
            &format!("\n  lastmile tune odd.jsonl --deflate-only --timing 0s --connections 50000 {mapping}\n"),
            "\n  lastmile tune odd.jsonl --deflate-only --timing 0s --connections 50000 --input text",
        ],
    );
    assert!(sandbox.runs().is_empty());
    sandbox.file("own.jsonl", own_lines());
    let own = tune("own.jsonl", &[]);
    let mapped = tune("odd.jsonl", &mapping.split(' ').collect::<Vec<_>>());
    assert_eq!(figures(&mapped), figures(&own));
    assert_eq!(
        (&own["transcript"]["messages"], &own["transcript"]["connections"]),
        (&300.into(), &7.into())
    );
    // What it was about: the line as it stands is mostly what repeats, so that its ratio says little about the message's.
    let as_it_stands = tune("odd.jsonl", &["--input", "text"]);
    let smallest = |tuning: &Value| {
        let sent = tuning["points"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|point| point["direction"] == "sent");
        let bytes: u64 = number(&tuning["directions"][0]["bytes"]);
        sent.map(|point| number(&point["compressed_bytes"])).min().unwrap() as f64 / bytes as f64
    };
    assert!(
        smallest(&as_it_stands) * 1.3 < smallest(&mapped),
        "{} {}",
        smallest(&as_it_stands),
        smallest(&mapped)
    );
}

#[test]
fn a_log_of_text_is_refused_with_the_expression_that_reads_it() {
    let sandbox = Sandbox::new();
    let lines = log(|message| {
        let event = if message.sent { "send" } else { "recv" };
        let (minute, second) = (message.seconds as u64 / 60 % 60, message.seconds % 60.0);
        format!(
            "2026-11-20 10:{minute:02}:{second:06.3} INFO ws.{event} conn=c-{} payload={}",
            message.connection, message.payload
        )
    });
    sandbox.file("app.log", lines);
    sandbox.file("own.jsonl", own_lines());
    let refused = sandbox.run(&words("app.log", &[]));
    refused.refused(
        2,
        &[
            "app.log: line 1",
            "behind a time stamp",
            "--extract '",
            "payload=(?<payload>.*)$'",
        ],
    );
    let command = refused.stderr.lines().find(|line| line.contains("--extract")).unwrap();
    let expression = command.split('\'').nth(1).unwrap();
    let more = ["--no-report", "--format", "json"];
    let extracted = sandbox.json(&words("app.log", &[&more[..], &["--extract", expression]].concat()));
    let own = sandbox.json(&words("own.jsonl", &more));
    assert_eq!(figures(&extracted), figures(&own));
    let one_group = sandbox.json(&words(
        "app.log",
        &[&more[..], &["--extract", "ws.recv .*payload=(.*)$"]].concat(),
    ));
    assert_eq!(one_group["transcript"]["messages"], 100);
    assert_eq!(
        one_group["transcript"]["notes"],
        json!(["200 lines do not match the regular expression, and are left out (first: line 2)"])
    );
    sandbox
        .run(&words("app.log", &["--extract", "no such thing (.*)$"]))
        .refused(
            2,
            &[
                "300 lines do not match the regular expression",
                "check the regular expression",
            ],
        );
}

#[test]
fn options_for_a_log_that_cannot_be_meant_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.file("odd.jsonl", json_log());
    let refused = |more: &[&str], said: &[&str]| sandbox.run(&words("odd.jsonl", more)).refused(2, said);
    refused(
        &["--field", "dat"],
        &["300 lines do not have the field of the payload", "check the names"],
    );
    refused(
        &["--field", "data", "--direction-field", "conn_id"],
        &["line 1", "\"conn_id\" is \"c-0\"", "out or in"],
    );
    refused(&["--direction-field", "dir"], &["--field"]);
    refused(
        &["--field", "data", "--input", "har"],
        &["--field reads JSON lines; leave out --input"],
    );
    refused(
        &["--extract", "payload=.*"],
        &["0 groups in place of one", "'payload=(.*)$'"],
    );
    sandbox.file("table.csv", "ts,dir,conn,data\n1,in,c-2,hello\n");
    sandbox
        .run(&words("table.csv", &[]))
        .refused(2, &["table.csv: line 1", "looks like CSV", "input format to text"]);
}
