//! What a monitor promises, held against each store that can keep its events: files of its own, and a NATS server with JetStream.
//!
//! With NATS (`--features nats`, and a nats-server on the PATH) the same tests run against a real server, and the checker says what its settings
//! lose: killed by SIGKILL, with files and in memory, and with a flipped bit in its files.

use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, ChunkBuilder, Loss, Source, Timestamp, Value};
use lastmile_monitor::log::{Audit, Entry, Log, LogError, LogSettings, Retention};
use std::time::Duration;

fn block_on<F: Future>(future: F) -> F::Output {
    lastmile_monitor::block_on(future).unwrap()
}

fn source(name: &str) -> Source {
    Source::new(name, 1).unwrap()
}

fn chunk_at(time: Timestamp, source: &Source, first: u64, count: u64) -> Chunk {
    let mut builder = ChunkBuilder::new(source.clone(), first);
    for i in first..first + count {
        let text = format!("event {i}");
        builder
            .push(time, "a.b", [("text", Value::Text(text.as_str()))])
            .unwrap();
    }
    builder.finish().unwrap()
}

fn chunk(source: &Source, first: u64, count: u64) -> Chunk {
    chunk_at(Timestamp::from_unix_nanoseconds(first as i64), source, first, count)
}

fn append(log: &Log, chunk: Chunk) -> Reply {
    block_on(log.append(vec![chunk], Durability::Process))[0]
}

fn next(reply: Reply) -> u64 {
    match reply {
        Reply::Acknowledged { next, .. } => next,
        other => panic!("{other:?}"),
    }
}

/// The sources' numbers in the order of the log, and what is said of damage.
fn read_all(log: &Log) -> (Vec<(String, u64)>, Vec<String>) {
    let (mut numbers, mut damage, mut position) = (Vec::new(), Vec::new(), 0);
    loop {
        let page = block_on(log.read(position)).unwrap();
        if page.next == position {
            return (numbers, damage);
        }
        for entry in page.entries {
            match entry {
                Entry::Chunk { position: at, chunk } => {
                    let skipped = position.saturating_sub(at);
                    let range = chunk.first() + skipped..chunk.end();
                    numbers.extend(range.map(|number| (chunk.source().name().to_owned(), number)));
                }
                Entry::Damaged { what, .. } => damage.push(what),
            }
        }
        position = page.next;
    }
}

fn audit(log: &Log) -> Audit {
    block_on(log.audit()).unwrap()
}

/// Opens a store's log, again and again: it keeps what it had.
type Open<'a> = &'a dyn Fn(LogSettings) -> Result<Log, LogError>;

fn settings() -> LogSettings {
    LogSettings {
        durability: Durability::Process,
        // So that pages come from the store and not from memory.
        tail_bytes: 0,
        // A server reserves as much.
        most_bytes: 1 << 30,
        ..LogSettings::default()
    }
}

fn chunks_tile_their_sources_and_are_there_again(open: Open<'_>) {
    let (a, b) = (source("a"), source("b"));
    let loss = Loss {
        first: 6,
        count: 95,
        place: "emitter".into(),
        cause: "ring full".into(),
        by_subject: Default::default(),
    };
    {
        let log = open(settings()).unwrap();
        assert_eq!(next(append(&log, chunk(&a, 1, 5))), 6);
        assert_eq!(next(append(&log, chunk(&b, 1, 3))), 4);
        assert_eq!(append(&log, chunk(&a, 7, 3)), Reply::Gap { expected: 6 });
        assert_eq!(append(&log, chunk(&a, 5, 3)), Reply::Refused);
        assert_eq!(next(append(&log, Chunk::of_loss(&a, Timestamp::default(), &loss))), 101);
        assert_eq!(next(append(&log, chunk(&a, 1, 5))), 101, "known already");
        let many = (0..40).map(|i| chunk(&b, 4 + i * 10, 10)).collect();
        let replies = block_on(log.append(many, Durability::Process));
        assert_eq!(replies.into_iter().map(next).max(), Some(404));
        assert!(matches!(open(settings()), Err(LogError::Taken { .. })));
    }
    for _ in 0..2 {
        let log = open(settings()).unwrap();
        let (numbers, damage) = read_all(&log);
        assert_eq!(damage, Vec::<String>::new());
        let of = |name: &str| -> Vec<u64> {
            let own = numbers.iter().filter(|(source, _)| source == name);
            own.map(|(_, number)| *number).collect()
        };
        assert_eq!(of("a"), (1..=100).collect::<Vec<_>>(), "95 of them in one loss");
        assert_eq!(of("b"), (1..404).collect::<Vec<_>>());
        let audit = audit(&log);
        assert_eq!(audit.problems, Vec::<String>::new());
        assert!(audit.sources.iter().all(|source| source.account.adds_up()));
        assert_eq!(
            audit.sources[0].account.lost[&("emitter".to_owned(), "ring full".to_owned())],
            95
        );
        let middle = block_on(log.read(200)).unwrap();
        let Entry::Chunk { position, .. } = &middle.entries[0] else {
            panic!("{middle:?}")
        };
        assert!(*position <= 200 && middle.next > 200);
    }
}

fn cursors_hold_over_a_new_start_and_foreign_ones_are_refused(open: Open<'_>) {
    let a = source("a");
    let cursor = {
        let log = open(settings()).unwrap();
        append(&log, chunk(&a, 1, 5));
        log.cursor(3)
    };
    let log = open(settings()).unwrap();
    append(&log, chunk(&a, 6, 5));
    let resumption = log.resume(cursor).unwrap();
    assert_eq!((resumption.position, resumption.lost_since), (3, 0));
    let mut foreign = cursor;
    foreign.epoch ^= 1;
    assert!(matches!(log.resume(foreign), Err(LogError::ForeignCursor { .. })));
}

fn a_full_store_acknowledges_nothing_and_loses_nothing(open: Open<'_>) {
    let a = source("a");
    let small = LogSettings {
        most_bytes: 256 << 10,
        ..settings()
    };
    let log = open(small).unwrap();
    let mut sent = 1;
    while let Reply::Acknowledged { next, .. } = append(&log, chunk(&a, sent, 100)) {
        sent = next;
    }
    assert!(sent > 1000);
    assert_eq!(append(&log, chunk(&a, sent, 100)), Reply::Full);
    assert_eq!(read_all(&log).0.len() as u64, sent - 1);
    assert_eq!(audit(&log).problems, Vec::<String>::new());
}

fn what_is_too_old_is_deleted_and_stated(open: Open<'_>) {
    let a = source("a");
    let retention = Retention {
        age: Some(Duration::from_secs(3600)),
        bytes: None,
    };
    let log = open(LogSettings {
        retention,
        ..settings()
    })
    .unwrap();
    for i in 0..10 {
        append(&log, chunk(&a, 1 + i * 10, 10));
    }
    append(&log, chunk_at(Timestamp::now(), &a, 101, 10));
    block_on(log.expire());
    assert_eq!(block_on(log.start()), 100);
    assert_eq!(read_all(&log).0.len(), 10);
    drop(log);
    let log = open(settings()).unwrap();
    let audit = audit(&log);
    assert_eq!(audit.problems, Vec::<String>::new());
    assert_eq!(
        (audit.deletions[0].why.as_str(), audit.deletions[0].events),
        ("age", 100)
    );
    let account = &audit.sources[0].account;
    assert_eq!((account.stored, account.released, account.next), (110, 100, 111));
    assert_eq!(next(append(&log, chunk(&a, 111, 1))), 112);
}

/// A part of the contract.
type Claim = fn(Open<'_>);

const CONTRACT: [Claim; 4] = [
    chunks_tile_their_sources_and_are_there_again,
    cursors_hold_over_a_new_start_and_foreign_ones_are_refused,
    a_full_store_acknowledges_nothing_and_loses_nothing,
    what_is_too_old_is_deleted_and_stated,
];

#[test]
fn files_keep_the_contract() {
    for holds in CONTRACT {
        let folder = tempfile::tempdir().unwrap();
        holds(&|settings| Log::open(folder.path(), settings));
    }
}

#[cfg(feature = "nats")]
mod nats;
