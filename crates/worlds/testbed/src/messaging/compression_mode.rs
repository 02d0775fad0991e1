//! The compression of a connection's messages: by WebSocket or by the application.
//!
//! WebSocket compresses by permessage-deflate (RFC 7692), its only registered compression. Any other codec, and any dictionary, belongs to
//! the application, as in real programs that use one: it compresses a message, sends the result as an ordinary binary message, and
//! decompresses what it receives. Both ends are configured beforehand; nothing is negotiated.

use crate::failure::Failure;
use lastmile_codec::message::{Deflate, DeflateLibrary, Dictionary, MessageCodec, MessageDecoder, MessageEncoder};
use std::sync::Arc;

/// How the messages of a connection are compressed, in both directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompressionMode {
    /// No compression.
    Identity,
    /// By permessage-deflate, which both ends must agree on.
    PermessageDeflate {
        /// The settings of both ends.
        deflate: Deflate,
        /// The library that both ends use.
        library: DeflateLibrary,
    },
    /// By the application.
    ApplicationLayer {
        /// The codec and its settings.
        codec: MessageCodec,
        /// The dictionary that both ends have.
        dictionary: Option<Arc<Dictionary>>,
    },
}

impl CompressionMode {
    /// By `codec`: by WebSocket if it can, otherwise by the application.
    pub const fn from_codec(codec: MessageCodec) -> Self {
        match codec {
            MessageCodec::Identity => Self::Identity,
            MessageCodec::Deflate(deflate) => Self::PermessageDeflate {
                deflate,
                library: DeflateLibrary::Zlib,
            },
            MessageCodec::ZlibRs(deflate) => Self::PermessageDeflate {
                deflate,
                library: DeflateLibrary::ZlibRs,
            },
            codec => Self::ApplicationLayer {
                codec,
                dictionary: None,
            },
        }
    }

    /// By `codec` with a `dictionary` that both ends know beforehand, which permessage-deflate does not support.
    pub const fn with_dictionary(codec: MessageCodec, dictionary: Arc<Dictionary>) -> Self {
        Self::ApplicationLayer {
            codec,
            dictionary: Some(dictionary),
        }
    }

    /// The settings of permessage-deflate; none for other compression.
    pub const fn extension(&self) -> Option<(Deflate, DeflateLibrary)> {
        match self {
            Self::PermessageDeflate { deflate, library } => Some((*deflate, *library)),
            Self::Identity | Self::ApplicationLayer { .. } => None,
        }
    }

    /// Whether the application compresses messages.
    pub const fn is_application_layer(&self) -> bool {
        matches!(self, Self::ApplicationLayer { .. })
    }

    /// A new encoder of the application; none where it does not compress.
    pub(super) fn encoder(&self) -> Result<Option<MessageEncoder>, Failure> {
        self.of_application(MessageEncoder::new)
    }

    /// A new decoder of the application; none where it does not compress.
    pub(super) fn decoder(&self) -> Result<Option<MessageDecoder>, Failure> {
        self.of_application(MessageDecoder::new)
    }

    fn of_application<T, E: std::fmt::Display>(
        &self,
        new: impl Fn(&MessageCodec, Option<&Dictionary>) -> Result<T, E>,
    ) -> Result<Option<T>, Failure> {
        let Self::ApplicationLayer { codec, dictionary } = self else {
            return Ok(None);
        };
        let made = new(codec, dictionary.as_deref());
        made.map(Some)
            .map_err(|error| Failure::new(format!("{codec}: {error}")))
    }
}
