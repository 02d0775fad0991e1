//! Which operations are charged?

use super::messages;
use lastmile_payload::codec::CodecSpec;
use lastmile_payload::message_codec::MessageCodec;
use std::fmt;

/// Something that a host computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Running bytes through a codec.
    Encode(CodecSpec),
    /// Running them back.
    Decode(CodecSpec),
    /// Writing an object to a Java object stream.
    WriteObject,
    /// Reading one back.
    ReadObject,
    /// All that a server does for an HTTP/1.1 request besides making and sending a body.
    ServeRequest,
    /// All that a client does for one besides reading a body.
    FetchRequest,
    /// A server's part of a TLS 1.3 handshake that resumes nothing, with one Ed25519 certificate under a trusted root.
    AcceptTls,
    /// A client's part of it.
    ConnectTls,
    /// Sealing octets into TLS records, or opening them: the mean of both.
    ProtectRecords,
    /// Coding a message, or a fragment of one, on a connection that has sent some.
    EncodeMessage(MessageCodec),
    /// Turning it back.
    DecodeMessage(MessageCodec),
}

impl Operation {
    /// Every operation that each table has.
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

    /// The operations on messages that are measured, and that a table from before they were may lack.
    pub fn on_messages() -> impl Iterator<Item = Self> {
        let both = |codec| [Self::EncodeMessage(codec), Self::DecodeMessage(codec)];
        messages::sampled().into_iter().flat_map(both)
    }

    /// Whether it costs nothing whatever the machine: identity hands on what it is given.
    pub fn is_free(self) -> bool {
        match self {
            Self::Encode(codec) | Self::Decode(codec) => codec.is_identity(),
            Self::EncodeMessage(codec) | Self::DecodeMessage(codec) => codec == MessageCodec::Identity,
            _ => false,
        }
    }

    /// This operation as it is kept in a table: with 8 window bits deflate runs as with 9.
    pub(super) fn as_it_runs(self) -> Self {
        self.with_codec(messages::as_it_runs)
    }

    /// What stands in for an operation on messages without samples: its cost is the first one's, times what each of the others makes of
    /// that. None where nothing does.
    pub(super) fn put_together(self) -> Option<(Self, Vec<Self>)> {
        let (Self::EncodeMessage(codec) | Self::DecodeMessage(codec)) = self else {
            return None;
        };
        let (usual, alone) = messages::put_together(codec)?;
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
