//! What is a peer told? Its environment, and nothing of the caller's besides.

use super::spec::PeerSpec;
use lastmile_payload::codec::CodecSpec;
use lastmile_payload::message_codec::MessageCodec;
use lastmile_units::Bytes;
use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::process::Command;

/// What a peer is told, each by an environment variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// `LASTMILE_HOST`: the one address that a server binds, or a client connects to.
    pub host: Ipv4Addr,
    /// `LASTMILE_PORT`: its TCP port, 1024 or above: not every server keeps the right to those below.
    pub port: u16,
    /// `LASTMILE_OPERATION`: what is done, one of [`Program::operations`](super::Program::operations).
    pub operation: String,
    /// `LASTMILE_STATE`: an empty folder of the peer's own, absolute, for all that it writes.
    pub state: PathBuf,
    /// `LASTMILE_DATA`: the folder of the files that are served or read, absolute.
    pub data: PathBuf,
    /// `LASTMILE_COMPRESSION`: `identity`, or a content coding with its level, as `gzip:6`.
    pub compression: CodecSpec,
    /// `LASTMILE_MESSAGE_COMPRESSION`: `identity`, or what permessage-deflate is set to, as `deflate:6/w15/m8`.
    pub message_compression: MessageCodec,
    /// `LASTMILE_MEDIA_TYPE`: the media type of every file, the one that is compressed.
    pub media_type: String,
    /// `LASTMILE_MINIMUM_SIZE`, in octets: responses below it are not compressed.
    pub minimum_size: Bytes,
}

impl Inputs {
    /// `operation` on the files of `data`, with a `state` folder to write to; at port 0 of the loopback, uncompressed, as
    /// `application/octet-stream`, from the first octet on, where nothing else is said.
    pub fn new(operation: &str, data: impl Into<PathBuf>, state: impl Into<PathBuf>) -> Self {
        Self {
            host: Ipv4Addr::LOCALHOST,
            port: 0,
            operation: operation.to_owned(),
            state: state.into(),
            data: data.into(),
            compression: CodecSpec::IDENTITY,
            message_compression: MessageCodec::Identity,
            media_type: "application/octet-stream".to_owned(),
            minimum_size: Bytes::ZERO,
        }
    }

    /// Where the server is.
    pub const fn address(&self) -> SocketAddrV4 {
        SocketAddrV4::new(self.host, self.port)
    }

    /// A command with this as its environment, in the peer's folder.
    pub(super) fn command(&self, peer: &PeerSpec, words: &[String]) -> Command {
        let mut command = peer.command(words);
        let own: [(&str, OsString); 9] = [
            ("LASTMILE_HOST", self.host.to_string().into()),
            ("LASTMILE_PORT", self.port.to_string().into()),
            ("LASTMILE_OPERATION", self.operation.clone().into()),
            ("LASTMILE_STATE", self.state.clone().into()),
            ("LASTMILE_DATA", self.data.clone().into()),
            ("LASTMILE_COMPRESSION", self.compression.to_string().into()),
            (
                "LASTMILE_MESSAGE_COMPRESSION",
                self.message_compression.to_string().into(),
            ),
            ("LASTMILE_MEDIA_TYPE", self.media_type.clone().into()),
            ("LASTMILE_MINIMUM_SIZE", self.minimum_size.get().to_string().into()),
        ];
        command.envs(own).env("HOME", &self.state).env("TMPDIR", &self.state);
        command
    }
}
