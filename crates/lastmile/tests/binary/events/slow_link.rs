//! A subscriber behind a modem that sleeps: it delays nobody, costs the monitor no memory, and catches up in order.

use super::Running;
use crate::sandbox::Sandbox;
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

/// A modem: 49 kbit/s down, 30 kbit/s up, 120 ms.
const MODEM: &str = "wpt/dial";
const EVENTS: u64 = 20_000;
const SUBSCRIBE: [&str; 4] = ["subscribe", "gate.*", "--from", "start"];

/// How long it sleeps: `make late` sets a minute.
fn sleep_time() -> Duration {
    let seconds = std::env::var("LASTMILE_SLEEP_SECONDS").map_or(2, |seconds| seconds.parse().unwrap());
    Duration::from_secs(seconds)
}

/// The memory that a process holds, in bytes.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

fn emit(sandbox: &Sandbox, url: &str) {
    let mut emitting = sandbox
        .command(&["emit", "--monitor", url])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = emitting.stdin.take().unwrap();
    for i in 0..EVENTS {
        let text = format!("the sensor at the gate has counted {} cars, ", i * 7919 % 1000).repeat(20);
        writeln!(lines, "gate.north i={i} text=\"{text}\"").unwrap();
    }
    drop(lines);
    assert!(emitting.wait().unwrap().success());
}

/// The next event of a subscription.
fn next_event(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> Value {
    let line = lines.next().expect("the subscription goes on").unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn a_subscriber_behind_a_modem_sleeps_at_nobodys_cost_and_catches_up() {
    let sandbox = Sandbox::new();
    let tried = sandbox.run(&["link", MODEM, "--quiet", "--", "true"]);
    if tried.code == Some(3) {
        return eprintln!("skipped: {}", tried.stderr);
    }
    let monitor = Running::monitor(&sandbox, &[]);
    let url = monitor.url();
    let port = url.rsplit(':').next().unwrap();
    let far = format!("http://host.lastmile:{port}");
    let link = ["link", MODEM, "--quiet", "--", crate::sandbox::LASTMILE];
    let behind = [&link[..], &SUBSCRIBE, &["--compress", "--monitor", &far]].concat();
    let mut sleeping = sandbox.command(&behind).stdout(Stdio::piped()).spawn().unwrap();
    let asleep_at = Instant::now();
    let awake = [&SUBSCRIBE[..], &["--monitor", &url]].concat();
    let mut awake = sandbox.command(&awake).stdout(Stdio::piped()).spawn().unwrap();
    emit(&sandbox, &url);

    // The one that is awake gets everything while the other has not read a line.
    let mut lines = BufReader::new(awake.stdout.take().unwrap()).lines();
    for sequence in 1..=EVENTS {
        assert_eq!(next_event(&mut lines)["sequence"], sequence);
    }
    awake.kill().unwrap();
    awake.wait().unwrap();
    let before = resident(monitor.child.id());
    thread::sleep(sleep_time().saturating_sub(asleep_at.elapsed()));
    let slept = resident(monitor.child.id());

    let mut lines = BufReader::new(sleeping.stdout.take().unwrap()).lines();
    for sequence in 1..=EVENTS {
        let event = next_event(&mut lines);
        assert_eq!(
            (&event["sequence"], &event["fields"]["i"]),
            (&sequence.into(), &(sequence - 1).into())
        );
    }
    let caught_up = resident(monitor.child.id());
    // Lines of all events have 22 MB.
    for after in [slept, caught_up] {
        assert!(
            after < before + (8 << 20),
            "the monitor grew from {before} to {after} bytes"
        );
    }
    // `link` ends every process of its command.
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(sleeping.id() as i32),
        nix::sys::signal::Signal::SIGTERM,
    )
    .unwrap();
    sleeping.wait().unwrap();
}
