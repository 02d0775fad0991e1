//! A power failure after each acknowledgement: `strace` records what a sensor with the durability `power` does to its files, in order. Of that only what was
//! synced is replayed into another folder: the content of a file as of its last sync, and names as of the last sync of their folder. All that was
//! acknowledged until then must be found there.
//!
//! The process that is traced is this test's own program, started again as its ignored test. Where there is no `strace`, the test says so and ends.

#![cfg(target_os = "linux")]

use lastmile_events::uplink::{Durability, Reply, SensorAddress, SocketUplink, Uplink as _};
use lastmile_events::{ChunkBuilder, Source, Timestamp};
use lastmile_monitor::block_on;
use lastmile_monitor::client::Client;
use lastmile_monitor::log::{Log, LogSettings};
use lastmile_monitor::sensor::{self, Forwarding, SensorSettings, Spool};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const FOLDER: &str = "POWER_TEST_FOLDER";
/// A folder in folders that are new as well.
const SPOOL: &str = "var/events/spool";

fn settings() -> LogSettings {
    LogSettings {
        durability: Durability::Power,
        ..LogSettings::default()
    }
}

#[test]
#[ignore = "the sensor's process of the other test"]
fn sensor_process() {
    let folder = PathBuf::from(std::env::var(FOLDER).expect("the test sets it"));
    let settings_of_sensor = SensorSettings {
        address: SensorAddress::Path(folder.join("socket")),
        line_source: Source::new("lines", 1).unwrap(),
        otlp: None,
        forwarding: Forwarding {
            durability: Durability::Power,
            budget: None,
            name: "sensor".to_owned(),
            note: |_| (),
        },
    };
    let nobody = Client::new("http://127.0.0.1:1".parse().unwrap(), None);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !folder.join("stop").exists() {
                thread::sleep(Duration::from_millis(5));
            }
            stop.store(true, Ordering::Relaxed);
        });
        let running = async {
            let spool = Spool::open(&folder.join(SPOOL), settings(), |_| ()).await.unwrap();
            sensor::run(spool, nobody, settings_of_sensor, &stop).await
        };
        block_on(running).unwrap().unwrap();
    });
}

/// Sends lines and chunks in turn, each once the one before is acknowledged.
fn emit(socket: &Path) {
    let mut uplink = SocketUplink::new(SensorAddress::Path(socket.to_owned()), Duration::from_secs(60));
    for turn in 0..6 {
        let mut builder = ChunkBuilder::new(Source::new("chunks", 1).unwrap(), turn + 1);
        builder.push(Timestamp::default(), "a.b", []).unwrap();
        let reply = uplink.submit(&builder.finish().unwrap()).unwrap();
        assert!(matches!(reply, Reply::Acknowledged { next, durability: Durability::Power } if next == turn + 2));
        let mut lines = UnixStream::connect(socket).unwrap();
        lines.write_all(b"a.b n=1\na.b n=2\n").unwrap();
        lines.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        lines.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "kept 2 refused 0 dropped 0\n");
    }
}

/// The calls of a trace, each whole and at the moment when it ended; what is sent, at the moment when it began.
fn calls(trace: &str) -> Vec<String> {
    let mut unfinished = BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let (process, call) = line.split_once(' ').unwrap();
        let call = call.trim_start();
        if let Some(begun) = call.strip_suffix(" <unfinished ...>") {
            if begun.starts_with("sendto(") {
                calls.push(begun.to_owned());
            } else {
                unfinished.insert(process.to_owned(), begun.to_owned());
            }
        } else if let Some((_, rest)) = call.strip_prefix("<... ").and_then(|call| call.split_once(" resumed>")) {
            calls.extend(unfinished.remove(process).map(|begun| begun + rest));
        } else {
            calls.push(call.to_owned());
        }
    }
    calls
}

/// The bytes of hexadecimal escapes up to a closing character.
fn unescape(text: &str, close: char) -> Vec<u8> {
    let (escapes, _) = text.split_once(close).unwrap();
    let bytes = escapes.split("\\x").skip(1);
    bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn path(text: &str, close: char) -> PathBuf {
    String::from_utf8(unescape(text, close)).unwrap().into()
}

/// Files as programs see them, and as a disk has them.
#[derive(Default)]
struct Disk {
    root: PathBuf,
    content: BTreeMap<PathBuf, Vec<u8>>,
    synced: BTreeMap<PathBuf, Vec<u8>>,
    names: BTreeSet<PathBuf>,
    synced_names: BTreeSet<PathBuf>,
    /// Events that were acknowledged: of lines, and of the source of chunks.
    of_lines: u64,
    of_chunks: u64,
}

impl Disk {
    /// Replays a call; whether a power failure after it must be survived: more was synced or acknowledged.
    fn replay(&mut self, call: &str) -> bool {
        let (name, arguments) = call.split_once('(').unwrap_or((call, ""));
        let of_descriptor = arguments.split_once('<').map(|(_, rest)| path(rest, '>'));
        let is_ours = |path: &PathBuf| path.starts_with(&self.root) && *path != self.root;
        let first_text = arguments.split_once('"').map(|(_, rest)| rest);
        let last_number = |text: &str| {
            text.rsplit([' ', '('])
                .next()
                .and_then(|number| number.parse::<usize>().ok())
        };
        let before_result = arguments.rsplit_once(") ").map_or(arguments, |(before, _)| before);
        match name {
            "openat" if call.contains("O_CREAT") && !call.contains(" = -1") => {
                let opened = path(arguments.rsplit_once('<').unwrap().1, '>');
                if is_ours(&opened) && self.names.insert(opened.clone()) {
                    self.content.insert(opened, Vec::new());
                }
            }
            "mkdir" if call.contains(" = 0") => {
                self.names.insert(path(first_text.unwrap(), '"'));
            }
            "unlink" if call.contains(" = 0") => {
                self.names.remove(&path(first_text.unwrap(), '"'));
            }
            "pwrite64" if of_descriptor.as_ref().is_some_and(is_ours) => {
                let bytes = unescape(first_text.unwrap(), '"');
                let at = last_number(before_result).unwrap();
                let content = self.content.get_mut(&of_descriptor.unwrap()).unwrap();
                content.resize(content.len().max(at + bytes.len()), 0);
                content[at..at + bytes.len()].copy_from_slice(&bytes);
            }
            "ftruncate" if of_descriptor.as_ref().is_some_and(is_ours) => {
                let length = last_number(before_result).unwrap();
                self.content.get_mut(&of_descriptor.unwrap()).unwrap().resize(length, 0);
            }
            "fsync" | "fdatasync" => {
                let synced = of_descriptor.unwrap();
                if let Some(content) = self.content.get(&synced) {
                    self.synced.insert(synced, content.clone());
                } else {
                    let is_elsewhere = |name: &PathBuf| name.parent() != Some(&synced);
                    self.synced_names.retain(is_elsewhere);
                    let here = self.names.iter().filter(|name| !is_elsewhere(name));
                    self.synced_names.extend(here.cloned());
                }
                return true;
            }
            "write" | "writev" | "pwritev" | "rename" | "fallocate" | "copy_file_range" => {
                let path = of_descriptor.or_else(|| Some(path(first_text?, '"')));
                assert!(
                    !path.is_some_and(|path| path.starts_with(self.root.join(SPOOL))),
                    "unknown here: {call}"
                );
            }
            "sendto" => return self.acknowledge(&unescape(first_text.unwrap(), '"')),
            _ => {}
        }
        false
    }

    fn acknowledge(&mut self, sent: &[u8]) -> bool {
        if let Ok(sent) = <[u8; 16]>::try_from(sent)
            && let Some(Reply::Acknowledged { next, .. }) = Reply::from_bytes(sent)
        {
            self.of_chunks = next - 1;
        } else if let Some(kept) = std::str::from_utf8(sent)
            .ok()
            .and_then(|sent| sent.strip_prefix("kept "))
        {
            self.of_lines += kept.split(' ').next().unwrap().parse::<u64>().unwrap();
        }
        true
    }

    /// Makes what a power failure leaves, and holds it against what was acknowledged.
    fn fail(&self) {
        let acknowledged = self.of_lines + self.of_chunks;
        let left = tempfile::tempdir().unwrap();
        for (path, content) in &self.synced {
            let own = path.ancestors().take_while(|above| *above != self.root);
            if own.into_iter().all(|name| self.synced_names.contains(name)) {
                let copy = left.path().join(path.strip_prefix(&self.root).unwrap());
                std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
                std::fs::write(copy, content).unwrap();
            }
        }
        if acknowledged > 0 {
            let log = Log::open(&left.path().join(SPOOL), settings()).unwrap();
            let audit = block_on(log.audit()).unwrap().unwrap();
            assert_eq!(audit.problems, Vec::<String>::new());
            let stored: u64 = audit.sources.iter().map(|source| source.account.stored).sum();
            assert!(stored >= acknowledged, "{stored} of {acknowledged}");
        }
    }
}

#[test]
fn a_power_failure_at_any_moment_leaves_all_that_was_acknowledged_for_power() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let trace = root.join("trace");
    let strace = |program: &Path| {
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-xx", "-s", "4194304", "-o"]).arg(&trace);
        command.args([
            "-e",
            "trace=openat,mkdir,unlink,rename,write,writev,pwrite64,pwritev,ftruncate,fallocate,copy_file_range,fsync,fdatasync,sendto",
        ]);
        command.arg(program);
        command
    };
    if !strace(Path::new("true"))
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return eprintln!("skipped: strace is not installed, or may not trace here (make peers installs it)");
    }
    let mut command = strace(&std::env::current_exe().unwrap());
    command
        .args(["sensor_process", "--exact", "--ignored"])
        .env(FOLDER, &root);
    let mut sensor = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let socket = root.join("socket");
    while !socket.exists() {
        assert!(sensor.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(5));
    }
    emit(&socket);
    std::fs::write(root.join("stop"), "").unwrap();
    assert!(sensor.wait().unwrap().success());

    let mut disk = Disk {
        root,
        ..Disk::default()
    };
    for call in calls(&std::fs::read_to_string(&trace).unwrap()) {
        if disk.replay(&call) {
            disk.fail();
        }
    }
    assert_eq!((disk.of_chunks, disk.of_lines), (6, 12));
}
