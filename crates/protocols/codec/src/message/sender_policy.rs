//! What a sender decides besides the codec: which messages it compresses, in what fragments, and when it resets an idle context.
//!
//! The receiver need not know: permessage-deflate marks each message that is compressed (RFC 7692 section 6, RSV1), and an encoder
//! is free not to use its history.

use super::{CodecError, Dictionary, MessageCodec, MessageEncoder};
use crate::message::Kind;
use lastmile_units::ByteCount;
use std::fmt;
use std::time::Duration;

/// What a sender decides besides its codec. The default compresses every message, in one piece, and keeps its context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Policy {
    /// Messages of this type are sent uncompressed.
    pub skip: Option<Kind>,
    /// Messages shorter than this are sent uncompressed.
    pub threshold: ByteCount,
    /// Messages are sent in fragments of that many bytes; each can be read before the next arrives
    /// ([`MessageEncoder::encode_fragmented`]).
    pub fragment: Option<ByteCount>,
    /// After that long without a compressed message, the context is freed; the next message starts a new one.
    pub reset_after_idle: Option<Duration>,
}

impl Policy {
    /// Whether a message of this type and length is compressed.
    pub fn compresses(&self, kind: Kind, length: ByteCount) -> bool {
        self.skip != Some(kind) && length >= self.threshold
    }

    /// The uncompressed sizes of the pieces that a message of `size` is compressed in: its fragments, or the whole message.
    pub fn pieces(&self, size: ByteCount) -> Vec<ByteCount> {
        let Some(fragment) = self.fragment.filter(|fragment| *fragment < size) else {
            return vec![size];
        };
        let fragment = fragment.max(ByteCount::new(1));
        let whole = size.get() / fragment.get();
        let last = size.get() % fragment.get();
        let mut pieces = vec![fragment; whole as usize];
        pieces.extend((last > 0).then(|| ByteCount::new(last)));
        pieces
    }

    /// Whether a context whose last message was compressed at `coded_at` is freed before a message at `at`.
    pub fn resets_between(&self, coded_at: Duration, at: Duration) -> bool {
        self.reset_after_idle
            .is_some_and(|limit| at.saturating_sub(coded_at) >= limit)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = Vec::new();
        match self.skip {
            None => {}
            Some(Kind::Text) => said.push("binary only".to_owned()),
            Some(Kind::Binary) => said.push("text only".to_owned()),
        }
        if self.threshold > ByteCount::ZERO {
            said.push(format!("from {}", self.threshold));
        }
        if let Some(fragment) = self.fragment {
            said.push(format!("fragments of {fragment}"));
        }
        if let Some(idle) = self.reset_after_idle {
            let idle = lastmile_units::duration::print(idle);
            said.push(format!("resets after {idle} idle"));
        }
        if said.is_empty() {
            return f.write_str("all");
        }
        f.write_str(&said.join(", "))
    }
}

/// How a message was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// Uncompressed: RSV1 is off, and the decoder does not see the message.
    Plain,
    /// Compressed.
    Compressed,
}

/// An encoder that follows a policy.
pub struct PolicyEncoder {
    encoder: MessageEncoder,
    policy: Policy,
    takeover: bool,
    /// When the last message was compressed, on the caller's clock.
    compressed_at: Option<Duration>,
}

impl PolicyEncoder {
    /// An encoder before its first message.
    ///
    /// # Errors
    /// When the encoder cannot be created, or the policy resets a codec whose receiver would have to be notified: zstd and brotli with
    /// takeover are one stream, which cannot be restarted.
    pub fn new(codec: &MessageCodec, dictionary: Option<&Dictionary>, policy: Policy) -> Result<Self, CodecError> {
        let one_stream = matches!(codec, MessageCodec::Zstd(_) | MessageCodec::Brotli(_)) && codec.takeover();
        if one_stream && policy.reset_after_idle.is_some() {
            return Err(CodecError::OneStream { codec: *codec });
        }
        Ok(Self {
            encoder: MessageEncoder::new(codec, dictionary)?,
            policy,
            takeover: codec.takeover(),
            compressed_at: None,
        })
    }

    /// Appends `message` to `out`, compressed or not as the policy says, and to `ends` where in `out` each of its fragments ends. `at`
    /// is when it is sent; where that is unknown, no time is assumed to have passed.
    pub fn encode(
        &mut self,
        kind: Kind,
        at: Option<Duration>,
        message: &[u8],
        out: &mut Vec<u8>,
        ends: &mut Vec<usize>,
    ) -> Treatment {
        if !self.policy.compresses(kind, ByteCount::from(message.len())) {
            let fragment = self.policy.fragment.unwrap_or(ByteCount::new(u64::MAX));
            let start = out.len();
            out.extend_from_slice(message);
            fragment_ends(start, out.len(), fragment, ends);
            return Treatment::Plain;
        }
        if self.takeover && at.is_some_and(|at| self.is_idle(at)) {
            // The history is empty, without the dictionary: for the receiver, the dictionary lies further back by now.
            self.encoder.prime(&[]);
        }
        self.compressed_at = at.or(self.compressed_at);
        match self.policy.fragment {
            Some(fragment) => self.encoder.encode_fragmented(message, fragment, out, ends),
            None => {
                self.encoder.encode(message, out);
                ends.push(out.len());
            }
        }
        Treatment::Compressed
    }

    /// Resets the context: the next message is compressed as if `history` preceded it, as in [`MessageEncoder::prime`].
    pub fn prime(&mut self, history: &[u8]) {
        self.encoder.prime(history);
    }

    /// The memory that it has allocated and not freed, at a time; 0 while the context is freed.
    pub fn memory(&self, at: Duration) -> ByteCount {
        if self.is_idle(at) {
            ByteCount::ZERO
        } else {
            self.context()
        }
    }

    /// The same, while there is a context.
    pub fn context(&self) -> ByteCount {
        self.encoder.memory()
    }

    fn is_idle(&self, at: Duration) -> bool {
        self.compressed_at
            .is_some_and(|coded_at| self.policy.resets_between(coded_at, at))
    }
}

/// Appends to `ends` where pieces of `length` end between `start` and `end`; there is at least one piece.
pub(super) fn fragment_ends(start: usize, end: usize, length: ByteCount, ends: &mut Vec<usize>) {
    let length = usize::try_from(length.get()).unwrap_or(usize::MAX).max(1);
    ends.extend((start..end).step_by(length).skip(1));
    ends.push(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::MessageDecoder;

    const SECOND: Duration = Duration::from_secs(1);

    fn codec(text: &str) -> MessageCodec {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_skipped_goes_as_it_is_and_leaves_the_context_alone() {
        let policy = Policy {
            skip: Some(Kind::Binary),
            threshold: ByteCount::new(5),
            ..Policy::default()
        };
        let mut encoder = PolicyEncoder::new(&codec("deflate"), None, policy).unwrap();
        let mut plain = MessageEncoder::new(&codec("deflate"), None).unwrap();
        let messages: [(Kind, &[u8], Treatment); 5] = [
            (Kind::Text, b"Hello", Treatment::Compressed),
            (Kind::Binary, b"Hello", Treatment::Plain),
            (Kind::Text, b"Hell", Treatment::Plain),
            (Kind::Text, b"Hello", Treatment::Compressed),
            (Kind::Text, b"", Treatment::Plain),
        ];
        for (kind, message, treatment) in messages {
            let (mut out, mut ends) = (Vec::new(), Vec::new());
            assert_eq!(encoder.encode(kind, None, message, &mut out, &mut ends), treatment);
            let mut expected = message.to_vec();
            if treatment == Treatment::Compressed {
                expected.clear();
                plain.encode(message, &mut expected);
            }
            assert_eq!(out, expected);
            assert_eq!(ends, [expected.len()]);
        }
    }

    #[test]
    fn a_context_that_was_given_back_is_fresh_and_its_receiver_notices_nothing() {
        let policy = Policy {
            reset_after_idle: Some(10 * SECOND),
            ..Policy::default()
        };
        let dictionary = Dictionary::raw(*b"all that is known beforehand");
        for text in [
            "deflate",
            "zlib-rs",
            "lz4",
            "lz4hc",
            "zstd/no-takeover",
            "brotli/no-takeover",
        ] {
            let codec = codec(text);
            let mut encoder = PolicyEncoder::new(&codec, Some(&dictionary), policy).unwrap();
            let mut decoder = MessageDecoder::new(&codec, Some(&dictionary)).unwrap();
            let message = b"all that is known beforehand, and 42";
            let mut sizes = Vec::new();
            for at in [0, 9, 18, 28, 29] {
                let (mut out, mut decoded) = (Vec::new(), Vec::new());
                encoder.encode(Kind::Text, Some(at * SECOND), message, &mut out, &mut Vec::new());
                decoder.decode(&out, ByteCount::new(100), &mut decoded).unwrap();
                assert_eq!(decoded, message, "{codec}");
                sizes.push(out.len());
            }
            if codec.takeover() {
                assert!(sizes[3] > sizes[2], "{codec}: the context was reset: {sizes:?}");
                assert!(sizes[4] < sizes[3], "{codec}: and kept after that: {sizes:?}");
            }
            assert!(encoder.memory(38 * SECOND) > ByteCount::ZERO, "{codec}");
            assert_eq!(encoder.memory(39 * SECOND), ByteCount::ZERO, "{codec}");
        }
    }

    #[test]
    fn a_stream_that_begins_once_is_not_reset() {
        let policy = Policy {
            reset_after_idle: Some(SECOND),
            ..Policy::default()
        };
        let refused = PolicyEncoder::new(&codec("zstd"), None, policy).err();
        assert_eq!(refused, Some(CodecError::OneStream { codec: codec("zstd") }));
        assert!(PolicyEncoder::new(&codec("zstd"), None, Policy::default()).is_ok());
    }

    #[test]
    fn plain_messages_are_fragmented_as_well() {
        let policy = Policy {
            threshold: ByteCount::new(100),
            fragment: Some(ByteCount::new(4)),
            ..Policy::default()
        };
        let mut encoder = PolicyEncoder::new(&codec("deflate"), None, policy).unwrap();
        let (mut out, mut ends) = (Vec::new(), Vec::new());
        encoder.encode(Kind::Text, None, b"0123456789", &mut out, &mut ends);
        encoder.encode(Kind::Text, None, b"", &mut out, &mut ends);
        encoder.encode(Kind::Text, None, b"0123", &mut out, &mut ends);
        assert_eq!(ends, [4, 8, 10, 10, 14]);
        assert_eq!(out, b"01234567890123");
    }

    #[test]
    fn what_is_coded_in_one_go_is_a_fragment_or_the_whole_message() {
        let pieces = |fragment: Option<u64>, size: u64| {
            let policy = Policy {
                fragment: fragment.map(ByteCount::new),
                ..Policy::default()
            };
            let pieces = policy.pieces(ByteCount::new(size)).into_iter();
            pieces.map(ByteCount::get).collect::<Vec<_>>()
        };
        assert_eq!(pieces(None, 10), [10]);
        assert_eq!(pieces(Some(4), 10), [4, 4, 2]);
        assert_eq!(pieces(Some(4), 8), [4, 4]);
        assert_eq!(pieces(Some(4), 4), [4]);
        assert_eq!(pieces(Some(4), 0), [0]);
        assert_eq!(pieces(Some(0), 2), [1, 1], "as an encoder has it");
    }

    #[test]
    fn a_policy_is_told_in_words() {
        assert_eq!(Policy::default().to_string(), "all");
        let binary = Policy {
            skip: Some(Kind::Text),
            ..Policy::default()
        };
        assert_eq!(binary.to_string(), "binary only");
        let policy = Policy {
            skip: Some(Kind::Binary),
            threshold: ByteCount::new(128),
            fragment: Some(ByteCount::new(1000)),
            reset_after_idle: Some(60 * SECOND),
        };
        assert_eq!(
            policy.to_string(),
            format!(
                "text only, from 128 B, fragments of 1 kB, resets after {} idle",
                lastmile_units::duration::print(60 * SECOND)
            )
        );
    }
}
