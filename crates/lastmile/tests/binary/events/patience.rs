//! `emit --patience` bounds all waiting, whatever is at the other end. A wait without an end is met by the harness's own limit.

use super::Running;
use crate::sandbox::{Ended, Sandbox};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

const PATIENCE: [&str; 2] = ["--patience", "300ms"];

/// Emits the lines of a file.
fn emit(sandbox: &Sandbox, lines: &str, to: &[&str]) -> Ended {
    let stdin = File::open(sandbox.path().join(sandbox.file("lines", lines))).unwrap();
    let words = [&["emit"], &PATIENCE[..], to].concat();
    Ended::of(sandbox.command(&words).stdin(stdin).output().unwrap())
}

/// More bytes than the emitter's ring has.
fn many_lines() -> String {
    let mut lines = String::new();
    for number in 0..100_000 {
        let _ = writeln!(
            lines,
            "a.b n={number} text=\"sixty bytes of text sixty bytes of text sixty bytes\""
        );
    }
    lines
}

#[test]
fn emit_gives_up_in_time_where_no_monitor_is() {
    let sandbox = Sandbox::new();
    let nobody = ["--monitor", "http://127.0.0.1:1"];
    let refused = emit(&sandbox, &many_lines(), &nobody);
    refused.refused(3, &["the monitor did not acknowledge", "further lines were not read"]);
    assert!(refused.stderr.starts_with("0 of "), "{}", refused.stderr);
    // Nothing waits for an acknowledgement.
    let empty = emit(&sandbox, "", &nobody);
    assert_eq!(
        (empty.code, empty.stderr.as_str()),
        (Some(0), "0 of 0 events acknowledged\n")
    );
}

#[test]
fn emit_gives_up_without_waiting_for_the_next_line() {
    let sandbox = Sandbox::new();
    let words = [&["emit", "--monitor", "http://127.0.0.1:1"], &PATIENCE[..]].concat();
    let mut emitting = sandbox
        .command(&words)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = emitting.stdin.take().unwrap();
    lines.write_all(b"a.b n=1\n").unwrap();
    assert_eq!(emitting.wait().unwrap().code(), Some(3));
    drop(lines);
}

#[test]
fn emit_gives_up_in_time_where_what_accepts_it_never_answers() {
    let sandbox = Sandbox::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    emit(&sandbox, "a.b n=1\n", &["--monitor", &url]).refused(
        3,
        &[
            "0 of 1 event acknowledged",
            "the monitor did not acknowledge 1 event in time",
        ],
    );
    emit(&sandbox, &many_lines(), &["--monitor", &url]).refused(3, &["further lines were not read"]);
}

#[test]
fn emit_gives_up_in_time_where_an_answer_trickles() {
    let sandbox = Sandbox::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let trickle = |mut stream: TcpStream| {
        let _ = stream.read(&mut [0; 4096]);
        for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".iter().cycle() {
            if stream.write_all(&[*byte]).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
    };
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            thread::spawn(move || trickle(stream));
        }
    });
    emit(&sandbox, "a.b n=1\n", &["--monitor", &url]).refused(3, &["the monitor did not acknowledge 1 event in time"]);
}

#[test]
fn emit_gives_up_in_time_where_the_monitor_is_full() {
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &["--most", "1B"]);
    let url = monitor.url();
    emit(&sandbox, &many_lines(), &["--monitor", &url])
        .refused(3, &["the monitor did not acknowledge", "further lines were not read"]);
}

#[cfg(unix)]
#[test]
fn emit_gives_up_in_time_where_a_sensors_socket_never_answers() {
    let sandbox = Sandbox::new();
    let _silent = std::os::unix::net::UnixListener::bind(sandbox.path().join("socket")).unwrap();
    let socket = ["--socket", "socket"];
    emit(&sandbox, "a.b n=1\n", &socket).refused(3, &["the sensor at socket did not acknowledge 1 event in time"]);
    emit(&sandbox, &many_lines(), &socket).refused(3, &["further lines were not read"]);
}

#[test]
fn emit_refuses_bytes_that_are_no_text_and_keeps_the_other_lines() {
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &[]);
    let lines = Stdio::from(
        File::open(
            sandbox
                .path()
                .join(sandbox.file("lines", b"a.b n=1\na.b t=\xff\r\na.b n=2\r\n")),
        )
        .unwrap(),
    );
    let url = monitor.url();
    let ended = Ended::of(
        sandbox
            .command(&["emit", "--monitor", &url])
            .stdin(lines)
            .output()
            .unwrap(),
    );
    ended.refused(
        2,
        &[
            "line 2 of stdin: column 7: this is no UTF-8",
            "2 of 2 events acknowledged",
            "1 lines are no events",
        ],
    );
    assert_eq!(super::events(&sandbox, &url, "a.b", 2).len(), 2);
}
