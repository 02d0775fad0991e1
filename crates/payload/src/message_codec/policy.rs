//! Which messages does a sender code at all, in how many fragments, and how long does it keep a context for nothing?
//!
//! A receiver need not know: permessage-deflate says of each message whether it is compressed (RFC 7692 section 6, RSV1), and an
//! encoder may leave out any reference that it could make.

use super::{CodecError, Dictionary, MessageCodec, MessageEncoder};
use crate::transcript::Kind;
use lastmile_units::Bytes;
use std::fmt;
use std::time::Duration;

/// What a sender does beside its codec. The default codes every message, in one piece, and keeps its context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Policy {
    /// Messages of this kind go as they are.
    pub skip: Option<Kind>,
    /// Messages shorter than this go as they are.
    pub threshold: Bytes,
    /// Messages go in fragments of that many octets, each of which can be read before the next is there
    /// ([`MessageEncoder::encode_fragmented`]).
    pub fragment: Option<Bytes>,
    /// After that long without a message that is coded, the context is given back; the next one begins with a fresh one.
    pub reset_after_idle: Option<Duration>,
}

impl Policy {
    /// Whether such a message is coded.
    pub fn codes(&self, kind: Kind, length: Bytes) -> bool {
        self.skip != Some(kind) && length >= self.threshold
    }

    /// The plain sizes of what is coded in one go of a message of `size`: its fragments, or itself.
    pub fn pieces(&self, size: Bytes) -> Vec<Bytes> {
        let Some(fragment) = self.fragment.filter(|fragment| *fragment < size) else {
            return vec![size];
        };
        let fragment = fragment.max(Bytes::new(1));
        let whole = size.get() / fragment.get();
        let last = size.get() % fragment.get();
        let mut pieces = vec![fragment; whole as usize];
        pieces.extend((last > 0).then(|| Bytes::new(last)));
        pieces
    }

    /// Whether a context that coded its last message at one time is given back before the next one at another.
    pub fn forgets(&self, coded_at: Duration, at: Duration) -> bool {
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
        if self.threshold > Bytes::ZERO {
            said.push(format!("from {}", self.threshold));
        }
        if let Some(fragment) = self.fragment {
            said.push(format!("fragments of {fragment}"));
        }
        if let Some(idle) = self.reset_after_idle {
            let idle = lastmile_units::duration::print(idle);
            said.push(format!("forgets after {idle} idle"));
        }
        if said.is_empty() {
            return f.write_str("all");
        }
        f.write_str(&said.join(", "))
    }
}

/// How a message went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// As it is: RSV1 is off, and the decoder does not get to see it.
    Plain,
    /// Coded.
    Coded,
}

/// An encoder that a policy drives.
pub struct PolicyEncoder {
    encoder: MessageEncoder,
    policy: Policy,
    takeover: bool,
    /// When the last message was coded, on the caller's clock.
    coded_at: Option<Duration>,
}

impl PolicyEncoder {
    /// An encoder before its first message.
    ///
    /// # Errors
    /// When the codec cannot be had, or the policy resets one whose receiver would have to be told: zstd and brotli with takeover
    /// are one stream, which begins once.
    pub fn new(codec: &MessageCodec, dictionary: Option<&Dictionary>, policy: Policy) -> Result<Self, CodecError> {
        let one_stream = matches!(codec, MessageCodec::Zstd(_) | MessageCodec::Brotli(_)) && codec.takeover();
        if one_stream && policy.reset_after_idle.is_some() {
            return Err(CodecError::OneStream { codec: *codec });
        }
        Ok(Self {
            encoder: MessageEncoder::new(codec, dictionary)?,
            policy,
            takeover: codec.takeover(),
            coded_at: None,
        })
    }

    /// Appends `message` to `out` as the policy has it, and to `ends` where in `out` each of its fragments ends. `at` is when it is
    /// sent; where that is not known, no time has passed.
    pub fn encode(
        &mut self,
        kind: Kind,
        at: Option<Duration>,
        message: &[u8],
        out: &mut Vec<u8>,
        ends: &mut Vec<usize>,
    ) -> Treatment {
        if !self.policy.codes(kind, Bytes::from(message.len())) {
            let fragment = self.policy.fragment.unwrap_or(Bytes::new(u64::MAX));
            let start = out.len();
            out.extend_from_slice(message);
            cut(start, out.len(), fragment, ends);
            return Treatment::Plain;
        }
        if self.takeover && at.is_some_and(|at| self.is_idle(at)) {
            // Not to the dictionary: to the receiver that lies further back by now.
            self.encoder.prime(&[]);
        }
        self.coded_at = at.or(self.coded_at);
        match self.policy.fragment {
            Some(fragment) => self.encoder.encode_fragmented(message, fragment, out, ends),
            None => {
                self.encoder.encode(message, out);
                ends.push(out.len());
            }
        }
        Treatment::Coded
    }

    /// Forgets all messages: the next one is coded as if `history` had gone before, as [`MessageEncoder::prime`] has it.
    pub fn prime(&mut self, history: &[u8]) {
        self.encoder.prime(history);
    }

    /// What its allocator handed out and has not got back, at a time; nothing while the context is given back.
    pub fn memory(&self, at: Duration) -> Bytes {
        if self.is_idle(at) { Bytes::ZERO } else { self.context() }
    }

    /// The same while the context is kept.
    pub fn context(&self) -> Bytes {
        self.encoder.memory()
    }

    fn is_idle(&self, at: Duration) -> bool {
        self.coded_at.is_some_and(|coded_at| self.policy.forgets(coded_at, at))
    }
}

/// Appends to `ends` where pieces of `length` end between `start` and `end`; one piece at least.
pub(super) fn cut(start: usize, end: usize, length: Bytes, ends: &mut Vec<usize>) {
    let length = usize::try_from(length.get()).unwrap_or(usize::MAX).max(1);
    ends.extend((start..end).step_by(length).skip(1));
    ends.push(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message_codec::MessageDecoder;

    const SECOND: Duration = Duration::from_secs(1);

    fn codec(text: &str) -> MessageCodec {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_skipped_goes_as_it_is_and_leaves_the_context_alone() {
        let policy = Policy {
            skip: Some(Kind::Binary),
            threshold: Bytes::new(5),
            ..Policy::default()
        };
        let mut encoder = PolicyEncoder::new(&codec("deflate"), None, policy).unwrap();
        let mut plain = MessageEncoder::new(&codec("deflate"), None).unwrap();
        let messages: [(Kind, &[u8], Treatment); 5] = [
            (Kind::Text, b"Hello", Treatment::Coded),
            (Kind::Binary, b"Hello", Treatment::Plain),
            (Kind::Text, b"Hell", Treatment::Plain),
            (Kind::Text, b"Hello", Treatment::Coded),
            (Kind::Text, b"", Treatment::Plain),
        ];
        for (kind, message, treatment) in messages {
            let (mut out, mut ends) = (Vec::new(), Vec::new());
            assert_eq!(encoder.encode(kind, None, message, &mut out, &mut ends), treatment);
            let mut expected = message.to_vec();
            if treatment == Treatment::Coded {
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
                decoder.decode(&out, Bytes::new(100), &mut decoded).unwrap();
                assert_eq!(decoded, message, "{codec}");
                sizes.push(out.len());
            }
            if codec.takeover() {
                assert!(sizes[3] > sizes[2], "{codec}: the context was given back: {sizes:?}");
                assert!(sizes[4] < sizes[3], "{codec}: and kept again: {sizes:?}");
            }
            assert!(encoder.memory(38 * SECOND) > Bytes::ZERO, "{codec}");
            assert_eq!(encoder.memory(39 * SECOND), Bytes::ZERO, "{codec}");
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
            threshold: Bytes::new(100),
            fragment: Some(Bytes::new(4)),
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
                fragment: fragment.map(Bytes::new),
                ..Policy::default()
            };
            let pieces = policy.pieces(Bytes::new(size)).into_iter();
            pieces.map(Bytes::get).collect::<Vec<_>>()
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
            threshold: Bytes::new(128),
            fragment: Some(Bytes::new(1000)),
            reset_after_idle: Some(60 * SECOND),
        };
        assert_eq!(
            policy.to_string(),
            format!(
                "text only, from 128 B, fragments of 1 kB, forgets after {} idle",
                lastmile_units::duration::print(60 * SECOND)
            )
        );
    }
}
