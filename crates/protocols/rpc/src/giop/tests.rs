//! Tests of GIOP: messages that return as they were, and hostile ones.

use super::*;
use crate::ReadError;
use lastmile_units::ByteCount;
use proptest::prelude::*;

fn request(id: u32, length: usize) -> Message {
    Message::Request(Request {
        id,
        response: ResponseFlags::Target,
        object_key: b"key".to_vec(),
        operation: "put".to_owned(),
        contexts: vec![ServiceContext::code_sets()],
        parameters: Parameters::new((0..length).map(|index| index as u8).collect()),
    })
}

fn messages() -> Vec<Message> {
    vec![
        Message::LocateRequest {
            id: 2,
            object_key: b"key".to_vec(),
        },
        Message::LocateReply {
            id: 2,
            status: LocateStatus::Here,
        },
        request(4, 20_000),
        request(6, 0),
        Message::Reply(Reply {
            id: 4,
            status: ReplyStatus::NoException,
            contexts: Vec::new(),
            results: Parameters::new(vec![1, 2, 3]),
        }),
        Message::CancelRequest(6),
        Message::MessageError,
        Message::CloseConnection,
    ]
}

fn read_all(bytes: &[u8], piece: usize, limits: Limits) -> Result<Vec<Message>, ReadError> {
    let mut reader = Reader::new(limits);
    let mut read = Vec::new();
    for bytes in bytes.chunks(piece) {
        reader.push(bytes);
        while let Some(message) = reader.next_message()? {
            read.push(message);
        }
    }
    assert!(!reader.has_rest());
    Ok(read)
}

#[test]
fn every_message_returns_as_it_was_whole_or_in_fragments_however_its_bytes_arrive() {
    let whole: Vec<u8> = messages().iter().flat_map(Message::encode).collect();
    let cut = |message: &Message| fragment(message.encode(), OMNIORB_MESSAGE_MAX);
    let fragments: Vec<u8> = messages().iter().flat_map(cut).collect();
    // The request of 20,072 bytes has two fragments, with a head of 16 bytes each.
    assert_eq!(fragments.len(), whole.len() + 2 * 16);
    for bytes in [whole, fragments] {
        for piece in [1, 13, bytes.len()] {
            assert_eq!(read_all(&bytes, piece, Limits::default()), Ok(messages()));
        }
    }
}

#[test]
fn parameters_begin_at_a_multiple_of_eight_bytes() {
    let encoded = request(1, 3).encode();
    assert_eq!((encoded.len() - 3) % 8, 0);
    assert_eq!(encoded[encoded.len() - 3..], [0, 1, 2]);
    // Without parameters there is no padding either.
    assert_eq!(request(1, 0).encode().len(), 64);
}

#[test]
fn big_endian_messages_are_read() {
    let bytes = b"GIOP\x01\x02\x00\x01\0\0\0\x0e\0\0\0\x07\0\0\0\0\0\0\0\0\x12\x34";
    let read = read_all(bytes, 5, Limits::default()).unwrap();
    let Message::Reply(reply) = &read[0] else {
        panic!("{read:?}")
    };
    assert_eq!((reply.id, reply.results.order), (7, ByteOrder::Big));
    assert_eq!(reply.results.content, [0x12, 0x34]);
}

#[test]
fn fragments_are_bounded_in_length_and_number() {
    let limits = Limits {
        message: ByteCount::new(10_000),
        unfinished: 2,
    };
    let long = fragment(request(1, 20_000).encode(), OMNIORB_MESSAGE_MAX);
    let refused = read_all(&long, 100, limits).unwrap_err();
    assert!(matches!(refused, ReadError::TooLarge { .. }), "{refused}");
    let begun = |id| {
        let mut bytes = fragment(request(id, 100).encode(), ByteCount::new(64));
        bytes.truncate(64);
        bytes
    };
    let three = [begun(1), begun(2), begun(3)].concat();
    assert_eq!(read_all(&three, 64, limits), Err(ReadError::Unfinished(2)));
}

#[test]
fn what_a_message_cannot_be_is_refused_with_the_place_and_the_value() {
    let refusal = |bytes: &[u8]| read_all(bytes, bytes.len(), Limits::default()).unwrap_err().to_string();
    assert!(refusal(b"I").starts_with("this is not GIOP"));
    assert_eq!(refusal(b"GIOP\x01\x00\x01\0\0\0\0\0"), "GIOP 1.0 is not read; use 1.2");
    let fragment = b"GIOP\x01\x02\x01\x07\x04\0\0\0\x09\0\0\0";
    assert_eq!(
        refusal(fragment),
        "the request id of a fragment at byte 12 is 9, of which no message is unfinished"
    );
    let mut many = request(1, 0).encode();
    many[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(
        refusal(&many),
        "the number of service contexts at byte 40 is 4294967295, but 20 bytes follow"
    );
}

proptest! {
    #[test]
    fn a_damaged_message_never_panics(
        which in 0usize..8, at in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let mut bytes = messages()[which].encode();
        let index = at.index(bytes.len());
        bytes[index] = byte;
        let mut reader = Reader::default();
        reader.push(&bytes);
        while let Ok(Some(_)) = reader.next_message() {}
    }
}
