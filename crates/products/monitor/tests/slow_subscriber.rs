//! A subscriber that stops reading for as long as it takes to emit everything: it delays nobody, the monitor's memory does not grow with what
//! waits for it, and afterwards it gets every event in order.
//!
//! Linux only, since the memory is read from /proc. The monitor is a process of its own: this program, started again as one of its tests.

#![cfg(target_os = "linux")]

use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{ChunkBuilder, Source, Timestamp, Value};
use lastmile_monitor::client::{Client, MonitorUrl};
use lastmile_monitor::log::{Log, LogSettings};
use lastmile_monitor::service::Monitor;
use lastmile_monitor::{block_on, server};
use serde_json::Value as Json;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

const FOLDER: &str = "SLOW_SUBSCRIBER_TEST_FOLDER";
const PORT: &str = "SLOW_SUBSCRIBER_TEST_PORT";
const CHUNKS: u64 = 400;
const EVENTS: u64 = 500;

#[test]
#[ignore = "the monitor's process of the other test"]
fn monitor_process() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let settings = LogSettings {
        durability: Durability::Process,
        tail_bytes: 1 << 20,
        ..LogSettings::default()
    };
    let log = Log::open(&Path::new(&folder).join("log"), settings).unwrap();
    let listener = TcpListener::bind(format!("127.0.0.1:{}", std::env::var(PORT).unwrap())).unwrap();
    let monitor = Arc::new(Monitor::new(Arc::new(log), None));
    block_on(server::serve(monitor, listener, &AtomicBool::new(false)))
        .unwrap()
        .unwrap();
}

struct Process(Child);

impl Process {
    /// The memory that it holds, in bytes.
    fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Opens a subscription from the first event on, of which nothing is read yet.
fn subscribe(port: u16) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream
        .write_all(b"GET /v1/subscribe HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .unwrap();
    stream
}

#[test]
fn a_subscriber_that_stops_delays_nobody_and_catches_up_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["monitor_process", "--exact", "--ignored"])
        .env(FOLDER, folder.path())
        .env(PORT, port.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let process = Process(child);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        thread::sleep(Duration::from_millis(5));
    }
    let sleeping = subscribe(port);
    let url: MonitorUrl = format!("http://127.0.0.1:{port}").parse().unwrap();
    let all = CHUNKS * EVENTS;

    let (before, after) = thread::scope(|scope| {
        let awake = scope.spawn(|| {
            let mut seen = 0;
            let mut client = Client::new(url.clone(), None);
            let reading = client.lines("/v1/subscribe", |line| {
                if line.contains("\"sequence\"") {
                    seen += 1;
                }
                if seen == all {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            block_on(reading).unwrap().unwrap();
            seen
        });
        let source = Source::new("load", 1).unwrap();
        let text = "x".repeat(100);
        let mut before = 0;
        block_on(async {
            let mut client = Client::new(url.clone(), None);
            for at in 0..CHUNKS {
                let mut builder = ChunkBuilder::new(source.clone(), at * EVENTS + 1);
                for i in 0..EVENTS {
                    let fields = [
                        ("i", Value::Integer((at * EVENTS + i) as i64)),
                        ("text", Value::Text(text.as_str())),
                    ];
                    builder.push(Timestamp::default(), "a.b", fields).unwrap();
                }
                let chunk = builder.finish().unwrap();
                let replies = client.submit(&[chunk], Durability::Process).await.unwrap();
                assert!(matches!(replies[..], [Reply::Acknowledged { .. }]));
                if at == CHUNKS / 10 {
                    before = process.resident();
                }
            }
        })
        .unwrap();
        // It has got everything, and the other one has not read a byte.
        assert_eq!(awake.join().unwrap(), all);
        (before, process.resident())
    });
    // 200,000 events are some 50 MB as lines, and 20 MB as chunks.
    let grown = after.saturating_sub(before);
    assert!(grown < 16 << 20, "the monitor's memory grew by {grown} bytes");

    let mut sequence = 0;
    for line in BufReader::new(sleeping).lines() {
        let line = line.unwrap();
        // Between the lines of events are the head and the sizes of HTTP's chunks.
        if !line.starts_with("{\"cursor\"") {
            continue;
        }
        let event: Json = serde_json::from_str(&line).unwrap();
        sequence += 1;
        assert_eq!(event["sequence"], sequence);
        if sequence == all {
            return;
        }
    }
    panic!("the subscription ended after {sequence} events");
}
