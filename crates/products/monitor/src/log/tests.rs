use super::*;
use lastmile_events::{ChunkBuilder, Event, Loss, Timestamp, Value};
use std::collections::BTreeMap;
use std::time::Duration;

fn block_on<F: Future>(future: F) -> F::Output {
    crate::block_on(future).unwrap()
}

fn settings() -> LogSettings {
    LogSettings {
        durability: Durability::Process,
        ..LogSettings::default()
    }
}

fn source(name: &str) -> Source {
    Source::new(name, 1).unwrap()
}

fn chunk(source: &Source, first: u64, count: u64) -> Chunk {
    let mut builder = ChunkBuilder::new(source.clone(), first);
    for i in 0..count {
        let time = Timestamp::from_unix_nanoseconds(i as i64);
        let text = format!("event {}", first + i);
        builder
            .push(time, "a.b", [("text", Value::Text(text.as_str()))])
            .unwrap();
    }
    builder.finish().unwrap()
}

fn append(log: &Log, chunk: Chunk) -> Reply {
    block_on(log.append(vec![chunk], Durability::Memory.max(Durability::Process)))[0]
}

/// All events, and what is said of damage.
fn read_all(log: &Log) -> Result<(Vec<Event>, Vec<String>), LogError> {
    let (mut events, mut damage, mut position) = (Vec::new(), Vec::new(), 0);
    loop {
        let page = block_on(log.read(position))?;
        if page.next == position {
            return Ok((events, damage));
        }
        position = page.next;
        for entry in page.entries {
            match entry {
                Entry::Chunk { chunk, .. } => events.extend(chunk.events()),
                Entry::Damaged { what, .. } => damage.push(what),
            }
        }
    }
}

#[test]
fn what_is_acknowledged_is_read_after_the_log_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (source("a"), source("b"));
    let durability = Durability::Process;
    let loss = Loss {
        first: 6,
        count: 95,
        place: "emitter".into(),
        cause: "ring full".into(),
        by_subject: Default::default(),
    };
    {
        let log = Log::open(folder.path(), settings()).unwrap();
        assert_eq!(
            append(&log, chunk(&a, 1, 5)),
            Reply::Acknowledged { next: 6, durability }
        );
        assert_eq!(
            append(&log, chunk(&b, 1, 3)),
            Reply::Acknowledged { next: 4, durability }
        );
        assert_eq!(append(&log, chunk(&a, 7, 3)), Reply::Gap { expected: 6 });
        append(&log, Chunk::of_loss(&a, Timestamp::default(), &loss));
        assert_eq!(
            append(&log, chunk(&a, 1, 5)),
            Reply::Acknowledged { next: 101, durability }
        );
        assert!(matches!(
            Log::open(folder.path(), settings()),
            Err(LogError::Taken { .. })
        ));
    }
    let log = Log::open(folder.path(), settings()).unwrap();
    let (events, damage) = read_all(&log).unwrap();
    assert_eq!((events.len(), damage.len()), (9, 0));
    let audit = block_on(log.audit()).unwrap();
    assert_eq!(audit.problems, Vec::<String>::new());
    let account = &audit.sources[0].account;
    assert_eq!((account.next, account.stored, account.adds_up()), (101, 5, true));
    assert_eq!(account.lost[&("emitter".to_owned(), "ring full".to_owned())], 95);
}

#[test]
fn a_full_log_acknowledges_nothing_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let a = source("a");
    let small = LogSettings {
        most_bytes: 256 << 10,
        tail_bytes: 0,
        ..settings()
    };
    let log = Log::open(folder.path(), small).unwrap();
    let mut next = 1;
    loop {
        match append(&log, chunk(&a, next, 100)) {
            Reply::Acknowledged { next: after, .. } => next = after,
            reply => {
                assert_eq!(reply, Reply::Full);
                break;
            }
        }
    }
    assert!(next > 1000);
    assert_eq!(append(&log, chunk(&a, next, 100)), Reply::Full);
    assert_eq!(read_all(&log).unwrap().0.len() as u64, next - 1);
    assert_eq!(block_on(log.audit()).unwrap().problems, Vec::<String>::new());
    // What another keeps makes room.
    block_on(log.release(next / 2));
    assert!(matches!(append(&log, chunk(&a, next, 100)), Reply::Acknowledged { .. }));
    drop(log);
    let log = Log::open(folder.path(), small).unwrap();
    assert_eq!(
        append(&log, chunk(&a, next, 100)),
        Reply::Acknowledged {
            next: next + 100,
            durability: Durability::Process
        }
    );
}

#[test]
fn a_full_log_that_may_have_more_bytes_takes_what_did_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let small = LogSettings {
        most_bytes: 256 << 10,
        reserves_room: true,
        ..settings()
    };
    let log = Log::open(folder.path(), small).unwrap();
    let large = chunk(&source("a"), 1, 10_000);
    assert_eq!(append(&log, large.clone()), Reply::Full);
    drop(log);
    let more = LogSettings {
        reserves_room: true,
        ..settings()
    };
    let log = Log::open(folder.path(), more).unwrap();
    assert!(matches!(append(&log, large), Reply::Acknowledged { next: 10_001, .. }));
}

const DATABASE: &str = "events.sqlite";
const WRITE_AHEAD: &str = "events.sqlite-wal";

/// A folder's files by name, without the lock.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries.map(|entry| {
        (
            entry.file_name().into_string().unwrap(),
            std::fs::read(entry.path()).unwrap(),
        )
    });
    // Nobody else reads the database, so its index of the write-ahead log is made again.
    files
        .filter(|(name, _)| name != "lock" && !name.ends_with("-shm"))
        .collect()
}

fn restore(folder: &Path, files: &BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}

/// Flips bits of one file, one at a time. Whatever bit it is, the events that are read are those that were written, or the damage is named. The
/// number of flips that were named.
fn flip_bits(original: &BTreeMap<String, Vec<u8>>, name: &str, flips: u32, written: &[Event]) -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let uncached = LogSettings {
        tail_bytes: 0,
        ..settings()
    };
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut named = 0;
    for _ in 0..flips {
        // SplitMix64 is enough to choose bits.
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let mut flipped = original.clone();
        let bytes = flipped.get_mut(name).unwrap();
        let (at, bit) = ((mixed % bytes.len() as u64) as usize, mixed >> 61);
        bytes[at] ^= 1 << bit;
        restore(folder.path(), &flipped);
        let problems = Log::open(folder.path(), uncached).and_then(|log| {
            let (events, damage) = read_all(&log)?;
            let problems = block_on(log.audit())?.problems;
            let read = (events.len(), written.len());
            assert!(
                !damage.is_empty() || events == written,
                "{name}: byte {at}, bit {bit}: changed and not named: {read:?}"
            );
            assert!(
                damage.is_empty() || !problems.is_empty(),
                "{name}: byte {at}, bit {bit}: the audit does not name {damage:?}"
            );
            // A filtered reading finds the same, or the audit says why not.
            let filter = crate::filter::Filter {
                subject: Some("a.*".parse().unwrap()),
                ..Default::default()
            };
            let found = read_matching(&log, &filter)?.len();
            assert!(
                found == written.len() || !problems.is_empty(),
                "{name}: byte {at}, bit {bit}: {found} found"
            );
            Ok(damage.len() + problems.len())
        });
        named += u32::from(!matches!(problems, Ok(0)));
    }
    restore(folder.path(), original);
    let log = Log::open(folder.path(), uncached).unwrap();
    assert_eq!(read_all(&log).unwrap().0, written);
    named
}

/// The events that are asked for.
fn read_matching(log: &Log, filter: &crate::filter::Filter) -> Result<Vec<Event>, LogError> {
    let (mut events, mut position) = (Vec::new(), 0);
    loop {
        let page = block_on(log.read_matching(position, filter))?;
        for entry in page.entries {
            if let Entry::Chunk { chunk, .. } = entry {
                events.extend(chunk.events().filter(|event| filter.matches(&event.view())));
            }
        }
        if page.next <= position {
            return Ok(events);
        }
        position = page.next;
    }
}

/// A log of 1,000 events: the files of one that was closed, and those of one that was killed, which are in its write-ahead log.
fn closed_and_killed() -> ([BTreeMap<String, Vec<u8>>; 2], Vec<Event>) {
    let folder = tempfile::tempdir().unwrap();
    let uncached = LogSettings {
        tail_bytes: 0,
        ..settings()
    };
    let log = Log::open(folder.path(), uncached).unwrap();
    for i in 0..40 {
        append(&log, chunk(&source("a"), 1 + i * 25, 25));
    }
    let (written, _) = read_all(&log).unwrap();
    let killed = files(folder.path());
    drop(log);
    ([files(folder.path()), killed], written)
}

#[test]
fn a_flipped_bit_of_the_database_is_named_or_changes_nothing() {
    let ([closed, _], written) = closed_and_killed();
    let named = flip_bits(&closed, DATABASE, 150, &written);
    assert!(named > 25, "only {named} of 150 flipped bits were named");
}

#[test]
fn a_flipped_bit_of_the_write_ahead_log_is_named_and_does_not_end_the_log_early() {
    let ([_, killed], written) = closed_and_killed();
    assert!(killed[WRITE_AHEAD].len() > 100_000);
    let named = flip_bits(&killed, WRITE_AHEAD, 150, &written);
    assert!(named > 140, "only {named} of 150 flipped bits were named");
}

#[test]
fn a_flipped_bit_of_the_mark_is_named_or_changes_nothing() {
    let ([_, killed], written) = closed_and_killed();
    flip_bits(&killed, "acknowledged", 60, &written);
}

#[test]
fn what_a_damaged_write_ahead_log_held_is_a_hole_and_its_numbers_are_asked_for_again() {
    let ([_, mut killed], written) = closed_and_killed();
    killed.remove(WRITE_AHEAD);
    let folder = tempfile::tempdir().unwrap();
    restore(folder.path(), &killed);
    let log = Log::open(folder.path(), settings()).unwrap();
    assert_eq!(log.end(), written.len() as u64, "positions are not given twice");
    let (events, damage) = read_all(&log).unwrap();
    assert!(events.is_empty() && damage[0].contains("acknowledged"), "{damage:?}");
    assert_eq!(append(&log, chunk(&source("a"), 1001, 5)), Reply::Gap { expected: 1 });
    let loss = Loss {
        first: 1,
        count: 1000,
        place: "emitter".into(),
        cause: "forgotten".into(),
        by_subject: Default::default(),
    };
    append(&log, Chunk::of_loss(&source("a"), Timestamp::default(), &loss));
    assert!(matches!(
        append(&log, chunk(&source("a"), 1001, 5)),
        Reply::Acknowledged { next: 1006, .. }
    ));
    drop(log);
    let log = Log::open(folder.path(), settings()).unwrap();
    let audit = block_on(log.audit()).unwrap();
    assert_eq!(audit.problems.len(), 1, "the hole stays named: {:?}", audit.problems);
}

#[test]
fn a_query_by_subject_or_time_names_a_hole_wherever_the_index_leads() {
    let ([_, mut killed], _) = closed_and_killed();
    killed.remove(WRITE_AHEAD);
    let folder = tempfile::tempdir().unwrap();
    restore(folder.path(), &killed);
    let uncached = LogSettings {
        tail_bytes: 0,
        ..settings()
    };
    let log = Log::open(folder.path(), uncached).unwrap();
    // More than a page.
    for first in [1, 10_001, 20_001] {
        append(&log, chunk(&source("b"), first, 10_000));
    }
    let subject = crate::filter::Filter {
        subject: Some("a.b".parse().unwrap()),
        ..Default::default()
    };
    let since = crate::filter::Filter {
        since: Some(Timestamp::from_unix_nanoseconds(1)),
        ..Default::default()
    };
    let both = crate::filter::Filter {
        subject: subject.subject.clone(),
        ..since.clone()
    };
    for filter in [subject, since, both] {
        let (mut holes, mut position) = (0, 0);
        loop {
            let page = block_on(log.read_matching(position, &filter)).unwrap();
            let is_hole = |entry: &&Entry| {
                matches!(
                    entry,
                    Entry::Damaged {
                        position: 0,
                        end: 1000,
                        ..
                    }
                )
            };
            holes += page.entries.iter().filter(is_hole).count();
            if page.next <= position {
                break;
            }
            position = page.next;
        }
        assert_eq!((holes, position), (1, 31_000), "{filter:?}");
    }
}

#[test]
fn what_is_too_old_or_too_much_is_deleted_by_whole_chunks_and_stated() {
    let folder = tempfile::tempdir().unwrap();
    let a = source("a");
    let chunk_bytes = chunk(&a, 1, 100).bytes().len() as u64;
    let kept = LogSettings {
        retention: Retention {
            age: None,
            bytes: Some(chunk_bytes * 3 + chunk_bytes / 2),
        },
        tail_bytes: 0,
        ..settings()
    };
    let log = Log::open(folder.path(), kept).unwrap();
    for i in 0..10 {
        append(&log, chunk(&a, 1 + i * 100, 100));
    }
    block_on(log.expire());
    assert_eq!(block_on(log.start()), 700);
    let audit = block_on(log.audit()).unwrap();
    assert_eq!(audit.problems, Vec::<String>::new());
    let account = &audit.sources[0].account;
    assert_eq!((account.stored, account.released), (1000, 700));
    let [deletion] = &audit.deletions[..] else {
        panic!("{:?}", audit.deletions)
    };
    assert_eq!(
        (deletion.why.as_str(), deletion.events, deletion.until),
        ("size", 700, 700)
    );
    drop(log);
    let aged = LogSettings {
        retention: Retention {
            age: Some(Duration::from_secs(3600)),
            bytes: None,
        },
        ..settings()
    };
    let log = Log::open(folder.path(), aged).unwrap();
    // The events' times are of 1970.
    let now = Timestamp::now();
    let mut builder = ChunkBuilder::new(a, 1001);
    builder.push(now, "a.b", []).unwrap();
    append(&log, builder.finish().unwrap());
    block_on(log.expire());
    assert_eq!(block_on(log.start()), 1000);
    assert_eq!(read_all(&log).unwrap().0.len(), 1);
}

#[test]
fn a_query_by_subject_and_time_reads_only_the_chunks_that_may_match() {
    let folder = tempfile::tempdir().unwrap();
    let uncached = LogSettings {
        tail_bytes: 0,
        ..settings()
    };
    let log = Log::open(folder.path(), uncached).unwrap();
    let a = source("a");
    for i in 0..200u64 {
        let mut builder = ChunkBuilder::new(a.clone(), 1 + i * 10);
        for j in 0..10 {
            let subject = format!("s{}.x", if j == 9 { 100 } else { i % 20 });
            builder
                .push(Timestamp::from_unix_nanoseconds((i * 10 + j) as i64), &subject, [])
                .unwrap();
        }
        append(&log, builder.finish().unwrap());
    }
    let filter = |subject: &str, since: Option<i64>, until: Option<i64>| crate::filter::Filter {
        subject: Some(subject.parse().unwrap()),
        since: since.map(Timestamp::from_unix_nanoseconds),
        until: until.map(Timestamp::from_unix_nanoseconds),
        predicates: vec![],
    };
    let count = |filter| read_matching(&log, &filter).unwrap().len();
    assert_eq!(count(filter("s3.x", None, None)), 90);
    assert_eq!(count(filter("s100.*", None, None)), 200);
    assert_eq!(count(filter("s100.*", Some(1000), Some(1500))), 50);
    assert_eq!(count(filter(">", Some(1005), None)), 995);
    assert_eq!(count(filter("absent", None, None)), 0);
    let page = block_on(log.read_matching(0, &filter("s3.x", None, None))).unwrap();
    assert_eq!((page.entries.len(), page.next), (10, 2000));
    let late = crate::filter::Filter {
        since: Some(Timestamp::from_unix_nanoseconds(1990)),
        ..Default::default()
    };
    let page = block_on(log.read_matching(0, &late)).unwrap();
    assert_eq!(page.entries.len(), 1);
}

#[test]
fn a_cursor_of_another_log_is_refused_and_one_of_this_log_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(folder.path(), settings()).unwrap();
    append(&log, chunk(&source("a"), 1, 5));
    let cursor = log.cursor(3);
    let expected = Resumption {
        position: 3,
        lost_since: 0,
    };
    assert_eq!(log.resume(cursor).unwrap(), expected);
    let foreign = Cursor { epoch: 1, position: 3 };
    assert!(matches!(log.resume(foreign), Err(LogError::ForeignCursor { .. })));
}

/// A closed log of 50 chunks, of two subjects in turn.
fn two_subjects(folder: &Path) -> Vec<Event> {
    let log = Log::open(folder, settings()).unwrap();
    for at in 0..50 {
        let mut builder = ChunkBuilder::new(source("a"), at * 4 + 1);
        for i in 0..4 {
            let subject = if at % 2 == 0 { "even" } else { "odd" };
            let time = Timestamp::from_unix_nanoseconds((at * 4 + i) as i64 * 1_000_000_000);
            builder.push(time, subject, [("n", Value::Integer(i as i64))]).unwrap();
        }
        append(&log, builder.finish().unwrap());
    }
    read_all(&log).unwrap().0
}

fn change(folder: &Path, sql: &str) {
    let database = rusqlite::Connection::open(folder.join("events.sqlite")).unwrap();
    assert!(database.execute(sql, []).unwrap() > 0, "{sql}");
}

#[test]
fn a_query_finds_every_event_where_the_index_says_something_else() {
    let changes = [
        "UPDATE place SET position = position + 17 WHERE position = 40",
        "UPDATE place SET subject = subject + 64 WHERE position = 40",
        "UPDATE place SET latest = latest - 1048576 WHERE position = 40",
        "UPDATE place SET earliest = earliest + 1099511627776 WHERE position = 40",
        "DELETE FROM place WHERE position = 40",
        "UPDATE subject SET text = 'evem' WHERE text = 'even'",
        "UPDATE chunk SET reach = reach + 4611686018427387904 WHERE position = 40",
        "UPDATE chunk SET reach = reach - 8796093022208 WHERE position = 196",
        "UPDATE proof SET sum = sum + 1 WHERE name = 'places'",
    ];
    let filter = |subject: &str, since| crate::filter::Filter {
        subject: Some(subject.parse().unwrap()),
        since: Some(Timestamp::from_unix_nanoseconds(since)),
        ..crate::filter::Filter::default()
    };
    for sql in changes {
        let folder = tempfile::tempdir().unwrap();
        let written = two_subjects(folder.path());
        change(folder.path(), sql);
        let log = Log::open(folder.path(), settings()).unwrap();
        for (subject, since) in [("even", 0), ("odd", 0), ("even", 150_000_000_000)] {
            let wanted = written
                .iter()
                .filter(|event| event.subject.as_str() == subject && event.time.unix_nanoseconds() >= since);
            let filter = filter(subject, since);
            let found = read_matching(&log, &filter).unwrap();
            let found = found
                .iter()
                .filter(|event| event.subject.as_str() == subject && event.time.unix_nanoseconds() >= since);
            assert_eq!(found.count(), wanted.count(), "{sql}: {subject} since {since}");
        }
        let problems = block_on(log.audit()).unwrap().problems;
        assert!(
            problems.iter().any(|problem| problem.contains("the index is damaged")),
            "{sql}: {problems:?}"
        );
        // It goes on, and so does a log whose index is sound.
        assert!(matches!(
            append(&log, chunk(&source("b"), 1, 3)),
            Reply::Acknowledged { .. }
        ));
    }
    let folder = tempfile::tempdir().unwrap();
    two_subjects(folder.path());
    let log = Log::open(folder.path(), settings()).unwrap();
    block_on(log.release(100));
    append(&log, chunk(&source("b"), 1, 3));
    drop(log);
    let log = Log::open(folder.path(), settings()).unwrap();
    assert_eq!(block_on(log.audit()).unwrap().problems, Vec::<String>::new());
}

#[test]
fn what_is_whole_in_a_refused_log_is_salvaged_and_the_rest_is_stated() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    let written = two_subjects(&old);
    change(&old, "UPDATE source SET next = next + 4");
    let refused = Log::open(&old, settings()).unwrap_err().to_string();
    assert!(refused.contains("lastmile salvage"), "{refused}");
    let found = block_on(salvage(&old, &new, settings())).unwrap();
    assert_eq!(
        (found.events, found.sources, found.lost, found.damaged.len()),
        (200, 1, 0, 0)
    );
    let log = Log::open(&new, settings()).unwrap();
    assert_eq!(read_all(&log).unwrap(), (written, Vec::new()));
    assert!(matches!(
        block_on(salvage(&old, &new, settings())),
        Err(LogError::Taken { .. })
    ));
    drop(log);
    assert!(matches!(
        block_on(salvage(&old, &new, settings())),
        Err(LogError::NotEmpty { .. })
    ));

    let broken = folder.path().join("broken");
    two_subjects(&broken);
    let file = broken.join("events.sqlite");
    let mut bytes = std::fs::read(&file).unwrap();
    let table = b"CREATE TABLE damage";
    let at = bytes.windows(table.len()).position(|window| window == table).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    assert!(Log::open(&broken, settings()).is_err());
    let found = block_on(salvage(&broken, &folder.path().join("mended"), settings())).unwrap();
    assert_eq!((found.events, found.damaged.len()), (200, 0));

    change(&old, "DELETE FROM chunk WHERE position = 40");
    change(&old, "UPDATE chunk SET bytes = zeroblob(80) WHERE position = 80");
    let new = folder.path().join("newer");
    let found = block_on(salvage(&old, &new, settings())).unwrap();
    assert_eq!((found.events, found.lost, found.damaged.len()), (192, 8, 1));
    let log = Log::open(&new, settings()).unwrap();
    let audit = block_on(log.audit()).unwrap();
    assert_eq!((audit.problems, audit.sources[0].account.adds_up()), (Vec::new(), true));
}

#[cfg(unix)]
#[test]
fn salvage_changes_nothing_in_the_old_folder_and_need_not_write_there() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let (folders, written) = closed_and_killed();
    for original in folders {
        let (old, new) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        restore(old.path(), &original);
        set_permissions(old.path(), Permissions::from_mode(0o500)).unwrap();
        let found = block_on(salvage(old.path(), new.path(), settings())).unwrap();
        set_permissions(old.path(), Permissions::from_mode(0o700)).unwrap();
        assert_eq!((found.events, found.damaged), (written.len() as u64, Vec::new()));
        let entries = std::fs::read_dir(old.path()).unwrap().map(Result::unwrap);
        let names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        assert_eq!(names.len(), original.len(), "{names:?}");
        assert!(files(old.path()) == original);
        let log = Log::open(new.path(), settings()).unwrap();
        assert_eq!(read_all(&log).unwrap().0, written);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    drop(Log::open(folder.path(), settings()).unwrap());
    for name in ["events.sqlite", "acknowledged", "lock"] {
        let path = folder.path().join(name);
        let kept = folder.path().join("kept");
        std::fs::rename(&path, &kept).unwrap();
        std::fs::create_dir(&path).unwrap();
        let error = Log::open(folder.path(), settings()).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{}: the file cannot be written", path.display())),
            "{error}"
        );
        std::fs::remove_dir(&path).unwrap();
        std::fs::rename(&kept, &path).unwrap();
    }
    Log::open(folder.path(), settings()).unwrap();
}

#[test]
fn what_is_deleted_is_told_to_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let settings = LogSettings {
        retention: Retention {
            age: Some(Duration::from_secs(3600)),
            bytes: None,
        },
        ..settings()
    };
    let log = Log::open(folder.path(), settings).unwrap();
    // Its events are of 1970.
    append(&log, chunk(&source("a"), 1, 100));
    assert_eq!(read_all(&log).unwrap().0.len(), 100);
    block_on(log.expire());
    assert_eq!(read_all(&log).unwrap(), (Vec::new(), Vec::new()));
    drop(log);
    for (name, bytes) in files(folder.path()) {
        let found = bytes.windows(8).any(|window| window == b"event 50");
        assert!(!found, "{name} has a deleted event");
    }
}

#[cfg(unix)]
#[test]
fn events_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    let log = Log::open(&path, settings()).unwrap();
    append(&log, chunk(&source("a"), 1, 3));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    for name in ["events.sqlite", "events.sqlite-wal"] {
        assert_eq!(mode(&path.join(name)), 0o600, "{name}");
    }
}
