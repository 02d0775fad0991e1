//! Kills monitor and sensor with SIGKILL in a loop under load, and checks afterwards what was promised: what was acknowledged is stored, each source
//! is in order and without a gap, and a subscriber that resumes from its cursor sees every event once.
//!
//! The processes that are killed are this test's own program, started again as one of its ignored tests.

#![cfg(unix)]

use lastmile_events::uplink::{Durability, SensorAddress, SocketUplink};
use lastmile_events::{Emitter, EmitterSettings, FullRing, Source, Subject, Value};
use lastmile_monitor::block_on;
use lastmile_monitor::client::{Client, MonitorUrl, encode_parameter};
use lastmile_monitor::log::{Log, LogSettings};
use lastmile_monitor::sensor::{self, Forwarding, SensorSettings};
use lastmile_monitor::server;
use lastmile_monitor::service::Monitor;
use serde_json::Value as Json;
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const FOLDER: &str = "KILL_TEST_FOLDER";
const PORT: &str = "KILL_TEST_PORT";
const KILLS: u64 = 16;
const THREADS: i64 = 2;

fn setting(name: &str) -> String {
    std::env::var(name).expect("the test sets it")
}

fn process_settings() -> LogSettings {
    LogSettings {
        durability: Durability::Process,
        ..LogSettings::default()
    }
}

#[test]
#[ignore = "the monitor's process of the other test"]
fn monitor_process() {
    let log = Log::open(&Path::new(&setting(FOLDER)).join("monitor"), process_settings()).unwrap();
    let listener = TcpListener::bind(format!("127.0.0.1:{}", setting(PORT))).unwrap();
    let monitor = Arc::new(Monitor::new(Arc::new(log), None));
    block_on(server::serve(monitor, listener, &AtomicBool::new(false)))
        .unwrap()
        .unwrap();
}

#[test]
#[ignore = "the sensor's process of the other test"]
fn sensor_process() {
    let folder = setting(FOLDER);
    let log = Log::open(&Path::new(&folder).join("sensor"), process_settings()).unwrap();
    let settings = SensorSettings {
        address: SensorAddress::Path(Path::new(&folder).join("socket")),
        line_source: Source::new("lines", u64::from(std::process::id())).unwrap(),
        otlp: None,
        forwarding: Forwarding {
            durability: Durability::Process,
            budget: None,
            name: "sensor".to_owned(),
            note: |_| (),
        },
    };
    let url: MonitorUrl = format!("http://127.0.0.1:{}", setting(PORT)).parse().unwrap();
    let monitor = Client::new(url, None);
    block_on(sensor::run(Arc::new(log), monitor, settings, &AtomicBool::new(false)))
        .unwrap()
        .unwrap();
}

struct Process {
    child: Child,
    name: &'static str,
}

impl Process {
    fn start(name: &'static str, folder: &Path, port: u16) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args([name, "--exact", "--ignored"])
            .env(FOLDER, folder)
            .env(PORT, port.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        Self { child, name }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Subscribes, and resumes from the last cursor whenever the connection breaks, until it is told to stop.
fn subscribe(url: &MonitorUrl, seen: &Mutex<Vec<Json>>, stop: &AtomicBool) {
    let mut from = "start".to_owned();
    while !stop.load(Ordering::Relaxed) {
        let path = format!("/v1/subscribe?from={}", encode_parameter(&from));
        let mut client = Client::new(url.clone(), None);
        let _ = block_on(client.lines(&path, |line| {
            let line: Json = serde_json::from_str(line).unwrap();
            assert!(
                line.get("damaged").is_none() && line.get("error").is_none() && line.get("lost_since").is_none(),
                "{line}"
            );
            from = line["cursor"].as_str().unwrap().to_owned();
            if line.get("sequence").is_some() {
                seen.lock().unwrap().push(line);
            }
            if stop.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }));
        thread::sleep(Duration::from_millis(20));
    }
}

fn query_all(url: &MonitorUrl) -> Option<Vec<Json>> {
    let mut lines = Vec::new();
    let mut client = Client::new(url.clone(), None);
    let read = client.lines("/v1/events", |line| {
        lines.push(serde_json::from_str(line).unwrap());
        ControlFlow::Continue(())
    });
    block_on(read).unwrap().ok()?;
    let end: Json = lines.pop()?;
    (end["end"]["complete"] == true).then_some(lines)
}

#[test]
fn what_is_acknowledged_survives_kills_in_order_once_and_without_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url: MonitorUrl = format!("http://127.0.0.1:{port}").parse().unwrap();
    let start = |name| Process::start(name, folder.path(), port);
    let mut processes = [start("monitor_process"), start("sensor_process")];

    let address = SensorAddress::Path(folder.path().join("socket"));
    let uplink = SocketUplink::new(address, Duration::from_secs(10));
    let settings = EmitterSettings {
        full_ring: FullRing::Block,
        ring_bytes: 64 << 10,
        chunk_bytes: 4 << 10,
        ..EmitterSettings::default()
    };
    let source = Source::new("load", 1).unwrap();
    let emitter = Emitter::start(source, settings, Box::new(uplink)).unwrap();
    let (loaded, subscribed) = (AtomicBool::new(false), AtomicBool::new(false));
    let seen = Mutex::new(Vec::new());

    let (account, stored) = thread::scope(|scope| {
        let subscriber = scope.spawn(|| subscribe(&url, &seen, &subscribed));
        let emitting: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (emitter, loaded) = (&emitter, &loaded);
                scope.spawn(move || {
                    let subject = Subject::new(&format!("load.thread{thread}")).unwrap();
                    let mut i = 0;
                    while !loaded.load(Ordering::Relaxed) {
                        assert!(emitter.emit(&subject, &[("i", Value::Integer(i))]));
                        i += 1;
                        if i % 50 == 0 {
                            thread::sleep(Duration::from_millis(2));
                        }
                    }
                    i
                })
            })
            .collect();
        let mut acknowledged = 0;
        for kill in 0..KILLS {
            // Each life makes progress before it ends, so every kill meets a process at work.
            let before = emitter.account().acknowledged;
            while emitter.account().acknowledged < before + 200 {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_millis((kill * 37) % 90));
            acknowledged = emitter.account().acknowledged;
            let victim = &mut processes[usize::from(kill % 3 != 0)];
            victim.kill();
            *victim = start(victim.name);
        }
        loaded.store(true, Ordering::Relaxed);
        let emitted: i64 = emitting.into_iter().map(|thread| thread.join().unwrap()).sum();
        let account = emitter.close();
        assert!(account.acknowledged >= acknowledged);
        assert_eq!(
            account.numbered,
            emitted as u64 + 1,
            "every event and the end have a number"
        );
        assert_eq!(account.acknowledged, account.numbered);

        // The sensor promised to pass on all of it.
        let stored = loop {
            match query_all(&url) {
                Some(stored) if stored.len() as u64 >= account.numbered => break stored,
                _ => thread::sleep(Duration::from_millis(50)),
            }
        };
        while (seen.lock().unwrap().len() as u64) < account.numbered {
            thread::sleep(Duration::from_millis(20));
        }
        subscribed.store(true, Ordering::Relaxed);
        drop(processes);
        subscriber.join().unwrap();
        (account, stored)
    });

    let sequences: Vec<u64> = stored.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    let expected: Vec<u64> = (1..=account.numbered).collect();
    assert_eq!(
        sequences, expected,
        "stored: in order, no gap, no duplicate, nothing lost"
    );
    for thread in 0..THREADS {
        let own = stored
            .iter()
            .filter(|event| event["subject"] == format!("load.thread{thread}"));
        assert!(own.enumerate().all(|(i, event)| event["fields"]["i"] == i as i64));
    }
    assert_eq!(
        *seen.lock().unwrap(),
        stored,
        "the subscriber saw what is stored, each event once"
    );

    let log = Log::open(&folder.path().join("monitor"), process_settings()).unwrap();
    let audit = block_on(log.audit()).unwrap().unwrap();
    assert_eq!(audit.problems, Vec::<String>::new());
    let of_load = audit
        .sources
        .iter()
        .find(|audited| audited.source.name() == "load")
        .unwrap();
    assert!(of_load.account.ended && of_load.account.lost.is_empty());
}
