//! Tests that a page is recorded by a real Chromium, from a server of ours, and that `advise` takes the recording.

use crate::browser::chromium;
use crate::sandbox::{Ended, Sandbox};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

const PAGE: &str =
    "<!doctype html><link rel=stylesheet href=/a.css><p>text</p><script>fetch('/old').then(r => r.text())</script>";

/// Serves a page, a style, and what a redirection leads to; a connection for each request.
fn serve(mut stream: TcpStream) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let first = lines.next().and_then(Result::ok).unwrap_or_default();
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let path = first.split(' ').nth(1).unwrap_or_default();
    let style = "p { color: red }\n".repeat(2_000);
    let (status, fields, body) = match path {
        "/" => ("200 OK", "Content-Type: text/html\r\nSet-Cookie: id=secret\r\n", PAGE),
        "/a.css" => ("200 OK", "Content-Type: text/css\r\n", style.as_str()),
        "/old" => ("302 Found", "Location: /new\r\n", ""),
        "/new" => ("200 OK", "Content-Type: application/json\r\n", "{\"a\": 1}"),
        _ => ("404 Not Found", "Content-Type: text/plain\r\n", "nothing"),
    };
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
}

fn server() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    port
}

#[test]
fn a_page_is_recorded_with_its_bodies_and_without_its_cookies() {
    if chromium().is_none() {
        return eprintln!("skipped: no Chromium is installed (make peers installs it)");
    }
    let (sandbox, port) = (Sandbox::new(), server());
    let ended = sandbox.run(&["record", &format!("localhost:{port}"), "--out", "page.har"]);
    ended.succeeded();
    assert!(
        ended.stdout.ends_with("next: lastmile advise page.har\n"),
        "{}",
        ended.stdout
    );
    let archive: Value = serde_json::from_str(&sandbox.read("page.har")).unwrap();
    assert!(!archive.to_string().contains("secret"), "{archive}");
    let entries = archive["log"]["entries"].as_array().unwrap();
    let of = |path: &str| -> &Value {
        let url = format!("http://localhost:{port}{path}");
        entries
            .iter()
            .find(|entry| entry["request"]["url"] == url.as_str())
            .unwrap_or_else(|| panic!("{path}: {archive}"))
    };
    assert_eq!(of("/")["response"]["content"]["text"], PAGE);
    assert_eq!(of("/a.css")["response"]["bodySize"], 34_000.0);
    assert_eq!(of("/old")["response"]["status"], 302);
    assert_eq!(of("/old")["response"]["redirectURL"], "/new");
    assert_eq!(of("/new")["response"]["content"]["text"], "{\"a\": 1}");
    for entry in entries {
        let timing = |name: &str| entry["timings"][name].as_f64().unwrap();
        let phases = ["blocked", "dns", "connect", "send", "wait", "receive"];
        let sum: f64 = phases.iter().map(|name| timing(name).max(0.0)).sum();
        assert!((sum - entry["time"].as_f64().unwrap()).abs() < 1e-6, "{entry}");
    }
    let advised = sandbox.run(&[
        "advise",
        "page.har",
        "--link",
        "wpt/3g",
        "--repeats",
        "1",
        "--no-report",
        "--format",
        "json",
    ]);
    advised.succeeded();
    assert!(
        !advised.stdout.contains("bodies-missing") && !advised.stdout.contains("missing-bodies"),
        "{}",
        advised.stdout
    );
}

#[test]
fn a_page_that_cannot_be_loaded_and_a_machine_without_a_browser_are_named() {
    let sandbox = Sandbox::new();
    if chromium().is_some() {
        let page = format!("localhost:{}/none", server());
        let error_page = sandbox.run(&["record", &page, "--out", "none.har"]);
        error_page.succeeded();
        assert!(error_page.stderr.contains("status 404"), "{}", error_page.stderr);
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let refused = sandbox.run(&["record", &format!("localhost:{port}")]);
        assert_eq!(refused.code, Some(3), "{}", refused.stderr);
        assert!(refused.stderr.contains("ERR_CONNECTION_REFUSED"), "{}", refused.stderr);
    }
    let mut command = sandbox.command(&["record", "localhost:1"]);
    let missing = Ended::of(command.env("PATH", sandbox.path()).output().unwrap());
    assert_eq!(missing.code, Some(3), "{}", missing.stderr);
    assert!(
        missing.stderr.contains("save all as HAR with content"),
        "{}",
        missing.stderr
    );
}
