//! A sensor's spool that is damaged, or on a full disk, while its monitor is away: what is lost is told, and audit adds up.

use super::Running;
use crate::sandbox::Sandbox;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

/// Nobody answers there.
const NOBODY: &str = "http://127.0.0.1:1";
const LINES: usize = 500;

/// A sensor that listens, and is killed when it is dropped.
struct Sensor<'a> {
    sandbox: &'a Sandbox,
    child: Child,
}

impl<'a> Sensor<'a> {
    fn start(sandbox: &'a Sandbox, monitor: &str) -> Self {
        let words = ["sensor", "spool", "--monitor", monitor, "--socket", "s"];
        let stderr = File::create(sandbox.path().join("stderr")).unwrap();
        let mut command = sandbox.command(&words);
        let child = command.stderr(stderr).spawn().unwrap();
        let sensor = Self { sandbox, child };
        while !sensor.stderr().contains("the sensor listens at") {
            thread::sleep(Duration::from_millis(5));
        }
        sensor
    }

    fn stderr(&self) -> String {
        self.sandbox.read("stderr")
    }

    /// Sends lines; the sensor's answer.
    fn send_lines(&self, lines: impl Iterator<Item = String>) -> String {
        let mut stream = UnixStream::connect(self.sandbox.path().join("s")).unwrap();
        stream.write_all(lines.collect::<String>().as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn fill(&self) {
        for part in 0..4 {
            let lines = (part * LINES..(part + 1) * LINES).map(|i| format!("dev.x n={i} t=\"reading {i}\"\n"));
            assert_eq!(self.send_lines(lines), "kept 500 refused 0 dropped 0\n");
        }
    }

    fn end_in_good_order(mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Sensor<'_> {
    fn drop(&mut self) {
        // Where a shell has started it.
        if let Ok(process) = fs::read_to_string(self.sandbox.path().join("process")) {
            let _ = Command::new("kill").args(["-9", process.trim()]).status();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn flip(sandbox: &Sandbox, file: &str, text: &str) {
    let path = sandbox.path().join("spool").join(file);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(text.len()).position(|window| window == text.as_bytes());
    bytes[at.unwrap()] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// Asks the monitor until the sources have so many numbers; what of them is lost, by cause.
fn losses(sandbox: &Sandbox, url: &str, numbered: u64) -> Vec<(String, u64)> {
    for _ in 0..500 {
        let audit = sandbox.run(&["audit", "--monitor", url, "--format", "json"]);
        audit.succeeded();
        let audit: Value = serde_json::from_str(&audit.stdout).unwrap();
        let sources = audit["sources"].as_array().unwrap();
        let sum = |field: &str| {
            sources
                .iter()
                .map(|source| source[field].as_u64().unwrap())
                .sum::<u64>()
        };
        if sum("numbered") == numbered {
            let losses = sources.iter().flat_map(|source| source["lost"].as_array().unwrap());
            let losses = losses.map(|loss| {
                (
                    loss["cause"].as_str().unwrap().to_owned(),
                    loss["count"].as_u64().unwrap(),
                )
            });
            let losses: Vec<_> = losses.collect();
            assert_eq!(
                sum("stored") + losses.iter().map(|(_, count)| count).sum::<u64>(),
                numbered
            );
            let screen = sandbox.run(&["audit", "--monitor", url]).stdout;
            assert_eq!(screen.contains("LOST: "), !losses.is_empty(), "{screen}");
            assert_eq!(screen.contains("Nothing is lost"), losses.is_empty(), "{screen}");
            return losses;
        }
        assert!(sum("numbered") < numbered, "{audit}");
        thread::sleep(Duration::from_millis(20));
    }
    panic!("the sources did not come to {numbered} numbers");
}

/// Opens a spool that was filled and damaged; what the sensor says, and how many events are lost.
fn lost_by(damage: impl Fn(&Sandbox)) -> (String, u64) {
    let sandbox = Sandbox::new();
    Sensor::start(&sandbox, NOBODY).fill();
    damage(&sandbox);
    let monitor = Running::monitor(&sandbox, &[]);
    let sensor = Sensor::start(&sandbox, &monitor.url());
    let losses = losses(&sandbox, &monitor.url(), 2000);
    assert!(losses.iter().all(|(cause, _)| cause == "spool damaged"), "{losses:?}");
    (sensor.stderr(), losses.iter().map(|(_, count)| count).sum())
}

#[test]
fn what_a_damaged_spool_has_lost_is_told_and_audit_adds_up() {
    let last = |sandbox: &Sandbox| flip(sandbox, "events.sqlite-wal", "reading 1999");
    let first = |sandbox: &Sandbox| flip(sandbox, "events.sqlite-wal", "reading 0");
    let gone = |sandbox: &Sandbox| {
        for file in ["events.sqlite", "events.sqlite-wal"] {
            fs::remove_file(sandbox.path().join("spool").join(file)).unwrap();
        }
    };
    // Once the database holds all of it, and nothing of the source follows.
    let in_the_database = |sandbox: &Sandbox| {
        Sensor::start(sandbox, NOBODY).end_in_good_order();
        flip(sandbox, "events.sqlite", "reading 1999");
    };
    // A sensor refuses what is left, and starts with what is salvaged of it.
    let cut = |sandbox: &Sandbox| {
        Sensor::start(sandbox, NOBODY).end_in_good_order();
        let spool = sandbox.path().join("spool");
        let database = File::options().write(true).open(spool.join("events.sqlite")).unwrap();
        database.set_len(database.metadata().unwrap().len() / 2).unwrap();
        let words = ["sensor", "spool", "--monitor", NOBODY, "--socket", "s"];
        sandbox.run(&words).refused(2, &["damaged", "lastmile salvage"]);
        assert_eq!(sandbox.run(&["salvage", "spool", "whole"]).code, Some(99));
        fs::remove_dir_all(&spool).unwrap();
        fs::rename(sandbox.path().join("whole"), spool).unwrap();
    };
    let (last, first, gone, cut) = (lost_by(last), lost_by(first), lost_by(gone), lost_by(cut));
    for (said, lost) in [&last, &first, &gone, &cut] {
        let expected = format!("spool: the spool is damaged: {lost} events that were acknowledged are lost");
        let lines = said.lines().filter(|line| line.contains("the spool is damaged"));
        let lines: Vec<&str> = lines.collect();
        assert!(matches!(lines[..], [line] if line.starts_with(&expected)), "{said}");
    }
    assert_eq!((first.1, gone.1), (2000, 2000));
    assert!(last.1 > 0 && last.1 < 2000);
    let (said, lost) = lost_by(in_the_database);
    assert_eq!(said.matches("the spool is damaged from position").count(), 1, "{said}");
    assert!(lost > 0 && lost < 2000);
}

#[test]
fn a_spool_of_which_a_part_cannot_be_read_takes_no_more_events() {
    let sandbox = Sandbox::new();
    let sensor = Sensor::start(&sandbox, NOBODY);
    sensor.fill();
    sensor.end_in_good_order();
    // What the write-ahead log of this life has says that the database is whole.
    Sensor::start(&sandbox, NOBODY).send_lines(["dev.x n=1\n".to_owned()].into_iter());
    let database = sandbox.path().join("spool/events.sqlite");
    let database = File::options().write(true).open(database).unwrap();
    database.set_len(database.metadata().unwrap().len() * 8 / 10).unwrap();
    let words = ["sensor", "spool", "--monitor", NOBODY, "--socket", "s"];
    sandbox.run(&words).refused(2, &["damaged", "lastmile salvage"]);
}

/// A sensor on a disk of 4 MB, in a mount namespace of its own: once it is killed it is started again, with a monitor.
#[cfg(target_os = "linux")]
const SMALL_DISK: &str = r#"mount -t tmpfs -o size=4m none spool || exit 77
"$1" sensor spool/events --monitor "$2" --socket s 2>stderr & echo $! >process; wait $!
exec "$1" sensor spool/events --monitor "$3" --socket s 2>stderr-2"#;

#[cfg(target_os = "linux")]
#[test]
fn a_sensor_whose_disk_was_full_tells_what_it_dropped_and_keeps_events_again() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("spool")).unwrap();
    let monitor = Running::monitor(&sandbox, &[]);
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", SMALL_DISK, "sh"]);
    command.args([crate::sandbox::LASTMILE, NOBODY, &monitor.url()]);
    let child = command.current_dir(sandbox.path()).spawn().unwrap();
    let mut sensor = Sensor {
        sandbox: &sandbox,
        child,
    };
    while !sandbox.path().join("s").exists() {
        if let Some(ended) = sensor.child.try_wait().unwrap() {
            return eprintln!("skipped: unshare cannot make a mount namespace with a tmpfs here ({ended})");
        }
        thread::sleep(Duration::from_millis(5));
    }
    let (mut kept, mut dropped) = (0, 0);
    let text = "0123456789".repeat(10);
    let mut full = 0;
    while full < 5 {
        let answer = sensor.send_lines((0..400).map(|i| format!("dev.x n={i} t=\"{text}\"\n")));
        let numbers: Vec<u64> = answer.split(' ').filter_map(|word| word.trim().parse().ok()).collect();
        kept += numbers[0];
        dropped += numbers[2];
        full += u64::from(numbers[0] == 0);
    }
    assert!(kept > 4000 && dropped >= 2000, "{kept} {dropped}");
    fs::remove_file(sandbox.path().join("s")).unwrap();
    let process = sandbox.read("process");
    fs::remove_file(sandbox.path().join("process")).unwrap();
    assert!(
        Command::new("kill")
            .args(["-9", process.trim()])
            .status()
            .unwrap()
            .success()
    );
    while !sandbox.path().join("s").exists() {
        thread::sleep(Duration::from_millis(5));
    }
    let losses = |numbered| losses(&sandbox, &monitor.url(), numbered);
    assert_eq!(losses(kept + dropped), [("store full".to_owned(), dropped)]);
    assert_eq!(
        sensor.send_lines((0..3).map(|i| format!("dev.x n={i}\n"))),
        "kept 3 refused 0 dropped 0\n"
    );
    assert_eq!(losses(kept + dropped + 3).len(), 1);
}

/// A web server that is no monitor.
fn serve_pages(listener: &TcpListener) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 22\r\nconnection: close\r\n\r\n<html>\n<p>\nhi\n</html>\n");
    }
}

#[test]
fn an_uplink_that_is_refused_is_told_in_one_line() {
    let sandbox = Sandbox::new();
    sandbox.file("token", "a-token-of-this-test\n");
    fs::set_permissions(sandbox.path().join("token"), fs::Permissions::from_mode(0o600)).unwrap();
    let monitor = Running::monitor(&sandbox, &["--token-file", "token"]);
    let pages = TcpListener::bind("127.0.0.1:0").unwrap();
    let other = format!("http://{}", pages.local_addr().unwrap());
    thread::spawn(move || serve_pages(&pages));
    for (url, why) in [
        (monitor.url(), "401 Unauthorized: send the monitor's token"),
        (
            other,
            r#"200 OK: the answer is not a monitor's: "<html> <p> hi </html>""#,
        ),
    ] {
        let sensor = Sensor::start(&sandbox, &url);
        sensor.send_lines(["dev.x n=1\n".to_owned()].into_iter());
        while !sensor.stderr().contains("until the monitor takes them") {
            thread::sleep(Duration::from_millis(5));
        }
        let said = sensor.stderr();
        assert_eq!(said.lines().count(), 2, "{said}");
        assert!(said.contains(&format!("{url}: {why}")), "{said}");
    }
}
