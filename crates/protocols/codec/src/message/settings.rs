//! The settings of message codecs, with their ranges and defaults.

use super::{CodecError, MessageCodec};
use lastmile_units::ByteCount;

/// The settings of a deflate encoder. A decoder needs only takeover and window; the sender alone decides on the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deflate {
    /// Whether a message may refer to those before it.
    pub takeover: bool,
    /// How far back a message may refer.
    pub window_bits: WindowBits,
    /// The compression level: 0 (only store) to 9.
    pub level: u8,
    /// How much memory to use for finding repetition and for a block's symbols: 1 to 9.
    pub mem_level: u8,
    /// The kind of data to expect.
    pub strategy: Strategy,
}

impl Default for Deflate {
    /// zlib's defaults (zlib.h, `deflateInit`), with takeover.
    fn default() -> Self {
        Self {
            takeover: true,
            window_bits: WindowBits::MAX,
            level: 6,
            mem_level: 8,
            strategy: Strategy::Default,
        }
    }
}

impl Deflate {
    /// The memory that stock zlib 1.3 allocates for these settings on a 64-bit machine: window and chains, hash and symbols (zconf.h:
    /// 2^(w+2) + 2^(m+9) B), and its state, for which zconf.h gives only "a few kilobytes".
    pub const fn zlib_memory(&self) -> ByteCount {
        let window = 1 << (self.window_bits.runs_as().get() + 2);
        let hash_and_symbols = 1 << (self.mem_level + 9);
        ByteCount::new(window + hash_and_symbols + ZLIB_STATE)
    }

    pub(super) fn check(&self) -> Result<(), CodecError> {
        in_range("deflate level", self.level.into(), 0, 9)?;
        in_range("mem level", self.mem_level.into(), 1, 9)
    }
}

/// The library that deflates and inflates. Each can read the other's output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeflateLibrary {
    /// Stock zlib.
    #[default]
    Zlib,
    /// zlib-rs.
    ZlibRs,
}

impl DeflateLibrary {
    /// The codec that uses this library.
    pub const fn codec(self, deflate: Deflate) -> MessageCodec {
        match self {
            Self::Zlib => MessageCodec::Deflate(deflate),
            Self::ZlibRs => MessageCodec::ZlibRs(deflate),
        }
    }
}

/// The size of `deflate_state` in zlib 1.3 on a 64-bit machine; a test checks it.
const ZLIB_STATE: u64 = 5968;

/// log2 of a deflate window in bytes: 8 to 15 (RFC 7692 section 7.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowBits(u8);

impl WindowBits {
    /// 256 B.
    pub const MIN: Self = Self(8);
    /// 32 KiB.
    pub const MAX: Self = Self(15);

    /// A window of 2^`bits` bytes; none outside 8 to 15.
    pub const fn new(bits: u8) -> Option<Self> {
        if Self::MIN.0 <= bits && bits <= Self::MAX.0 {
            Some(Self(bits))
        } else {
            None
        }
    }

    /// Every window, smallest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (Self::MIN.0..=Self::MAX.0).map(Self)
    }

    /// The number of bits.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The window that an encoder really uses: zlib uses 9 bits for raw deflate where 8 are requested, and since 1.2.11 refuses the
    /// request (zlib.h, `deflateInit2`). It then never refers further back than 2^9 - 262 bytes, which is within 256.
    #[must_use]
    pub const fn runs_as(self) -> Self {
        if self.0 == Self::MIN.0 { Self(9) } else { self }
    }
}

/// The kind of data that zlib should expect (zlib.h, `deflateInit2`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// Any.
    #[default]
    Default,
    /// Small values with a somewhat random distribution, such as the residues of a filter: short matches are left out.
    Filtered,
    /// No matches at all.
    HuffmanOnly,
    /// Only matches with the previous byte.
    Rle,
    /// Only the fixed Huffman codes.
    Fixed,
}

impl Strategy {
    /// Every strategy, in zlib's order.
    pub const ALL: [Self; 5] = [Self::Default, Self::Filtered, Self::HuffmanOnly, Self::Rle, Self::Fixed];

    /// zlib's number for it.
    pub(super) const fn number(self) -> i32 {
        self as i32
    }
}

/// The settings of zstd for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zstd {
    /// Whether a message may refer to those before it.
    pub takeover: bool,
    /// The compression level: -7 to 22, without 0. Negative levels are the "fast" ones (zstd --fast=7 to 1).
    pub level: i32,
    /// log2 of how far back a message may refer, in bytes: 10 to 27, the largest that a decoder accepts by default (zstd.h,
    /// `ZSTD_WINDOWLOG_LIMIT_DEFAULT`).
    pub window_log: u8,
}

impl Default for Zstd {
    /// zstd's default level with a window of 128 KiB: our own choice, since its default window of 2 MiB is large for one of many
    /// connections.
    fn default() -> Self {
        Self {
            takeover: true,
            level: 3,
            window_log: 17,
        }
    }
}

impl Zstd {
    pub(super) fn check(&self) -> Result<(), CodecError> {
        // Level 0 is an alias of level 3 (zstd.h, `ZSTD_c_compressionLevel`), and one name is enough.
        if self.level == 0 {
            in_range("zstd level", 0, 1, 22)?;
        }
        in_range("zstd level", self.level, -7, 22)?;
        in_range("zstd window log", self.window_log.into(), 10, 27)
    }
}

/// The settings of brotli for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Brotli {
    /// Whether a message may refer to those before it.
    pub takeover: bool,
    /// The compression quality: 0 to 11.
    pub quality: u8,
    /// log2 of the window in bytes: 10 to 24. A message may refer back as far as the window less 16 B (RFC 7932 section 9.1).
    pub window_bits: u8,
}

impl Default for Brotli {
    /// A quality that servers use for dynamic responses, with a window of 256 KiB: our own choice, as for [`Zstd`].
    fn default() -> Self {
        Self {
            takeover: true,
            quality: 5,
            window_bits: 18,
        }
    }
}

impl Brotli {
    pub(super) fn check(&self) -> Result<(), CodecError> {
        in_range("brotli quality", self.quality.into(), 0, 11)?;
        in_range("brotli window bits", self.window_bits.into(), 10, 24)
    }
}

/// The settings of LZ4 for messages. Its window is 64 KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lz4 {
    /// Whether a message may refer to those before it.
    pub takeover: bool,
    /// The algorithm and its level.
    pub effort: Lz4Effort,
}

impl Default for Lz4 {
    /// LZ4's default, with takeover.
    fn default() -> Self {
        Self {
            takeover: true,
            effort: Lz4Effort::Fast { acceleration: 1 },
        }
    }
}

impl Lz4 {
    pub(super) fn check(&self) -> Result<(), CodecError> {
        match self.effort {
            Lz4Effort::Fast { acceleration } => in_range("LZ4 acceleration", acceleration.into(), 1, 65_535),
            Lz4Effort::High { level } => in_range("LZ4 level", level.into(), 2, 12),
        }
    }
}

/// LZ4's algorithm for finding repetition, and its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lz4Effort {
    /// One candidate per position, at fewer positions the higher the acceleration (lz4.h, `LZ4_compress_fast`).
    Fast {
        /// From 1 on.
        acceleration: u16,
    },
    /// All candidates along hash chains (lz4hc.h).
    High {
        /// 2 to 12.
        level: u8,
    },
}

fn in_range(setting: &'static str, found: i32, least: i32, most: i32) -> Result<(), CodecError> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(CodecError::Range {
        setting,
        found,
        least,
        most,
    })
}
