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
//! A [`Policy`] decides, message by message, what is coded at all; without it, all is.
//!
//! **Ratio** is the sum of coded messages by the sum of messages, without headers of frames.
//!
//! **One encoding for many receivers** takes a codec without takeover, as receivers do not share a history: where
//! [`MessageCodec::is_shareable`] holds, what one encoder makes of a message serves every decoder of the same codec and
//! dictionary, and one context's memory and time serve them all.

mod brotli;
mod decoder;
mod dictionary;
mod encoder;
mod lz4;
mod notation;
mod policy;
mod settings;
mod tally;
mod zlib;
mod zstd;

pub use decoder::{DecodeError, MessageDecoder};
pub use dictionary::{Dictionary, TrainError};
pub use encoder::MessageEncoder;
pub use notation::ParseMessageCodecError;
pub use policy::{Policy, PolicyEncoder, Treatment};
pub use settings::{Brotli, Deflate, DeflateLibrary, Lz4, Lz4Effort, Strategy, WindowBits, Zstd};
pub(crate) use zlib::{BlockEncoder, BlockEnd};

use crate::codec::{self, BackEnd, Coding};

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
    /// zstd.
    Zstd(Zstd),
    /// Brotli.
    Brotli(Brotli),
    /// LZ4.
    Lz4(Lz4),
}

impl MessageCodec {
    /// Whether a message may refer to those before it.
    pub const fn takeover(&self) -> bool {
        match self {
            Self::Identity => false,
            Self::Deflate(settings) | Self::ZlibRs(settings) => settings.takeover,
            Self::Zstd(settings) => settings.takeover,
            Self::Brotli(settings) => settings.takeover,
            Self::Lz4(settings) => settings.takeover,
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
            Self::Zstd(settings) => settings.takeover = wanted,
            Self::Brotli(settings) => settings.takeover = wanted,
            Self::Lz4(settings) => settings.takeover = wanted,
        }
        self
    }

    /// What does the work; none for identity.
    pub fn back_end(&self) -> Option<BackEnd> {
        let (name, version) = match self {
            Self::Identity => return None,
            Self::Deflate(_) => ("zlib", zlib::version::<zlib::Stock>()),
            Self::ZlibRs(_) => ("zlib-rs", zlib::version::<zlib::ZlibRs>()),
            Self::Zstd(_) => return codec::back_end(Coding::Zstd),
            Self::Brotli(_) => return codec::back_end(Coding::Brotli),
            Self::Lz4(_) => ("lz4", lz4::version()),
        };
        Some(BackEnd { name, version })
    }

    /// Whether every setting is within its range.
    fn check(&self) -> Result<(), CodecError> {
        match self {
            Self::Identity => Ok(()),
            Self::Deflate(settings) | Self::ZlibRs(settings) => settings.check(),
            Self::Zstd(settings) => settings.check(),
            Self::Brotli(settings) => settings.check(),
            Self::Lz4(settings) => settings.check(),
        }
    }
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
        found: i32,
        /// The least it may be.
        least: i32,
        /// The most it may be.
        most: i32,
    },
    /// The library behind the codec refused.
    #[error("{library} refuses these settings, or this dictionary: {problem}; try others, or fewer connections")]
    Refused {
        /// The library with its version.
        library: String,
        /// What it said.
        problem: String,
    },
    /// A context that is to be given back belongs to a stream that begins once.
    #[error(
        "{codec} is one stream, which cannot begin anew without its receiver being told; take no-takeover, deflate or lz4"
    )]
    OneStream {
        /// The codec.
        codec: MessageCodec,
    },
    /// There is no memory left.
    #[error("there is no memory for one more context; try fewer connections")]
    Memory,
}

#[cfg(test)]
mod tests;
