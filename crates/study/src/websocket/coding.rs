//! Who codes the messages of a connection, and how?
//!
//! WebSocket itself where it can: permessage-deflate (RFC 7692) is its one registered compression. Any other codec, and any dictionary, is
//! the application's affair, as it is of programs that want one: it codes a message, sends what that makes as an ordinary binary message,
//! and decodes what it receives. Both ends are told beforehand; nothing is negotiated.

use crate::observation::Failure;
use lastmile_payload::message_codec::{
    Deflate, DeflateLibrary, Dictionary, MessageCodec, MessageDecoder, MessageEncoder,
};
use std::sync::Arc;

/// How the messages of a connection are coded, both ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Coding {
    /// They are not.
    Identity,
    /// By permessage-deflate, which both ends are to agree on.
    Extension { deflate: Deflate, library: DeflateLibrary },
    /// By the application.
    Application {
        codec: MessageCodec,
        dictionary: Option<Arc<Dictionary>>,
    },
}

impl Coding {
    /// By `codec`, whoever can.
    pub(crate) const fn of(codec: MessageCodec) -> Self {
        match codec {
            MessageCodec::Identity => Self::Identity,
            MessageCodec::Deflate(deflate) => Self::Extension {
                deflate,
                library: DeflateLibrary::Zlib,
            },
            MessageCodec::ZlibRs(deflate) => Self::Extension {
                deflate,
                library: DeflateLibrary::ZlibRs,
            },
            codec => Self::Application {
                codec,
                dictionary: None,
            },
        }
    }

    /// By `codec`, both ends knowing `dictionary` beforehand, of which permessage-deflate knows nothing.
    pub(crate) const fn with_dictionary(codec: MessageCodec, dictionary: Arc<Dictionary>) -> Self {
        Self::Application {
            codec,
            dictionary: Some(dictionary),
        }
    }

    /// permessage-deflate, where it is that.
    pub(crate) const fn extension(&self) -> Option<(Deflate, DeflateLibrary)> {
        match self {
            Self::Extension { deflate, library } => Some((*deflate, *library)),
            Self::Identity | Self::Application { .. } => None,
        }
    }

    /// Whether messages are coded before WebSocket is given them.
    pub(crate) const fn is_applications(&self) -> bool {
        matches!(self, Self::Application { .. })
    }

    /// What an application codes with, before its first message; none where it codes nothing.
    pub(super) fn encoder(&self) -> Result<Option<MessageEncoder>, Failure> {
        let Self::Application { codec, dictionary } = self else {
            return Ok(None);
        };
        let encoder = MessageEncoder::new(codec, dictionary.as_deref());
        encoder
            .map(Some)
            .map_err(|error| Failure::new(format!("{codec}: {error}")))
    }

    /// What it decodes with.
    pub(super) fn decoder(&self) -> Result<Option<MessageDecoder>, Failure> {
        let Self::Application { codec, dictionary } = self else {
            return Ok(None);
        };
        let decoder = MessageDecoder::new(codec, dictionary.as_deref());
        decoder
            .map(Some)
            .map_err(|error| Failure::new(format!("{codec}: {error}")))
    }
}
