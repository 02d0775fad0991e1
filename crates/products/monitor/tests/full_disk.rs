//! A disk that is full: nothing more is acknowledged, nothing that was is lost, what is deleted makes room, and when there is room again it goes on.
//!
//! The disk is a tmpfs of 2 MiB in a mount namespace of a process of this test, which an ordinary user may have too. Where the system allows
//! no such namespace, the test says so and ends.

#![cfg(target_os = "linux")]

use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, ChunkBuilder, Source, Timestamp, Value};
use lastmile_monitor::block_on;
use lastmile_monitor::log::{Log, LogSettings};
use std::path::Path;
use std::process::Command;

const FOLDER: &str = "FULL_DISK_TEST_FOLDER";

fn chunk(first: u64) -> Chunk {
    let mut builder = ChunkBuilder::new(Source::new("a", 1).unwrap(), first);
    let text = "x".repeat(100);
    for _ in 0..50 {
        builder
            .push(Timestamp::default(), "a.b", [("text", Value::Text(text.as_str()))])
            .unwrap();
    }
    builder.finish().unwrap()
}

#[test]
#[ignore = "the process of the other test"]
fn in_the_namespace() {
    let Ok(disk) = std::env::var(FOLDER) else { return };
    let folder = Path::new(&disk).join("log");
    let settings = LogSettings {
        durability: Durability::Power,
        tail_bytes: 0,
        reserves_room: true,
        ..LogSettings::default()
    };
    let log = Log::open(&folder, settings).unwrap();
    let append = |log: &Log, first| block_on(log.append(vec![chunk(first)], Durability::Power)).unwrap()[0];
    // Something else takes most of the disk, and goes away later.
    let other = Path::new(&disk).join("other");
    std::fs::write(&other, vec![0; 1 << 20]).unwrap();
    let mut next = 1;
    loop {
        match append(&log, next) {
            Reply::Acknowledged { next: after, .. } => next = after,
            reply => {
                assert_eq!(reply, Reply::Full);
                break;
            }
        }
    }
    assert!(next > 500, "only {next} fit");
    for _ in 0..5 {
        assert_eq!(append(&log, next), Reply::Full);
    }
    let audit = block_on(log.audit()).unwrap().unwrap();
    assert_eq!(
        (audit.problems.len(), audit.sources[0].account.next),
        (0, next),
        "{:?}",
        audit.problems
    );
    block_on(log.release(next / 2)).unwrap();
    assert!(block_on(log.start()).unwrap() > 0);
    let Reply::Acknowledged { next: after, .. } = append(&log, next) else {
        panic!("what was deleted is used again")
    };
    next = after;
    std::fs::remove_file(&other).unwrap();
    let Reply::Acknowledged { next: after, .. } = append(&log, next) else {
        panic!("there is room again")
    };
    assert_eq!(after, next + 50);
    drop(log);
    let log = Log::open(&folder, settings).unwrap();
    let audit = block_on(log.audit()).unwrap().unwrap();
    assert_eq!(
        (audit.problems.len(), audit.sources[0].account.stored),
        (0, next + 49),
        "{:?}",
        audit.problems
    );
}

#[test]
fn a_full_disk_stops_acknowledgements_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=2m tmpfs \"$1\" && exec \"$2\" in_the_namespace --exact --ignored --nocapture";
    let namespace = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
        command.arg(folder.path()).arg(std::env::current_exe().unwrap());
        command.env(FOLDER, folder.path());
        command
    };
    let allowed = namespace("mount -t tmpfs -o size=2m tmpfs \"$1\"").output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: unshare cannot make a mount namespace with a tmpfs here");
        return;
    }
    let output = namespace(script).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
