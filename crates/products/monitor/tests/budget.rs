//! A sensor with a budget, which is killed on the way: a proxy between it and its monitor counts the bytes that it sends, and no 10 seconds hold more
//! than the budget. What was dropped is stated by subject, and everything adds up.
//!
//! The process that is killed is this test's own program, started again as its ignored test.

#![cfg(unix)]

use lastmile_events::uplink::{Durability, SensorAddress, SocketUplink};
use lastmile_events::{Emitter, EmitterSettings, FullRing, Source, Subject, Value};
use lastmile_monitor::client::Client;
use lastmile_monitor::log::{Log, LogSettings};
use lastmile_monitor::sensor::{self, ByteBudget, Forwarding, SensorSettings, Spool, WINDOW};
use lastmile_monitor::service::Monitor;
use lastmile_monitor::{block_on, server};
use lastmile_units::BitRate;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const RATE: u64 = 64_000;
const FOLDER: &str = "BUDGET_TEST_FOLDER";
const MONITOR: &str = "BUDGET_TEST_MONITOR";

fn settings() -> LogSettings {
    LogSettings {
        durability: Durability::Process,
        ..LogSettings::default()
    }
}

/// When how many bytes came.
type Arrivals = Arc<Mutex<Vec<(Instant, usize)>>>;

/// Passes a connection on, and notes when how many bytes came from its client.
fn proxy(listener: &TcpListener, server: &str, seen: &Arrivals, stop: &AtomicBool) {
    listener.set_nonblocking(true).unwrap();
    while !stop.load(Ordering::Relaxed) {
        let Ok((client, _)) = listener.accept() else {
            thread::sleep(Duration::from_millis(2));
            continue;
        };
        client.set_nonblocking(false).unwrap();
        let server = TcpStream::connect(server).unwrap();
        let copy = |mut from: TcpStream, mut to: TcpStream, seen: Option<Arrivals>| {
            thread::spawn(move || {
                let mut bytes = [0; 16 << 10];
                while let Ok(count @ 1..) = from.read(&mut bytes) {
                    if let Some(seen) = &seen {
                        seen.lock().unwrap().push((Instant::now(), count));
                    }
                    if to.write_all(&bytes[..count]).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(Shutdown::Both);
            })
        };
        copy(
            client.try_clone().unwrap(),
            server.try_clone().unwrap(),
            Some(Arc::clone(seen)),
        );
        copy(server, client, None);
    }
}

#[test]
#[ignore = "the sensor's process of the other test"]
fn sensor_process() {
    let [folder, monitor] = [FOLDER, MONITOR].map(|name| std::env::var(name).expect("the test sets it"));
    let folder = Path::new(&folder);
    let sensor_settings = SensorSettings {
        address: SensorAddress::Path(folder.join("socket")),
        line_source: Source::new("lines", u64::from(std::process::id())).unwrap(),
        otlp: None,
        forwarding: Forwarding {
            durability: Durability::Process,
            budget: Some(ByteBudget {
                rate: BitRate::new(RATE).unwrap(),
                delay: Duration::from_secs(2),
            }),
            name: "thin".to_owned(),
            note: |_| (),
        },
    };
    let client = Client::new(monitor.parse().unwrap(), None);
    let running = async {
        let spool = Spool::open(&folder.join("sensor"), settings(), |_| ()).await.unwrap();
        sensor::run(spool, client, sensor_settings, &AtomicBool::new(false)).await
    };
    block_on(running).unwrap().unwrap();
}

fn start_sensor(folder: &Path, monitor: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["sensor_process", "--exact", "--ignored"]);
    command.env(FOLDER, folder).env(MONITOR, monitor);
    command.stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn no_ten_seconds_hold_more_than_the_budget_and_what_is_dropped_is_counted_by_subject() {
    let folder = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::open(&folder.path().join("monitor"), settings()).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let entrance = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", entrance.local_addr().unwrap());
    let stop = AtomicBool::new(false);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let socket = folder.path().join("socket");
    let emitted = thread::scope(|scope| {
        let monitor = Arc::new(Monitor::new(Arc::clone(&log), None));
        let stop = &stop;
        scope.spawn(|| block_on(server::serve(monitor, listener, stop)).unwrap().unwrap());
        scope.spawn(|| proxy(&entrance, &address, &seen, stop));
        let mut sensor = start_sensor(folder.path(), &url);
        while !socket.exists() {
            thread::sleep(Duration::from_millis(2));
        }
        let uplink = SocketUplink::new(SensorAddress::Path(socket.clone()), Duration::from_secs(10));
        let settings = EmitterSettings {
            full_ring: FullRing::Block,
            linger: Duration::from_millis(50),
            chunk_bytes: 4 << 10,
            ..EmitterSettings::default()
        };
        let emitter = Emitter::start(Source::new("load", 1).unwrap(), settings, Box::new(uplink)).unwrap();
        let subjects = ["a.noisy", "b.rare"].map(|subject| Subject::new(subject).unwrap());
        let start = Instant::now();
        let mut was_killed = false;
        // Digits that do not compress well, and several times more than the budget, for longer than one window.
        let mut random = 1u64;
        let mut emitted = 0u64;
        while start.elapsed() < WINDOW + Duration::from_secs(4) {
            for i in 0..200 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let text = format!("{random:016x}");
                emitter.emit(&subjects[usize::from(i % 20 == 0)], &[("text", Value::Text(&text))]);
            }
            emitted += 200;
            thread::sleep(Duration::from_millis(40));
            // Once most of the first window is spent: its next life does not spend it again.
            let spent = || seen.lock().unwrap().iter().map(|(_, count)| *count as u64).sum::<u64>();
            if !was_killed && spent() > RATE * WINDOW.as_secs() / 8 / 2 {
                was_killed = true;
                sensor.kill().unwrap();
                sensor.wait().unwrap();
                sensor = start_sensor(folder.path(), &url);
            }
        }
        assert!(was_killed);
        let account = emitter.close();
        assert_eq!((account.numbered, account.dropped_full), (emitted + 1, 0));
        // The sensor keeps its budget to the end.
        while log.accounts().iter().all(|(_, account)| account.next <= emitted + 1) {
            thread::sleep(Duration::from_millis(50));
        }
        stop.store(true, Ordering::Relaxed);
        sensor.kill().unwrap();
        sensor.wait().unwrap();
        emitted
    });

    let seen = seen.lock().unwrap();
    let most = RATE * WINDOW.as_secs() / 8;
    let windows = seen.iter().enumerate().map(|(at, (begin, _))| {
        let within = seen[at..]
            .iter()
            .take_while(|(time, _)| time.duration_since(*begin) <= WINDOW);
        within.map(|(_, count)| *count as u64).sum::<u64>()
    });
    let fullest = windows.max().unwrap();
    assert!(fullest <= most, "{fullest} bytes in a window, of {most}");
    assert!(
        fullest > most / 2,
        "{fullest} bytes in a window of {most}: the budget was not used"
    );

    let audit = block_on(log.audit()).unwrap().unwrap();
    assert_eq!(audit.problems, Vec::<String>::new());
    let account = &audit
        .sources
        .iter()
        .find(|audited| audited.source.name() == "load")
        .unwrap()
        .account;
    assert!(account.adds_up() && account.ended);
    let dropped = |subject: &str| {
        let cause = ("sensor".to_owned(), format!("budget: {subject}"));
        account.lost.get(&cause).copied().unwrap_or(0)
    };
    let (noisy, rare) = (dropped("a.noisy"), dropped("b.rare"));
    assert_eq!(
        account.stored - 1 + noisy + rare,
        emitted,
        "stored but the end, and dropped: {account:?}"
    );
    assert!(rare > 0 && noisy > 10 * rare, "{noisy} {rare}");
}
