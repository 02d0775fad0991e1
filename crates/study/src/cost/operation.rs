//! Which operations are charged?

use lastmile_payload::codec::CodecSpec;
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
}

impl Operation {
    /// Every operation that has a cost.
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

    /// Whether it costs nothing whatever the machine: identity hands on what it is given.
    pub fn is_free(self) -> bool {
        matches!(self, Self::Encode(codec) | Self::Decode(codec) if codec.is_identity())
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
        }
    }
}
