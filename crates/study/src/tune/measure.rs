//! How small does a codec make messages, and what do its contexts take? Each message is decoded again, and has to be the same.

use super::memory::Contexts;
use lastmile_payload::message_codec::{
    CodecError, DecodeError, Dictionary, MessageCodec, MessageDecoder, Policy, PolicyEncoder, Treatment,
};
use lastmile_payload::transcript::Messages;
use lastmile_units::Bytes;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What a codec made of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Of how many octets.
    pub(super) plain: u64,
    pub(super) coded: u64,
    /// The most that any connection's took.
    pub(super) contexts: Contexts,
}

/// A codec that does not give back what it was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum RoundTripError {
    #[error(transparent)]
    Codec(#[from] CodecError),
    #[error("message {message}, from 0: {problem}")]
    Refused { message: usize, problem: DecodeError },
    #[error("message {message}, from 0, comes back changed")]
    Changed { message: usize },
}

impl Measured {
    pub(super) fn ratio(&self) -> f64 {
        self.coded as f64 / self.plain as f64
    }
}

/// Compresses each connection's messages in contexts of its own.
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
        contexts: Contexts {
            takeover: codec.takeover(),
            compressing: Bytes::ZERO,
            decompressing: Bytes::ZERO,
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
            if encoder.encode(kind, at, plain, &mut coded, &mut ends) == Treatment::Coded {
                decoder
                    .decode(&coded, Bytes::from(plain.len()), &mut back)
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
    use crate::tune::tests::{message, recording};

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
        assert_eq!(together.contexts.compressing, Bytes::new((1 << 17) + (1 << 17) + 5968));
    }
}
