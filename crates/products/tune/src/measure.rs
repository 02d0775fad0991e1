//! Measures the compressed size of messages and the memory of a codec's contexts. Each message is decompressed again and compared.

use super::context_memory::ContextMemory;
use lastmile_codec::message::{
    CodecError, DecodeError, Dictionary, MessageCodec, MessageDecoder, Policy, PolicyEncoder, Treatment,
};
use lastmile_traffic::messages::Messages;
use lastmile_units::ByteCount;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The sizes and context memory of a codec on messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Raw bytes.
    pub(super) plain: u64,
    pub(super) coded: u64,
    /// The largest of any connection.
    pub(super) contexts: ContextMemory,
}

/// A codec that fails, or does not restore its input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum RoundTripError {
    #[error(transparent)]
    Codec(#[from] CodecError),
    #[error("message {message} (counted from 0): {problem}")]
    Refused { message: usize, problem: DecodeError },
    #[error("message {message} (counted from 0) is changed by compressing and decompressing it")]
    Changed { message: usize },
}

impl Measured {
    pub(super) fn ratio(&self) -> f64 {
        self.coded as f64 / self.plain as f64
    }
}

/// Compresses each connection's messages in its own contexts.
pub(super) fn measure(
    codec: &MessageCodec,
    dictionary: Option<&Dictionary>,
    policy: Policy,
    messages: &Messages,
    connections: &[Range<usize>],
) -> Result<Measured, RoundTripError> {
    let mut measured = Measured {
        plain: 0,
        coded: 0,
        contexts: ContextMemory {
            takeover: codec.takeover(),
            ..ContextMemory::default()
        },
    };
    let (mut coded, mut back, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for connection in connections {
        let mut encoder = PolicyEncoder::new(codec, dictionary, policy)?;
        let mut decoder = MessageDecoder::new(codec, dictionary)?;
        for message in connection.clone() {
            let plain = messages.payload(message);
            coded.clear();
            back.clear();
            ends.clear();
            let (kind, at) = (messages.kind(message), messages.at(message));
            if encoder.encode(kind, at, plain, &mut coded, &mut ends) == Treatment::Compressed {
                decoder
                    .decode(&coded, ByteCount::from(plain.len()), &mut back)
                    .map_err(|problem| RoundTripError::Refused { message, problem })?;
                if back != plain {
                    return Err(RoundTripError::Changed { message });
                }
            }
            measured.plain += plain.len() as u64;
            measured.coded += coded.len() as u64;
        }
        let contexts = &mut measured.contexts;
        contexts.compressing = contexts.compressing.max(encoder.context());
        contexts.decompressing = contexts.decompressing.max(decoder.memory());
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{message, recording};

    #[test]
    fn a_connection_has_a_context_of_its_own_and_memory_is_that_of_one() {
        let codec = "deflate:6/w15/m8".parse().unwrap();
        let recording = recording(&["to be or not to be", "to be or not to be"].map(message));
        let measure = |connections: &[Range<usize>]| {
            measure(&codec, None, Policy::default(), &recording.messages.sent, connections).unwrap()
        };
        let whole = 0..2;
        let (together, apart) = (measure(&[whole]), measure(&[0..1, 1..2]));
        assert_eq!((together.plain, apart.plain), (36, 36));
        assert!(together.coded < apart.coded, "{together:?} {apart:?}");
        assert_eq!(together.contexts, apart.contexts);
        // zlib's formula (zconf.h) and its state.
        assert_eq!(
            together.contexts.compressing,
            ByteCount::new((1 << 17) + (1 << 17) + 5968)
        );
    }
}
