//! Compresses streams of messages: the codecs, their settings, and the memory of their contexts.
//!
//! A [`MessageEncoder`] compresses one direction of one connection, a message at a time, so that the receiver can read each one
//! as soon as it arrives; a [`MessageDecoder`] decompresses them. With *context takeover* a message may refer to those before it.
//! Deflate is that of permessage-deflate (RFC 7692); the other codecs are not registered as WebSocket extensions, and follow it as
//! closely as each format allows.
//!
//! Not to be confused with [`crate::content`], HTTP's content codings, which compress a whole body once, with a header and an end,
//! and keep no context. Frames and negotiation are left to the sender of the messages.
//!
//! A [`Policy`] decides which messages are compressed; without one, all are.
//!
//! The **compression ratio** is the size of all compressed messages divided by the size of all messages, without frame headers.
//!
//! **Compressing once per broadcast** needs a codec without takeover, as receivers do not share a history: where
//! [`MessageCodec::is_shareable`] holds, every decoder with the same codec and dictionary can read the output of one encoder, so
//! that one context's memory and CPU time serve all receivers.

mod back_end;
mod brotli;
mod counting_allocator;
mod decoder;
mod dictionary;
mod encoder;
mod kind;
mod lz4;
mod notation;
mod sender_policy;
mod settings;
mod zlib;
mod zstd;

pub use decoder::{DecodeError, MessageDecoder};
pub use dictionary::{Dictionary, TrainError};
pub use encoder::MessageEncoder;
pub use kind::Kind;
pub use notation::ParseMessageCodecError;
pub use sender_policy::{Policy, PolicyEncoder, Treatment};
pub use settings::{Brotli, Deflate, DeflateLibrary, Lz4, Lz4Effort, Strategy, WindowBits, Zstd};
pub use zlib::{BlockEncoder, BlockEnd, GzipEncoder};

use crate::content::{self, BackEnd, Coding};

/// A codec for messages with its settings, written `deflate:6/w15/m8`, `zlib-rs:1/w12/m5/no-takeover`.
///
/// Defaults may be left out: `deflate` has zlib's default for every setting, with takeover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageCodec {
    /// No compression.
    Identity,
    /// Deflate by stock zlib, which most servers use.
    Deflate(Deflate),
    /// Deflate by zlib-rs, which finds other matches at most levels, and whose hash table has the same size at every mem level.
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

    /// Whether a message can be compressed once and sent on any number of connections: its compression does not depend on earlier
    /// messages.
    pub const fn is_shareable(&self) -> bool {
        !self.takeover()
    }

    /// The same codec with or without takeover; identity never has it.
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

    /// The library behind the codec; none for identity.
    pub fn back_end(&self) -> Option<BackEnd> {
        let (name, version) = match self {
            Self::Identity => return None,
            Self::Deflate(_) => ("zlib", zlib::version::<zlib::Stock>()),
            Self::ZlibRs(_) => ("zlib-rs", zlib::version::<zlib::ZlibRs>()),
            Self::Zstd(_) => return content::back_end(Coding::Zstd),
            Self::Brotli(_) => return content::back_end(Coding::Brotli),
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

/// Why a codec cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// A setting is out of its range.
    #[error("the {setting} {found} is out of range; use {least} to {most}")]
    Range {
        /// The name of the setting.
        setting: &'static str,
        /// Its value.
        found: i32,
        /// The smallest value allowed.
        least: i32,
        /// The largest value allowed.
        most: i32,
    },
    /// The library behind the codec rejected the settings or the dictionary.
    #[error("{library} rejects these settings or this dictionary: {problem}; try others, or fewer connections")]
    Refused {
        /// The library with its version.
        library: String,
        /// The library's message.
        problem: String,
    },
    /// The policy resets the context of a codec whose stream cannot be restarted.
    #[error(
        "{codec} is one stream, which cannot restart unless its receiver is notified; use no-takeover, deflate or lz4"
    )]
    OneStream {
        /// The codec.
        codec: MessageCodec,
    },
    /// Out of memory.
    #[error("there is no memory for another compression context; try fewer connections")]
    Memory,
}

#[cfg(test)]
mod tests;
