//! The operations that a cost table has times of.

use super::message_cost_estimate;
use lastmile_codec::content::CodecSpec;
use lastmile_codec::message::MessageCodec;
use std::fmt;

/// An operation that costs a host CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Compressing bytes.
    Encode(CodecSpec),
    /// Decompressing bytes.
    Decode(CodecSpec),
    /// Writing an object to a Java object stream.
    WriteObject,
    /// Reading an object from one.
    ReadObject,
    /// Everything a server does for an HTTP/1.1 request except making and sending the body.
    ServeRequest,
    /// Everything a client does for a request except reading the body.
    FetchRequest,
    /// The server's part of a full TLS 1.3 handshake (no resumption), with one Ed25519 certificate under a trusted root.
    AcceptTls,
    /// The client's part of such a handshake.
    ConnectTls,
    /// Encrypting bytes into TLS records, or decrypting them: the mean of both.
    ProtectRecords,
    /// Compressing a message, or a fragment of one, on a connection that has sent messages before.
    EncodeMessage(MessageCodec),
    /// Decompressing it.
    DecodeMessage(MessageCodec),
}

impl Operation {
    /// The operations that every table must have.
    pub fn all() -> impl Iterator<Item = Self> {
        let codecs = || CodecSpec::all().filter(|codec| !codec.is_identity());
        let codings = codecs().map(Self::Encode).chain(codecs().map(Self::Decode));
        let others = [
            Self::WriteObject,
            Self::ReadObject,
            Self::ServeRequest,
            Self::FetchRequest,
            Self::AcceptTls,
            Self::ConnectTls,
            Self::ProtectRecords,
        ];
        codings.chain(others)
    }

    /// The measured operations on messages. A table of an older version may lack them.
    pub fn on_messages() -> impl Iterator<Item = Self> {
        let both = |codec| [Self::EncodeMessage(codec), Self::DecodeMessage(codec)];
        message_cost_estimate::measured_settings().into_iter().flat_map(both)
    }

    /// Whether it costs nothing on any machine, as identity does.
    pub fn is_free(self) -> bool {
        match self {
            Self::Encode(codec) | Self::Decode(codec) => codec.is_identity(),
            Self::EncodeMessage(codec) | Self::DecodeMessage(codec) => codec == MessageCodec::Identity,
            _ => false,
        }
    }

    /// The operation as it is named in a table: deflate treats 8 window bits as 9.
    pub(super) fn effective_setting(self) -> Self {
        self.with_codec(message_cost_estimate::effective_setting)
    }

    /// The operations from which that of an operation on messages without samples is extrapolated: its cost is the first one's,
    /// multiplied by the ratio of each of the others to the first. None where there is no extrapolation.
    pub(super) fn extrapolation(self) -> Option<(Self, Vec<Self>)> {
        let (Self::EncodeMessage(codec) | Self::DecodeMessage(codec)) = self else {
            return None;
        };
        let (usual, alone) = message_cost_estimate::extrapolation(codec)?;
        let likewise = |codec| self.with_codec(|_| codec);
        Some((likewise(usual), alone.into_iter().map(likewise).collect()))
    }

    fn with_codec(self, other: impl FnOnce(MessageCodec) -> MessageCodec) -> Self {
        match self {
            Self::EncodeMessage(codec) => Self::EncodeMessage(other(codec)),
            Self::DecodeMessage(codec) => Self::DecodeMessage(other(codec)),
            operation => operation,
        }
    }
}

impl fmt::Display for Operation {
    /// As a cost table names it: `encode gzip:6`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encode(codec) => write!(f, "encode {codec}"),
            Self::Decode(codec) => write!(f, "decode {codec}"),
            Self::WriteObject => f.write_str("write object"),
            Self::ReadObject => f.write_str("read object"),
            Self::ServeRequest => f.write_str("serve request"),
            Self::FetchRequest => f.write_str("fetch request"),
            Self::AcceptTls => f.write_str("accept tls"),
            Self::ConnectTls => f.write_str("connect tls"),
            Self::ProtectRecords => f.write_str("protect records"),
            Self::EncodeMessage(codec) => write!(f, "encode message {codec}"),
            Self::DecodeMessage(codec) => write!(f, "decode message {codec}"),
        }
    }
}
