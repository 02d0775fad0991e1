//! What a monitor answers: nothing wrong, nothing to strangers, and whole answers only with exit code 0.

use super::{Running, events};
use crate::sandbox::{Ended, LASTMILE, Sandbox};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

/// Emits lines; a busy disk may take its time to keep them.
fn emit(sandbox: &Sandbox, url: &str, lines: &str) -> Ended {
    emit_within("60s", sandbox, url, lines)
}

fn emit_within(patience: &str, sandbox: &Sandbox, url: &str, lines: &str) -> Ended {
    let stdin = File::open(sandbox.path().join(sandbox.file("lines", lines))).unwrap();
    let words = ["emit", "--monitor", url, "--patience", patience];
    Ended::of(sandbox.command(&words).stdin(stdin).output().unwrap())
}

fn numbered(count: u32) -> String {
    (0..count).fold(String::new(), |mut lines, number| {
        let _ = writeln!(lines, "a.b n={number} text=\"{}\"", "some text ".repeat(8));
        lines
    })
}

/// The events that a program called acknowledged.
fn acknowledged(ended: &Ended) -> usize {
    let (before, _) = ended.stderr.split_once(" of 400 events acknowledged").unwrap();
    before.rsplit([' ', '\n']).next().unwrap().parse().unwrap()
}

#[test]
fn what_a_full_monitor_did_not_take_is_not_called_acknowledged() {
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &["--most", "300kB"]);
    let url = monitor.url();
    emit(&sandbox, &url, &numbered(400)).succeeded();
    let mut said = 400;
    for _ in 0..40 {
        let ended = emit_within("5s", &sandbox, &url, &numbered(400));
        said += acknowledged(&ended);
        if ended.code != Some(0) {
            break;
        }
    }
    let stored = sandbox
        .data(&["query", "a.b", "--monitor", &url])
        .matches("\"n\":")
        .count();
    assert!(stored >= said, "{said} were called acknowledged, {stored} are stored");
    assert!(
        !sandbox
            .data(&["query", "_loss", "--monitor", &url])
            .contains("forgotten")
    );
}

#[test]
fn half_sent_posts_and_idle_connections_hold_nobody_up() {
    let sandbox = Sandbox::new();
    // A limit that connections reach before the monitor's own.
    let script = format!("ulimit -n 64; exec {LASTMILE} monitor kept --listen 127.0.0.1:0");
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .current_dir(sandbox.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut note = String::new();
    BufReader::new(child.stderr.take().unwrap())
        .read_line(&mut note)
        .unwrap();
    let monitor = Running {
        child,
        notes: vec![note.trim_end().to_owned()],
    };
    let url = monitor.url();
    let address = url.trim_start_matches("http://");
    let half =
        "POST /v1/chunks HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: zstd\r\nContent-Length: 300\r\n\r\n\u{28}";
    let _posts: Vec<TcpStream> = (0..16)
        .map(|_| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(half.as_bytes()).unwrap();
            stream
        })
        .collect();
    let _idle: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(address).unwrap()).collect();
    emit(&sandbox, &url, "a.b n=1\n").succeeded();
}

#[test]
fn what_the_monitor_deleted_is_answered_to_nobody() {
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &["--keep", "1s"]);
    let url = monitor.url();
    emit(&sandbox, &url, "@1 a.b n=1\n").succeeded();
    loop {
        let audit: Value =
            serde_json::from_str(&sandbox.data(&["audit", "--monitor", &url, "--format", "json"])).unwrap();
        if audit["deleted"].as_array().is_some_and(|deleted| !deleted.is_empty()) {
            break;
        }
    }
    let answer = sandbox.data(&["query", "a.b", "--monitor", &url]);
    assert!(answer.starts_with("{\"end\":"), "{answer}");
}

#[test]
fn web_pages_of_other_origins_neither_read_nor_write() {
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &[]);
    let url = monitor.url();
    let address = url.trim_start_matches("http://");
    let ask = |head: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "{head}Connection: close\r\nContent-Length: 0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(ask(&format!("GET /v1/events HTTP/1.1\r\nHost: {address}\r\n")), "200");
    assert_eq!(ask("GET /v1/events HTTP/1.1\r\nHost: evil.example\r\n"), "403");
    let post = format!("POST /v1/chunks HTTP/1.1\r\nHost: {address}\r\n");
    assert_eq!(ask(&post), "200");
    assert_eq!(ask(&format!("{post}Origin: http://evil.example\r\n")), "403");
    assert_eq!(ask(&format!("{post}Content-Type: text/plain\r\n")), "415");
}

#[test]
fn a_condition_is_understood_or_refused() {
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &[]);
    let url = monitor.url();
    let source = [
        "emit",
        "a.b",
        "n=5",
        "ok=true",
        "name=pump 1",
        "--source",
        "dev1",
        "--monitor",
        &url,
    ];
    sandbox.run(&source);
    let ask = |condition: &str| sandbox.run(&["query", "a.b", "--where", condition, "--monitor", &url]);
    for condition in ["n=5", "name = \"pump 1\"", "subject = a.b", "source = dev1", "time > 0"] {
        let ended = ask(condition);
        assert_eq!(
            (ended.code, ended.stdout.lines().count()),
            (Some(0), 2),
            "{condition}: {}",
            ended.stderr
        );
    }
    for condition in [
        "n == 5",
        "name = 'pump 1'",
        "n=5 and ok=true",
        "n<>6",
        "n > 9 OR n < 6",
        "NOT n=6",
    ] {
        ask(condition).refused(2, &["400"]);
    }
}

#[test]
fn identifiers_come_back_as_they_were_written() {
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &[]);
    let url = monitor.url();
    let identifiers = [
        "0123456789",
        "+491234",
        "1.10",
        "1e5",
        "1e16",
        "5e-5",
        "18446744073709551615",
    ];
    let lines: String = identifiers.iter().map(|text| format!("a.b id={text}\n")).collect();
    emit(&sandbox, &url, &lines).succeeded();
    let events = events(&sandbox, &url, "a.b", identifiers.len());
    for (event, text) in events.iter().zip(identifiers) {
        assert_eq!(event["fields"]["id"], text);
    }
}

#[test]
fn an_answer_from_a_cursor_beyond_the_log_is_not_whole() {
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &[]);
    let url = monitor.url();
    emit(&sandbox, &url, "a.b n=1\n");
    let found = events(&sandbox, &url, "a.b", 1);
    let (epoch, _) = found[0]["cursor"].as_str().unwrap().split_once('-').unwrap();
    let ended = sandbox.run(&["query", "--from", &format!("{epoch}-1000"), "--monitor", &url]);
    assert_eq!(ended.code, Some(99), "{}", ended.stderr);
    assert!(ended.stdout.contains("\"lost_since\":998"), "{}", ended.stdout);
    assert!(ended.stdout.contains("\"complete\":false"), "{}", ended.stdout);
}

#[test]
fn a_subscription_whose_monitor_goes_away_is_no_wrong_usage() {
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &[]);
    let url = monitor.url();
    emit(&sandbox, &url, "a.b n=1\n");
    let words = ["subscribe", "--monitor", &url];
    let mut subscribing = sandbox
        .command(&words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(subscribing.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.contains("a.b"), "{line}");
    drop(monitor);
    let ended = Ended::of(subscribing.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("the connection broke"), "{}", ended.stderr);
    sandbox.run(&words).refused(3, &["no monitor answers there"]);
}

#[test]
fn audit_ends_quietly_where_its_reader_has_gone() {
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &[]);
    let url = monitor.url();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ended = Ended::of(
        sandbox
            .command(&["audit", "--monitor", &url])
            .stdout(writer)
            .output()
            .unwrap(),
    );
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_table_in_a_file_has_the_bytes_as_they_are() {
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &[]);
    let url = monitor.url();
    emit(&sandbox, &url, "a.b text=\"\u{1b}[31mred\"\n");
    let table = sandbox.data(&["query", "a.b", "--csv", "text", "--monitor", &url]);
    assert!(table.contains(",a.b,\u{1b}[31mred\n"), "{table:?}");
}
