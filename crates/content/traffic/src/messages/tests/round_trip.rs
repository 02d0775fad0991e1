//! Claims for all messages: what is written is read back, in any portions, and no input makes a reader panic.

use super::super::*;
use proptest::prelude::*;
use std::io::Cursor;

fn message() -> impl Strategy<Value = Message> {
    let payload = prop_oneof![
        ".{0,40}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..60),
    ];
    let at = proptest::option::of((0..2_000_000_000_000_u64).prop_map(Duration::from_micros));
    (payload, any::<bool>(), at, any::<bool>(), 0..4_u32).prop_map(|(payload, sent, at, binary, connection)| Message {
        direction: if sent { Direction::Sent } else { Direction::Received },
        at,
        kind: if binary { Kind::Binary } else { kind_of(&payload) },
        connection,
        payload: payload.into(),
    })
}

fn read(content: impl Read + Send, format: Format) -> Result<Vec<Message>, TranscriptError> {
    let reading = Reading {
        format: Some(format),
        ..Reading::default()
    };
    Transcript::read(content, "input", reading)?.collect()
}

/// Gives one byte at a time.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let most = room.len().min(1);
        self.0.read(&mut room[..most])
    }
}

proptest! {
    #[test]
    fn lines_of_json_give_back_what_was_written(messages in proptest::collection::vec(message(), 1..20)) {
        let mut written = Vec::new();
        jsonl::write(&messages, &mut written).unwrap();
        let found = read(written.as_slice(), Format::JsonLines).unwrap();
        prop_assert_eq!(&found, &messages);
        prop_assert_eq!(read(Trickle(&written), Format::JsonLines).unwrap(), found);
    }

    #[test]
    fn lengths_give_back_what_was_written(messages in proptest::collection::vec(message(), 1..20)) {
        let mut written = Vec::new();
        for message in &messages {
            written.extend(u32::try_from(message.payload.len()).unwrap().to_be_bytes());
            written.extend(&message.payload);
        }
        let found = read(written.as_slice(), Format::LengthPrefixed).unwrap();
        let payloads = |messages: &[Message]| messages.iter().map(|message| message.payload.clone()).collect::<Vec<_>>();
        prop_assert_eq!(payloads(&found), payloads(&messages));
        prop_assert_eq!(read(Trickle(&written), Format::LengthPrefixed).unwrap(), found);
    }

    #[test]
    fn a_har_gives_back_what_was_written(messages in proptest::collection::vec(message(), 1..12), spaces in any::<bool>()) {
        let entries: Vec<serde_json::Value> = messages.iter().map(|message| {
            let (opcode, data) = match (message.kind, std::str::from_utf8(&message.payload)) {
                (Kind::Text, Ok(text)) => (1, text.to_owned()),
                _ => (2, base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &message.payload)),
            };
            let way = if message.direction == Direction::Sent { "send" } else { "receive" };
            serde_json::json!({"a \"]}{[": [{}, "\\\""], "_webSocketMessages": [{"type": way, "opcode": opcode, "data": data}], "z": 1.5})
        }).collect();
        let har = serde_json::json!({"log": {"entries": entries, "version": "1.2"}});
        let written = if spaces { serde_json::to_vec_pretty(&har) } else { serde_json::to_vec(&har) }.unwrap();
        let found = read(written.as_slice(), Format::Har).unwrap();
        let expected: Vec<Message> = (0..).zip(&messages).map(|(connection, message)| Message { at: None, connection, ..message.clone() }).collect();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(read(Trickle(&written), Format::Har).unwrap(), found);
    }

    #[test]
    fn any_bytes_are_read_or_refused_by_every_reader_and_alike_in_portions(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        for format in Format::ALL {
            let whole = read(Cursor::new(&bytes), format);
            prop_assert_eq!(&whole, &read(Trickle(&bytes), format));
            if let Err(error) = whole {
                prop_assert!(error.to_string().starts_with("input: "));
            }
        }
    }
}
