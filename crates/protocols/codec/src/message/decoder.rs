//! Decompresses messages from elsewhere, without trusting them.

use super::back_end::{Copy, Decompress, Fault};
use super::zlib::{Stock, ZlibRs};
use super::{CodecError, Dictionary, MessageCodec, brotli, lz4, zlib, zstd};
use lastmile_units::ByteCount;

/// A compressed message that could not be decompressed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The message would exceed the limit: a decompression bomb, or a limit set too low.
    #[error("a compressed message of {length} decompresses to more than {limit}; raise the limit if that is intended")]
    TooLarge {
        /// Its compressed length.
        length: ByteCount,
        /// The limit.
        limit: ByteCount,
    },
    /// The message ends before its content is complete.
    #[error("a compressed message of {length} is cut off; are fragments missing?")]
    Truncated {
        /// Its compressed length.
        length: ByteCount,
    },
    /// The message violates its codec's format, or refers to data before its history.
    #[error(
        "a compressed message of {length} is corrupt: {problem}; do both ends agree on codec, window, takeover and dictionary?"
    )]
    Corrupt {
        /// Its compressed length.
        length: ByteCount,
        /// The error of the library.
        problem: String,
    },
    /// An earlier message could not be decompressed, so the data that later ones refer to is unknown.
    #[error(
        "an earlier message of this connection, on which this one depends, could not be decompressed; connect again"
    )]
    Lost,
}

/// Decompresses the messages that the other end of a connection sends.
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

    /// Decompresses the one message in `coded`, of at most `limit`, and appends it to `out`.
    ///
    /// # Errors
    /// When it is corrupt, cut off or too long. `out` is then unchanged, and every later message is [`DecodeError::Lost`] until
    /// [`Self::reset`] or [`Self::prime`].
    pub fn decode(&mut self, coded: &[u8], limit: ByteCount, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        if self.lost {
            return Err(DecodeError::Lost);
        }
        let before = out.len();
        let end = before.saturating_add(usize::try_from(limit.get()).unwrap_or(usize::MAX));
        self.back_end.decode(coded, end, out).map_err(|fault| {
            out.truncate(before);
            self.lost = true;
            let length = ByteCount::from(coded.len());
            match fault {
                Fault::Corrupt(problem) => DecodeError::Corrupt { length, problem },
                Fault::Truncated => DecodeError::Truncated { length },
                Fault::TooLarge => DecodeError::TooLarge { length, limit },
            }
        })
    }

    /// Resets the context: the next message is decompressed as if `history` preceded it, as in [`super::MessageEncoder::prime`].
    pub fn prime(&mut self, history: &[u8]) {
        self.lost = false;
        self.back_end.prime(history);
    }

    /// Resets the context: the next message is decompressed like the first.
    pub fn reset(&mut self) {
        self.lost = false;
        self.back_end.reset();
    }

    /// The memory that it has allocated and not freed.
    pub fn memory(&self) -> ByteCount {
        ByteCount::from(self.back_end.memory())
    }
}
