//! How does a stream of messages become fewer bytes: which codecs are there, with which settings, and what do they hold in memory?
//!
//! A [`MessageEncoder`] codes one direction of one connection, a message at a time, so that the receiver has each one whole as
//! soon as it came; a [`MessageDecoder`] turns them back. With *context takeover* a message may refer to those before it. Deflate
//! is that of permessage-deflate (RFC 7692); what else is here is no extension of WebSocket that anybody has registered, coded as
//! closely to it as each format allows.
//!
//! Not to be mixed up with [`crate::codec`]: those are HTTP's content codings, which code a whole body once, with a header and an
//! end, and forget it. Frames and negotiation are the business of whoever sends the messages.
//!
//! **Ratio** is the sum of coded messages by the sum of messages, without headers of frames.
//!
//! **One encoding for many receivers** takes a codec without takeover, as receivers do not share a history: where
//! [`MessageCodec::is_shareable`] holds, what one encoder makes of a message serves every decoder of the same codec and
//! dictionary, and one context's memory and time serve them all.

mod decoder;
mod dictionary;
mod encoder;
mod notation;
mod tally;
mod zlib;

pub use decoder::{DecodeError, MessageDecoder};
pub use dictionary::Dictionary;
pub use encoder::MessageEncoder;
pub use notation::ParseMessageCodecError;

use crate::codec::BackEnd;
use lastmile_units::Bytes;

/// A codec for messages with its settings, written `deflate:6/w15/m8`, `zlib-rs:1/w12/m5/no-takeover`.
///
/// Text may leave out what is as usual: `deflate` is zlib's own choice of everything, with takeover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageCodec {
    /// As they are.
    Identity,
    /// Deflate by stock zlib, which most servers have.
    Deflate(Deflate),
    /// Deflate by zlib-rs, which makes other choices at most levels, and whose hash has one size whatever the mem level.
    ZlibRs(Deflate),
}

impl MessageCodec {
    /// Whether a message may refer to those before it.
    pub const fn takeover(&self) -> bool {
        match self {
            Self::Identity => false,
            Self::Deflate(settings) | Self::ZlibRs(settings) => settings.takeover,
        }
    }

    /// Whether a message, coded once, can be sent on any number of connections: coding it depends on nothing that was sent before.
    pub const fn is_shareable(&self) -> bool {
        !self.takeover()
    }

    /// The same, with takeover or without; identity has none either way.
    #[must_use]
    pub const fn with_takeover(mut self, wanted: bool) -> Self {
        match &mut self {
            Self::Identity => {}
            Self::Deflate(settings) | Self::ZlibRs(settings) => settings.takeover = wanted,
        }
        self
    }

    /// What does the work; none for identity.
    pub fn back_end(&self) -> Option<BackEnd> {
        match self {
            Self::Identity => None,
            Self::Deflate(_) => Some(BackEnd {
                name: "zlib",
                version: zlib::version::<zlib::Stock>(),
            }),
            Self::ZlibRs(_) => Some(BackEnd {
                name: "zlib-rs",
                version: zlib::version::<zlib::ZlibRs>(),
            }),
        }
    }

    /// Whether every setting is within its range.
    fn check(&self) -> Result<(), CodecError> {
        match self {
            Self::Identity => Ok(()),
            Self::Deflate(settings) | Self::ZlibRs(settings) => settings.check(),
        }
    }
}

/// The settings of a deflate encoder. Of these a decoder needs takeover and window alone; the rest is the sender's own affair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deflate {
    /// Whether a message may refer to those before it.
    pub takeover: bool,
    /// How far back a message may refer.
    pub window_bits: WindowBits,
    /// How hard to look for repetition: 0 (only store) to 9.
    pub level: u8,
    /// How much memory for finding repetition and for a block's symbols: 1 to 9.
    pub mem_level: u8,
    /// What kind of data to expect.
    pub strategy: Strategy,
}

impl Default for Deflate {
    /// What zlib does where it is asked for nothing else (zlib.h, `deflateInit`), with takeover.
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
    /// What stock zlib 1.3 takes for these settings on a 64-bit machine: window and chains, hash and symbols (zconf.h: 2^(w+2) +
    /// 2^(m+9) B), and its state, of which zconf.h says only "a few kilobytes".
    pub const fn zlib_memory(&self) -> Bytes {
        let window = 1 << (self.window_bits.runs_as().get() + 2);
        let hash_and_symbols = 1 << (self.mem_level + 9);
        Bytes::new(window + hash_and_symbols + ZLIB_STATE)
    }

    fn check(&self) -> Result<(), CodecError> {
        in_range("level", self.level, 0, 9)?;
        in_range("mem level", self.mem_level, 1, 9)
    }
}

/// The size of `deflate_state` in zlib 1.3 on a 64-bit machine, as a test finds it.
const ZLIB_STATE: u64 = 5968;

/// log2 of a deflate window in octets: 8 to 15 (RFC 7692 section 7.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowBits(u8);

impl WindowBits {
    /// 256 B.
    pub const MIN: Self = Self(8);
    /// 32 KiB.
    pub const MAX: Self = Self(15);

    /// A window of 2^`bits` octets; none outside 8 to 15.
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

    /// The window that an encoder in fact gets: zlib makes raw deflate with 9 where 8 is asked for, and since 1.2.11 refuses to be
    /// asked (zlib.h, `deflateInit2`). It never refers further back than 2^9 - 262 octets then, which is within 256.
    #[must_use]
    pub const fn runs_as(self) -> Self {
        if self.0 == Self::MIN.0 { Self(9) } else { self }
    }
}

/// What kind of data zlib is to expect (zlib.h, `deflateInit2`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// Any.
    #[default]
    Default,
    /// Small values with a somewhat random distribution, such as the residues of a filter: short matches are left out.
    Filtered,
    /// No matches at all.
    HuffmanOnly,
    /// Matches with the octet before, alone.
    Rle,
    /// No Huffman codes made for the data.
    Fixed,
}

impl Strategy {
    /// Every strategy, in zlib's order.
    pub const ALL: [Self; 5] = [Self::Default, Self::Filtered, Self::HuffmanOnly, Self::Rle, Self::Fixed];

    /// zlib's number for it.
    const fn number(self) -> i32 {
        self as i32
    }
}

fn in_range(setting: &'static str, found: u8, least: u8, most: u8) -> Result<(), CodecError> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(CodecError::Range {
        setting,
        found: found.into(),
        least: least.into(),
        most: most.into(),
    })
}

/// A codec that cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// A setting is out of its range.
    #[error("the {setting} {found} is out of range; take one from {least} to {most}")]
    Range {
        /// Which.
        setting: &'static str,
        /// What it is set to.
        found: i64,
        /// The least it may be.
        least: i64,
        /// The most it may be.
        most: i64,
    },
    /// The library behind the codec refused.
    #[error("{library} refuses these settings with {status}; is there enough memory?")]
    Refused {
        /// The library with its version.
        library: String,
        /// What it returned.
        status: i32,
    },
}

impl CodecError {
    fn refused(library: &str, status: i32) -> Self {
        Self::Refused {
            library: library.to_owned(),
            status,
        }
    }
}

#[cfg(test)]
mod tests;
