//! The fuzz target of compressed messages, in every message codec.

use lastmile_codec::message::{DecodeError, MessageCodec, MessageDecoder, MessageEncoder};
use lastmile_units::ByteCount;

/// The codecs that an input's first byte chooses from.
const CODECS: [&str; 12] = [
    "deflate",
    "deflate/no-takeover",
    "deflate:1/w8/m1",
    "zlib-rs",
    "zlib-rs/no-takeover",
    "zstd",
    "zstd/no-takeover",
    "brotli",
    "brotli/no-takeover",
    "lz4",
    "lz4/no-takeover",
    "identity",
];

/// Enough for the content of small inputs, and little enough that a decompression bomb costs no time.
const MESSAGE_MAX: ByteCount = ByteCount::new(64 << 10);

/// Compressed messages, each behind its length in two bytes, the high one first. A message that does not decompress yields nothing and ends
/// the connection; no message exceeds the limit; a message that does can be compressed and decompressed again to the same.
pub fn coded_messages(input: &[u8]) {
    let Some((&choice, mut rest)) = input.split_first() else {
        return;
    };
    let codec: MessageCodec = CODECS[usize::from(choice) % CODECS.len()].parse().expect("it is one");
    let mut decoder = MessageDecoder::new(&codec, None).expect("its settings are in range");
    let mut messages = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk() {
        let (coded, after) = after.split_at(after.len().min(u16::from_be_bytes(*length).into()));
        rest = after;
        let mut message = b"before".to_vec();
        let decoded = decoder.decode(coded, MESSAGE_MAX, &mut message);
        assert!(message.starts_with(b"before"));
        message.drain(..b"before".len());
        assert!(ByteCount::from(message.len()) <= MESSAGE_MAX);
        if decoded.is_err() {
            assert!(message.is_empty());
            let again = decoder.decode(coded, MESSAGE_MAX, &mut message);
            assert_eq!(again, Err(DecodeError::Lost));
            decoder.reset();
            break;
        }
        messages.push(message);
    }
    let mut encoder = MessageEncoder::new(&codec, None).expect("its settings are in range");
    let mut decoder = MessageDecoder::new(&codec, None).expect("its settings are in range");
    for message in messages {
        let (mut coded, mut decoded) = (Vec::new(), Vec::new());
        encoder.encode(&message, &mut coded);
        assert_eq!(decoder.decode(&coded, MESSAGE_MAX, &mut decoded), Ok(()), "{codec}");
        assert!(decoded == message, "{codec}");
    }
}
