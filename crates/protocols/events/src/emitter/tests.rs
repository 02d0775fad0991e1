use super::*;
use crate::uplink::{Durability, Reply};
use crate::{Chunk, Event};
use std::sync::atomic::AtomicU32;

/// Keeps chunks, as a monitor would: in order, without a gap.
#[derive(Clone, Default)]
struct Keeper {
    events: Arc<Mutex<Vec<Event>>>,
    next: Arc<AtomicU64>,
    failures: Arc<AtomicU32>,
}

impl Uplink for Keeper {
    fn submit(&mut self, chunk: &Chunk) -> io::Result<Reply> {
        let fails = self
            .failures
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        if fails.is_ok() {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let expected = self.next.load(Ordering::Acquire) + 1;
        if chunk.first() > expected {
            return Ok(Reply::Gap { expected });
        }
        if chunk.first() == expected {
            self.events.lock().unwrap().extend(chunk.events());
            self.next.store(chunk.end() - 1, Ordering::Release);
        }
        Ok(Reply::Acknowledged {
            next: chunk.end(),
            durability: Durability::Memory,
        })
    }
}

fn emitter(settings: EmitterSettings, keeper: &Keeper) -> Emitter {
    let source = Source::new("test", 1).unwrap();
    Emitter::start(source, settings, Box::new(keeper.clone())).unwrap()
}

#[test]
fn events_of_each_thread_arrive_in_order_and_the_end_follows_them() {
    let keeper = Keeper::default();
    let settings = EmitterSettings {
        full_ring: FullRing::Block,
        ring_bytes: 4096,
        ..EmitterSettings::default()
    };
    let emitter = emitter(settings, &keeper);
    thread::scope(|scope| {
        for thread in 0..3 {
            let emitter = &emitter;
            scope.spawn(move || {
                let subject = Subject::new(&format!("thread.{thread}")).unwrap();
                for i in 0..2000 {
                    assert!(emitter.emit(&subject, &[("i", Value::Integer(i))]));
                }
            });
        }
    });
    let account = emitter.close();
    assert_eq!(
        (account.numbered, account.acknowledged, account.dropped_full),
        (6001, 6001, 0)
    );
    let events = keeper.events.lock().unwrap();
    for thread in 0..3 {
        let subject = format!("thread.{thread}");
        let own = events.iter().filter(|event| event.subject.as_str() == subject);
        let numbers: Vec<_> = own.map(|event| event.field("i").cloned()).collect();
        let expected: Vec<_> = (0..2000).map(|i| Some(Value::Integer(i))).collect();
        assert_eq!(numbers, expected);
    }
    assert_eq!(events.last().unwrap().subject.as_str(), crate::loss::END_SUBJECT);
}

#[test]
fn a_full_ring_drops_and_every_drop_is_stated_in_the_sequence() {
    let keeper = Keeper::default();
    keeper.failures.store(2, Ordering::Release);
    let settings = EmitterSettings {
        ring_bytes: 1024,
        ..EmitterSettings::default()
    };
    let emitter = emitter(settings, &keeper);
    let subject = Subject::new("burst").unwrap();
    let kept = (0..5000)
        .filter(|i| emitter.emit(&subject, &[("i", Value::Integer(*i))]))
        .count() as u64;
    let long = "x".repeat(2000);
    assert!(!emitter.emit(&subject, &[("text", Value::Text(&long))]));
    let account = emitter.close();
    assert_eq!(account.numbered, 5002);
    assert_eq!(account.acknowledged, 5002);
    assert_eq!(account.dropped_full, 5000 - kept);
    assert!(account.dropped_full > 0);
    assert_eq!(account.dropped_large, 1);
    let events = keeper.events.lock().unwrap();
    assert_eq!(events.iter().map(|event| event.span).sum::<u64>(), 5002);
    let lost: u64 = events.iter().filter_map(Event::loss).map(|loss| loss.count).sum();
    assert_eq!(lost, 5000 - kept + 1);
}

#[test]
fn what_a_monitor_has_forgotten_is_stated_as_lost() {
    let keeper = Keeper::default();
    let emitter = emitter(EmitterSettings::default(), &keeper);
    let subject = Subject::new("a").unwrap();
    emitter.emit(&subject, &[]);
    while emitter.account().acknowledged < 1 {
        thread::yield_now();
    }
    keeper.events.lock().unwrap().clear();
    keeper.next.store(0, Ordering::Release);
    emitter.emit(&subject, &[]);
    emitter.close();
    let events = keeper.events.lock().unwrap();
    let loss = events[0].loss().unwrap();
    assert_eq!((loss.first, loss.count, loss.cause.as_str()), (1, 1, "forgotten"));
    assert_eq!(events[1].sequence, 2);
}

#[test]
fn an_event_that_was_given_up_is_never_counted_as_acknowledged() {
    // Takes two events, is full for the third, and would take all that follow.
    struct FullForThird(Keeper);
    impl Uplink for FullForThird {
        fn submit(&mut self, chunk: &Chunk) -> io::Result<Reply> {
            if chunk.first() == 3 && chunk.losses().is_empty() {
                return Ok(Reply::Full);
            }
            self.0.submit(chunk)
        }
    }
    let keeper = Keeper::default();
    let settings = EmitterSettings {
        full_ring: FullRing::Block,
        ring_bytes: 1024,
        chunk_bytes: 1,
        patience: Some(Duration::from_millis(40)),
        ..EmitterSettings::default()
    };
    let uplink = FullForThird(keeper.clone());
    let emitter = Emitter::start(Source::new("test", 1).unwrap(), settings, Box::new(uplink)).unwrap();
    let subject = Subject::new("a").unwrap();
    for i in 0..1000 {
        emitter.emit(&subject, &[("i", Value::Integer(i))]);
        while i == 1 && emitter.account().acknowledged < 2 {
            thread::yield_now();
        }
    }
    assert!(emitter.has_given_up());
    let account = emitter.close();
    let events = keeper.events.lock().unwrap();
    assert_eq!((account.acknowledged, account.lost), (2, 0));
    assert_eq!(events.len(), 2);
    assert!(events.iter().all(|event| event.loss().is_none()));
}

#[test]
fn an_uplink_that_takes_each_chunk_late_does_not_stretch_the_patience() {
    struct Late(Keeper);
    impl Uplink for Late {
        fn submit(&mut self, chunk: &Chunk) -> io::Result<Reply> {
            thread::sleep(Duration::from_millis(20));
            self.0.submit(chunk)
        }
    }
    let settings = EmitterSettings {
        full_ring: FullRing::Block,
        chunk_bytes: 1,
        patience: Some(Duration::from_millis(40)),
        ..EmitterSettings::default()
    };
    let uplink = Box::new(Late(Keeper::default()));
    let emitter = Emitter::start(Source::new("test", 1).unwrap(), settings, uplink).unwrap();
    let subject = Subject::new("a").unwrap();
    for i in 0..1000 {
        emitter.emit(&subject, &[("i", Value::Integer(i))]);
    }
    assert!(emitter.close().acknowledged < 1000);
    assert!(emitter.has_given_up());
}

#[test]
fn an_uplink_that_never_answers_ends_with_the_patience() {
    struct Silent(mpsc::Receiver<()>);
    impl Uplink for Silent {
        fn submit(&mut self, _: &Chunk) -> io::Result<Reply> {
            let _ = self.0.recv();
            Ok(Reply::Full)
        }
    }
    let (answers, silence) = mpsc::channel();
    let settings = EmitterSettings {
        full_ring: FullRing::Block,
        ring_bytes: 1024,
        patience: Some(Duration::from_millis(40)),
        ..EmitterSettings::default()
    };
    let uplink = Box::new(Silent(silence));
    let emitter = Emitter::start(Source::new("test", 1).unwrap(), settings, uplink).unwrap();
    let subject = Subject::new("a").unwrap();
    let kept = (0..10_000)
        .filter(|i| emitter.emit(&subject, &[("i", Value::Integer(*i))]))
        .count();
    assert!(kept < 10_000 && emitter.has_given_up());
    assert_eq!(emitter.close().acknowledged, 0);
    drop(answers);
}

#[test]
fn refused_events_are_counted_as_lost() {
    struct Refusing(Keeper);
    impl Uplink for Refusing {
        fn submit(&mut self, chunk: &Chunk) -> io::Result<Reply> {
            if chunk.first() == 1 && chunk.losses().is_empty() {
                return Ok(Reply::Refused);
            }
            self.0.submit(chunk)
        }
    }
    let keeper = Keeper::default();
    let uplink = Box::new(Refusing(keeper.clone()));
    let emitter = Emitter::start(Source::new("test", 1).unwrap(), EmitterSettings::default(), uplink).unwrap();
    emitter.emit(&Subject::new("a").unwrap(), &[]);
    let account = emitter.close();
    let stated: u64 = keeper
        .events
        .lock()
        .unwrap()
        .iter()
        .filter_map(Event::loss)
        .map(|loss| loss.count)
        .sum();
    assert!(account.lost >= 1);
    assert_eq!(account.lost, stated);
}

#[test]
fn an_event_of_a_kind_is_the_event_with_its_names() {
    let keeper = Keeper::default();
    let emitter = emitter(EmitterSettings::default(), &keeper);
    let subject = Subject::new("run.done").unwrap();
    let kind = emitter.register(&subject, &["cell", "name", "ok", "rate"]).unwrap();
    let long = "x".repeat(3000);
    let values = [
        Value::Integer(-3),
        Value::Text(long.as_str()),
        Value::Boolean(true),
        Value::Float(0.5),
    ];
    assert!(emitter.emit_kind(&kind, &values));
    let fields = [
        ("cell", values[0]),
        ("name", values[1]),
        ("ok", values[2]),
        ("rate", values[3]),
    ];
    assert!(emitter.emit(&subject, &fields));
    emitter.close();
    let events = keeper.events.lock().unwrap();
    assert_eq!(events[0].fields, events[1].fields);
    assert_eq!((&events[0].subject, events[0].fields.len()), (&subject, 4));
    let names = ["n"; 65];
    assert_eq!(emitter.register(&subject, &names).unwrap_err(), KindError::Fields);
}
