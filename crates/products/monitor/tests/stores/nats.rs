//! The same, with a NATS server; and what its settings lose.

use super::*;
use lastmile_monitor::log::StoreUrl;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

/// A NATS server with files of its own.
struct Server {
    folder: PathBuf,
    port: u16,
    child: Child,
}

impl Server {
    fn start(folder: &Path) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = format!(
            "listen: 127.0.0.1:{port}\njetstream {{ store_dir: {:?} }}\n",
            folder.join("data")
        );
        fs::write(folder.join("nats.conf"), settings).unwrap();
        let Ok(child) = run(folder) else {
            println!("skipped: no nats-server here (make peers installs it)");
            return None;
        };
        let server = Self {
            folder: folder.to_owned(),
            port,
            child,
        };
        server.wait_until_it_answers();
        Some(server)
    }

    fn wait_until_it_answers(&self) {
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(20), "nats-server does not answer");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn url(&self, stream: &str) -> StoreUrl {
        format!("nats://127.0.0.1:{}/{stream}", self.port).parse().unwrap()
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn start_again(&mut self) {
        self.child = run(&self.folder).unwrap();
        self.wait_until_it_answers();
    }

    /// The files with the messages of a stream.
    fn blocks(&self, stream: &str) -> Vec<PathBuf> {
        let folder = self.folder.join("data/jetstream/$G/streams").join(stream).join("msgs");
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let mut blocks: Vec<_> = files
            .filter(|path| path.extension().is_some_and(|extension| extension == "blk"))
            .collect();
        blocks.sort();
        blocks
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(folder: &Path) -> std::io::Result<Child> {
    Command::new("nats-server")
        .arg("-c")
        .arg(folder.join("nats.conf"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

#[test]
fn jetstream_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = Server::start(folder.path()) else {
        return;
    };
    for (at, holds) in CONTRACT.into_iter().enumerate() {
        let (folder, url) = (tempfile::tempdir().unwrap(), server.url(&format!("S{at}")));
        holds(&|settings| Log::open_store(folder.path(), &url, settings));
    }
}

/// Appends chunks of ten events until so many events are acknowledged; the number that comes next.
fn fill(log: &Log, events: u64) -> u64 {
    let a = source("a");
    (0..events / 10).fold(1, |_, i| next(append(log, chunk(&a, 1 + i * 10, 10))))
}

/// The acknowledged numbers that are not there, of those below `next`.
fn missing(log: &Log, next: u64) -> Vec<u64> {
    let kept: Vec<u64> = read_all(log).0.into_iter().map(|(_, number)| number).collect();
    assert!(kept.windows(2).all(|pair| pair[0] < pair[1]), "in order, once");
    (1..next).filter(|number| kept.binary_search(number).is_err()).collect()
}

#[test]
fn a_killed_server_with_files_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut server) = Server::start(folder.path()) else {
        return;
    };
    let (own, url) = (tempfile::tempdir().unwrap(), server.url("KILLED"));
    let log = Log::open_store(own.path(), &url, settings()).unwrap();
    let a = source("a");
    let mut sent = 1;
    for _ in 0..5 {
        for _ in 0..20 {
            sent = next(append(&log, chunk(&a, sent, 10)));
        }
        server.kill();
        assert_eq!(append(&log, chunk(&a, sent, 10)), Reply::Full, "nobody acknowledges");
        server.start_again();
        // What was sent last may have been kept all the same: the answer says where to go on.
        let start = Instant::now();
        loop {
            match append(&log, chunk(&a, sent, 10)) {
                Reply::Acknowledged { next, .. } => {
                    sent = next;
                    break;
                }
                Reply::Full => assert!(start.elapsed() < Duration::from_secs(30)),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(missing(&log, sent), Vec::<u64>::new());
    assert_eq!(audit(&log).problems, Vec::<String>::new());
    drop(log);
    let log = Log::open_store(own.path(), &url, settings()).unwrap();
    assert_eq!(missing(&log, sent), Vec::<u64>::new());
    assert_eq!(audit(&log).problems, Vec::<String>::new());
}

#[test]
fn what_a_server_in_memory_loses_with_its_end_is_a_hole_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut server) = Server::start(folder.path()) else {
        return;
    };
    let (own, url) = (tempfile::tempdir().unwrap(), server.url("MEMORY"));
    let in_memory = LogSettings {
        durability: Durability::Memory,
        ..settings()
    };
    let next_number = {
        let log = Log::open_store(own.path(), &url, in_memory).unwrap();
        fill(&log, 200)
    };
    server.kill();
    server.start_again();
    let log = Log::open_store(own.path(), &url, in_memory).unwrap();
    assert_eq!(missing(&log, next_number).len() as u64, next_number - 1);
    let problems = audit(&log).problems;
    assert!(problems[0].starts_with("positions 0 to 199:"), "{problems:?}");
    // The source is asked from its first number on, and states what it no longer has.
    assert_eq!(
        append(&log, chunk(&source("a"), next_number, 10)),
        Reply::Gap { expected: 1 }
    );
}

#[test]
fn what_a_flipped_bit_costs_a_server_is_named_to_the_event() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut server) = Server::start(folder.path()) else {
        return;
    };
    let mut lost_most = 0;
    for (at, share) in [0.1, 0.5, 0.9].into_iter().enumerate() {
        let stream = format!("FLIP{at}");
        let (own, url) = (tempfile::tempdir().unwrap(), server.url(&stream));
        let next_number = {
            let log = Log::open_store(own.path(), &url, settings()).unwrap();
            fill(&log, 1000)
        };
        server.kill();
        let block = server.blocks(&stream).remove(0);
        let mut bytes = fs::read(&block).unwrap();
        let byte = (bytes.len() as f64 * share) as usize;
        bytes[byte] ^= 4;
        fs::write(&block, bytes).unwrap();
        // What the server remembers of its messages besides, it reads only where it was stopped in good order.
        server.start_again();
        let log = Log::open_store(own.path(), &url, settings()).unwrap();
        let lost = missing(&log, next_number);
        let problems = audit(&log).problems;
        println!(
            "a bit flipped at {:.0} %: {} of {} acknowledged events are lost; the audit says {problems:?}",
            share * 100.0,
            lost.len(),
            next_number - 1
        );
        assert_eq!(
            lost.is_empty(),
            problems.is_empty(),
            "what is lost is named, and only that"
        );
        lost_most = lost_most.max(lost.len());
    }
    assert!(lost_most > 0, "no flip did any harm");
}
