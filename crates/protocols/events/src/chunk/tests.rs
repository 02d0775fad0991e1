use super::*;
use crate::{Event, Subject, Value};
use proptest::prelude::*;

fn source() -> Source {
    Source::new("app", 7).unwrap()
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::Integer),
        (-1e12..1e12).prop_map(Value::Float),
        any::<bool>().prop_map(Value::Boolean),
        ".{0,20}".prop_map(Value::Text),
    ]
}

type Content = (i64, String, Vec<(String, Value)>);

fn content() -> impl Strategy<Value = Content> {
    let fields = prop::collection::vec(("[a-z]{1,4}", value()), 0..5);
    (any::<i64>(), "[a-z]{1,3}(\\.[a-z]{1,3}){0,2}", fields)
}

fn chunk_of(contents: &[Content]) -> Chunk {
    let mut builder = ChunkBuilder::new(source(), 5);
    for (time, subject, fields) in contents {
        let fields = fields.iter().map(|(name, value)| (name.as_str(), value.borrowed()));
        builder
            .push(Timestamp::from_unix_nanoseconds(*time), subject, fields)
            .unwrap();
    }
    builder.finish().unwrap()
}

proptest! {
    #[test]
    fn events_are_read_as_they_were_written(contents in prop::collection::vec(content(), 1..20)) {
        let chunk = chunk_of(&contents);
        let (read, length) = Chunk::read(chunk.bytes()).unwrap();
        prop_assert_eq!(length, chunk.bytes().len());
        prop_assert_eq!(&read, &chunk);
        let expected: Vec<Event> = contents.iter().enumerate().map(|(at, (time, subject, fields))| Event {
            source: source(),
            sequence: 5 + at as u64,
            span: 1,
            time: Timestamp::from_unix_nanoseconds(*time),
            subject: Subject::new(subject).unwrap(),
            fields: fields.clone(),
        }).collect();
        let mut subjects: Vec<&str> = Vec::new();
        for event in &expected {
            if !subjects.contains(&event.subject.as_str()) {
                subjects.push(event.subject.as_str());
            }
        }
        prop_assert_eq!(read.subjects(), subjects);
        prop_assert_eq!(read.events().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_flipped_bit_is_found(contents in prop::collection::vec(content(), 1..5), bit: prop::sample::Index) {
        let chunk = chunk_of(&contents);
        let mut bytes = chunk.bytes().to_vec();
        let bit = bit.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(Chunk::read(&bytes).is_err());
    }

    #[test]
    fn a_chunk_that_is_cut_off_is_refused(contents in prop::collection::vec(content(), 1..5), at: prop::sample::Index) {
        let chunk = chunk_of(&contents);
        let cut = at.index(chunk.bytes().len());
        let refused = matches!(Chunk::read(&chunk.bytes()[..cut]), Err(ChunkError::CutOff { .. }));
        prop_assert!(refused);
    }

    #[test]
    fn a_faulty_sender_with_a_valid_checksum_never_panics_a_reader(
        contents in prop::collection::vec(content(), 1..5),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = chunk_of(&contents).bytes().to_vec();
        for (at, byte) in changes {
            let at = 8 + at.index(bytes.len() - 8);
            bytes[at] = byte;
        }
        let sum = checksum(&bytes);
        bytes[60..64].copy_from_slice(&sum.to_le_bytes());
        if let Ok((chunk, _)) = Chunk::read(&bytes) {
            prop_assert_eq!(chunk.events().map(|event| event.span).sum::<u64>(), chunk.end() - chunk.first());
        }
    }
}

#[test]
fn a_loss_spans_the_numbers_of_what_was_dropped() {
    let loss = Loss {
        first: 10,
        count: 250,
        place: "emitter".into(),
        cause: "ring full".into(),
        by_subject: Default::default(),
    };
    let chunk = Chunk::of_loss(&source(), Timestamp::default(), &loss);
    assert_eq!((chunk.first(), chunk.end(), chunk.event_count()), (10, 260, 1));
    assert_eq!(chunk.losses(), [loss]);
}

#[test]
fn a_size_that_is_claimed_and_too_large_is_refused_before_it_is_read() {
    let mut bytes = chunk_of(&[(0, "a".into(), vec![])]).bytes().to_vec();
    bytes[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(Chunk::length(&bytes), Err(ChunkError::TooLarge { .. })));
}

#[test]
fn a_full_chunk_refuses_the_next_event_and_stays_whole() {
    let mut builder = ChunkBuilder::new(source(), 1);
    let text = "x".repeat(60_000);
    let mut pushed = 0;
    while builder
        .push(Timestamp::default(), "big", [("text", Value::Text(text.as_str()))])
        .is_ok()
    {
        pushed += 1;
    }
    assert_eq!(pushed, 17);
    let chunk = builder.finish().unwrap();
    assert_eq!(Chunk::read(chunk.bytes()).unwrap().0.end(), 18);
}
