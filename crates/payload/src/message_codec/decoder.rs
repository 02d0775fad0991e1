//! How are coded messages from elsewhere turned back, without trusting them?

use super::zlib::{Stock, ZlibRs};
use super::{CodecError, Dictionary, MessageCodec, brotli, lz4, zlib, zstd};
use lastmile_units::Bytes;

/// Why a back end cannot go on.
#[derive(Debug)]
pub(super) enum Fault {
    Corrupt(String),
    Truncated,
    TooLarge,
}

/// A back end: one direction of one connection.
pub(super) trait Decompress: Send {
    /// Appends the message that `coded` holds; `out` may be at most `end` octets long after it, or one more with
    /// [`Fault::TooLarge`]. After an error it is not asked again before it is reset or primed.
    fn decode(&mut self, coded: &[u8], end: usize, out: &mut Vec<u8>) -> Result<(), Fault>;
    /// A fresh context after `history`.
    fn prime(&mut self, history: &[u8]);
    /// A fresh context, after the dictionary where there is one.
    fn reset(&mut self);
    /// Octets held.
    fn memory(&self) -> usize;
}

/// A coded message that could not be turned back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The message would pass the limit: a decompression bomb, or a limit set too low.
    #[error("a message coded in {length} holds more than {limit} once decoded; raise the limit if that is meant")]
    TooLarge {
        /// Its length as it came.
        length: Bytes,
        /// The limit it was held to.
        limit: Bytes,
    },
    /// The message ends before what it codes does.
    #[error("a message coded in {length} is cut off; are fragments missing?")]
    Truncated {
        /// Its length as it came.
        length: Bytes,
    },
    /// The message breaks its codec's format, or refers to what was not there before it.
    #[error(
        "a message coded in {length} is corrupt: {problem}; do both ends agree on codec, window, takeover and dictionary?"
    )]
    Corrupt {
        /// Its length as it came.
        length: Bytes,
        /// What the back end found.
        problem: String,
    },
    /// An earlier message could not be decoded, so that what later ones refer to is not known.
    #[error(
        "an earlier message of this connection could not be decoded, which those after it depend on; connect again"
    )]
    Lost,
}

/// Decodes the messages that the other end of a connection sends.
pub struct MessageDecoder {
    back_end: Box<dyn Decompress>,
    lost: bool,
}

impl MessageDecoder {
    /// A decoder before the first message.
    ///
    /// # Errors
    /// When the codec has a setting out of its range.
    pub fn new(codec: &MessageCodec, dictionary: Option<&Dictionary>) -> Result<Self, CodecError> {
        codec.check()?;
        let back_end: Box<dyn Decompress> = match codec {
            MessageCodec::Identity => Box::new(Copy),
            MessageCodec::Deflate(settings) => Box::new(zlib::Decompressor::<Stock>::new(settings, dictionary)?),
            MessageCodec::ZlibRs(settings) => Box::new(zlib::Decompressor::<ZlibRs>::new(settings, dictionary)?),
            MessageCodec::Zstd(settings) => Box::new(zstd::Decompressor::new(settings, dictionary)?),
            MessageCodec::Brotli(settings) => Box::new(brotli::Decompressor::new(settings, dictionary)),
            MessageCodec::Lz4(settings) => Box::new(lz4::Decompressor::new(settings, dictionary)),
        };
        Ok(Self { back_end, lost: false })
    }

    /// Appends to `out` the message that all of `coded` holds, which may be no longer than `limit`.
    ///
    /// # Errors
    /// When it is corrupt, cut off or too long. `out` is then as it was, and every message after it is [`DecodeError::Lost`] until
    /// [`Self::reset`] or [`Self::prime`].
    pub fn decode(&mut self, coded: &[u8], limit: Bytes, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        if self.lost {
            return Err(DecodeError::Lost);
        }
        let before = out.len();
        let end = before.saturating_add(usize::try_from(limit.get()).unwrap_or(usize::MAX));
        self.back_end.decode(coded, end, out).map_err(|fault| {
            out.truncate(before);
            self.lost = true;
            let length = Bytes::from(coded.len());
            match fault {
                Fault::Corrupt(problem) => DecodeError::Corrupt { length, problem },
                Fault::Truncated => DecodeError::Truncated { length },
                Fault::TooLarge => DecodeError::TooLarge { length, limit },
            }
        })
    }

    /// Forgets all messages: the next one is decoded as if `history` had gone before, as [`super::MessageEncoder::prime`] has it.
    pub fn prime(&mut self, history: &[u8]) {
        self.lost = false;
        self.back_end.prime(history);
    }

    /// Forgets all messages: the next one is decoded as the first was.
    pub fn reset(&mut self) {
        self.lost = false;
        self.back_end.reset();
    }

    /// What its allocator handed out and has not got back.
    pub fn memory(&self) -> Bytes {
        Bytes::from(self.back_end.memory())
    }
}

/// Identity.
struct Copy;

impl Decompress for Copy {
    fn decode(&mut self, coded: &[u8], end: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
        if coded.len() > end - out.len() {
            return Err(Fault::TooLarge);
        }
        out.extend_from_slice(coded);
        Ok(())
    }

    fn prime(&mut self, _: &[u8]) {}

    fn reset(&mut self) {}

    fn memory(&self) -> usize {
        0
    }
}
