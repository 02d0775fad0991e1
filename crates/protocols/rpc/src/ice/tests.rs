//! Tests of the Ice protocol: messages that return as they were, and hostile ones.

use super::*;
use crate::ReadError;
use lastmile_units::ByteCount;
use proptest::prelude::*;

fn call(operation: &str, content: Vec<u8>) -> Invocation {
    Invocation::new(Identity::named("t"), operation, Encapsulation::new(content))
}

fn messages() -> Vec<Message> {
    let with_all = Invocation {
        facet: Some("admin".to_owned()),
        mode: Mode::Idempotent,
        context: vec![("key".to_owned(), "value".to_owned())],
        ..call("put", vec![7; 300])
    };
    vec![
        Message::Validate,
        Message::Request {
            id: 7,
            invocation: with_all.clone(),
        },
        Message::Batch(vec![call("tick", vec![1]), with_all]),
        Message::Reply {
            id: 7,
            status: ReplyStatus::Success(Encapsulation {
                minor: 0,
                content: vec![9],
            }),
        },
        Message::Reply {
            id: 8,
            status: ReplyStatus::UserException(Encapsulation::new(Vec::new())),
        },
        Message::Reply {
            id: 9,
            status: ReplyStatus::NotThere {
                status: 4,
                identity: Identity::named("t"),
                facet: None,
                operation: "none".to_owned(),
            },
        },
        Message::Reply {
            id: 10,
            status: ReplyStatus::Unknown {
                status: 7,
                reason: "why".to_owned(),
            },
        },
        Message::Close,
    ]
}

#[test]
fn a_request_has_the_bytes_of_the_manual() {
    let ping = Message::Request {
        id: 1,
        invocation: call("ping", Vec::new()),
    };
    let expected = b"IceP\x01\x00\x01\x00\x00\x00\x26\x00\x00\x00\x01\x00\x00\x00\x01t\x00\x00\x04ping\x00\x00\x06\x00\x00\x00\x01\x01";
    let encoded = ping.encode();
    assert_eq!(encoded[14..], expected[14..]);
    assert_eq!(usize::from(encoded[10]), encoded.len());
}

#[test]
fn every_message_returns_as_it_was_however_its_bytes_arrive() {
    let bytes: Vec<u8> = messages().iter().flat_map(Message::encode).collect();
    for piece in [1, 7, bytes.len()] {
        let mut reader = Reader::default();
        let mut read = Vec::new();
        for bytes in bytes.chunks(piece) {
            reader.push(bytes);
            while let Some((message, _)) = reader.next_message().unwrap() {
                read.push(message);
            }
        }
        assert_eq!(read, messages());
        assert!(!reader.has_rest());
    }
}

#[test]
fn every_message_returns_after_compression_too() {
    for policy in [CompressionPolicy::AboveThreshold, CompressionPolicy::IfSmaller] {
        for message in messages() {
            let coded = compress(message.encode(), 1, policy);
            assert_eq!(decode(&coded, MESSAGE_SIZE_MAX), Ok(message));
        }
    }
}

#[test]
fn compression_as_in_ice_makes_a_message_of_a_hundred_bytes_longer_and_the_better_policy_does_not() {
    let content: Vec<u8> = (0..65u8).map(|index| index.wrapping_mul(37)).collect();
    let message = Message::Request {
        id: 1,
        invocation: call("ping", content),
    }
    .encode();
    assert_eq!(message.len(), 100);
    assert!(compress(message.clone(), 1, CompressionPolicy::AboveThreshold).len() > 100);
    assert_eq!(compress(message, 1, CompressionPolicy::IfSmaller).len(), 100);
    let shorter = Message::Request {
        id: 1,
        invocation: call("ping", vec![0; 64]),
    }
    .encode();
    assert_eq!(compress(shorter, 1, CompressionPolicy::AboveThreshold).len(), 99);
}

#[test]
fn a_bomb_is_refused_by_what_it_declares_and_by_what_it_has() {
    let limit = ByteCount::new(10_000);
    let long = Message::Request {
        id: 1,
        invocation: call("put", vec![0; 1 << 20]),
    };
    let mut bomb = compress(long.encode(), 9, CompressionPolicy::AboveThreshold);
    assert!(bomb.len() < 200);
    let refused = decode(&bomb, limit).unwrap_err();
    assert!(matches!(refused, ReadError::TooLarge { .. }), "{refused}");
    // It declares less than it has.
    bomb[14..18].copy_from_slice(&5_000i32.to_le_bytes());
    let refused = decode(&bomb, limit).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a compressed message is corrupt: it declares 5000 bytes, and has more than 5000"
    );
}

#[test]
fn a_batch_that_declares_more_calls_than_fit_is_refused_before_memory_is_taken() {
    let mut batch = Message::Batch(vec![call("tick", vec![1])]).encode();
    batch[14..18].copy_from_slice(&i32::MAX.to_le_bytes());
    let refused = decode(&batch, MESSAGE_SIZE_MAX).unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("the number of calls of a batch at byte 14 is 2147483647"),
        "{refused}"
    );
    batch[14..18].copy_from_slice(&2i32.to_le_bytes());
    let refused = decode(&batch, MESSAGE_SIZE_MAX).unwrap_err();
    assert!(
        matches!(refused, ReadError::Invalid { .. } | ReadError::Truncated { .. }),
        "{refused}"
    );
}

#[test]
fn what_is_no_ice_message_is_refused_at_its_first_byte() {
    let mut reader = Reader::default();
    reader.push(b"G");
    assert!(
        reader
            .next_message()
            .unwrap_err()
            .to_string()
            .starts_with("this is not the Ice protocol")
    );
    let mut long = Message::Validate.encode();
    long[10..14].copy_from_slice(&i32::MAX.to_le_bytes());
    let mut reader = Reader::default();
    reader.push(&long);
    assert!(matches!(reader.next_message(), Err(ReadError::TooLarge { .. })));
}

proptest! {
    #[test]
    fn a_damaged_message_never_panics_and_one_that_is_read_is_written_again(
        which in 0usize..8, at in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let mut bytes = messages()[which].encode();
        let index = at.index(bytes.len());
        bytes[index] = byte;
        if let Ok(message) = decode(&bytes, MESSAGE_SIZE_MAX) {
            prop_assert_eq!(decode(&message.encode(), MESSAGE_SIZE_MAX), Ok(message));
        }
    }
}
