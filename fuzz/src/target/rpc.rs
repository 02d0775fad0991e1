//! The targets `ice`, `giop` and `frames`: messages of calls, whoever sent them.

use super::portions;
use lastmile_codec::message::MessageCodec;
use lastmile_rpc::frame::{FrameCompression, FrameReader};
use lastmile_rpc::{giop, ice};
use lastmile_units::ByteCount;

/// A small limit, which inputs reach.
const LIMIT: ByteCount = ByteCount::new(1 << 16);

/// However the bytes arrive, the messages are the same; each is below the limit, and is read again as it was written.
pub fn ice(input: &[u8]) {
    let read = |arriving: &mut dyn Iterator<Item = &[u8]>| {
        let mut reader = ice::Reader::new(LIMIT);
        let mut messages = Vec::new();
        for portion in arriving {
            reader.push(portion);
            while let Ok(Some((message, _))) = reader.next_message() {
                messages.push(message);
            }
        }
        messages
    };
    let whole = read(&mut std::iter::once(input));
    assert_eq!(whole, read(&mut portions::of(input)));
    for message in whole {
        let written = message.encode();
        assert!(ByteCount::from(written.len()) <= LIMIT);
        assert_eq!(ice::decode(&written, LIMIT), Ok(message));
    }
}

/// However the bytes arrive, the messages are the same, and fragments never join to more than the limit.
pub fn giop(input: &[u8]) {
    let read = |arriving: &mut dyn Iterator<Item = &[u8]>| {
        let mut reader = giop::Reader::new(giop::Limits {
            message: LIMIT,
            unfinished: 4,
        });
        let mut messages = Vec::new();
        for portion in arriving {
            reader.push(portion);
            loop {
                match reader.next_message() {
                    Ok(Some(message)) => messages.push(message),
                    Ok(None) => break,
                    Err(_) => return messages,
                }
            }
        }
        messages
    };
    let whole = read(&mut std::iter::once(input));
    assert_eq!(whole, read(&mut portions::of(input)));
    for message in &whole {
        if let giop::Message::Request(request) = message {
            assert!(ByteCount::from(request.parameters.content.len()) <= LIMIT);
        }
    }
}

/// No frame has more than the limit, compressed or not.
pub fn frames(input: &[u8]) {
    for codec in ["identity", "deflate:6/w15/m8", "zstd:3/w17"] {
        let compression = FrameCompression {
            codec: codec.parse::<MessageCodec>().expect("it is a codec"),
            if_smaller: false,
            dictionary: None,
        };
        let mut reader = FrameReader::new(&compression, LIMIT).expect("its settings are within their ranges");
        reader.push(input);
        while let Ok(Some(content)) = reader.next_frame() {
            assert!(ByteCount::from(content.len()) <= LIMIT);
        }
    }
}
