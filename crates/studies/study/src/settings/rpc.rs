//! The settings of calls, one by one, and `codec`, which they share with responses.

use super::choice::{choice, serialize_as_text};
use lastmile_codec::content::CodecSpec;
use lastmile_codec::message::MessageCodec;
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::str::FromStr;

choice! {
    /// The values that calls carry.
    Payload {
        /// Lines of English prose.
        Text = "text",
        /// Entries of a bibliography: structures of strings and short numbers.
        Bibliography = "bibliography",
        /// Prices with a number each, as a feed sends them.
        Ticks = "ticks",
    }
}

choice! {
    /// How values become bytes.
    Encoding {
        /// Ice's encoding 1.1.
        Ice = "ice",
        /// CDR, the encoding of CORBA.
        Cdr = "cdr",
        /// JSON, objects with the names of their fields.
        Json = "json",
        /// MessagePack, maps with the names of their fields.
        MessagePack = "messagepack",
        /// CBOR, maps with the names of their fields.
        Cbor = "cbor",
        /// Protocol Buffers.
        Protobuf = "protobuf",
        /// Avro's binary encoding.
        Avro = "avro",
        /// postcard.
        Postcard = "postcard",
        /// XML, an element for each value.
        Xml = "xml",
        /// FlatBuffers.
        FlatBuffers = "flatbuffers",
        /// Cap'n Proto.
        CapnProto = "capnp",
        /// An object stream of Java for each call, as Java RMI has.
        Java = "java",
    }
}

choice! {
    /// The protocol of calls.
    Protocol {
        /// The Ice protocol 1.0.
        Ice = "ice",
        /// GIOP 1.2, the protocol of CORBA.
        Giop = "giop",
        /// Frames of our own: a length before each call.
        Raw = "raw",
        /// A request of HTTP/1.1 for each message, with such a frame as its body.
        Http1 = "http/1.1",
        /// A request of HTTP/2 for each message, with such a frame as its body.
        Http2 = "http/2",
    }
}

choice! {
    /// Whether a call waits for a reply.
    Call {
        /// The next call waits for the reply.
        TwoWay = "two-way",
        /// Calls wait for nothing, and their replies come later.
        Pipelined = "pipelined",
        /// There is no reply.
        OneWay = "one-way",
    }
}

choice! {
    /// The way of calls to the client.
    Route {
        /// Each program has a connection to the client.
        Direct = "direct",
        /// A router has the only connection to the client, and gathers the calls of all programs.
        Router = "router",
    }
}

/// How calls are compressed: bzip2 as in Ice, or any codec for messages.
///
/// Written `bzip2`, `bzip2:9` or as a codec for messages (`zstd:3/w17`), and after it `/if-smaller`, where a message that would become longer
/// is sent as it is, and `/dictionary`, where both ends know one that was trained on other values of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RpcCodec {
    /// The codec.
    pub kind: RpcCodecKind,
    /// Whether a message that would become longer is sent as it is.
    pub if_smaller: bool,
    /// Whether both ends know a dictionary.
    pub dictionary: bool,
}

/// The codec of a [`RpcCodec`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RpcCodecKind {
    /// bzip2 at a level from 1 to 9: what the Ice protocol has.
    Bzip2(u32),
    /// A codec for messages. With context takeover it compresses the connection as a stream.
    Message(MessageCodec),
}

const IF_SMALLER: &str = "/if-smaller";
const DICTIONARY: &str = "/dictionary";

impl FromStr for RpcCodec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (text, dictionary) = text.strip_suffix(DICTIONARY).map_or((text, false), |rest| (rest, true));
        let (text, if_smaller) = text.strip_suffix(IF_SMALLER).map_or((text, false), |rest| (rest, true));
        let kind = match text.split_once(':') {
            Some(("bzip2", level)) => {
                let level = level.parse().ok().filter(|level| (1..=9).contains(level));
                RpcCodecKind::Bzip2(level.ok_or_else(|| format!("{text:?}: bzip2 has the levels 1 to 9"))?)
            }
            None if text == "bzip2" => RpcCodecKind::Bzip2(1),
            _ => RpcCodecKind::Message(text.parse::<MessageCodec>().map_err(|error| error.to_string())?),
        };
        match kind {
            RpcCodecKind::Bzip2(_) if dictionary => Err("bzip2 has no dictionaries; use zstd or deflate".to_owned()),
            RpcCodecKind::Message(codec) if if_smaller && codec.takeover() => Err(format!(
                "{text:?} has a context, to which every message belongs; use {text}/no-takeover{IF_SMALLER}"
            )),
            kind => Ok(Self {
                kind,
                if_smaller,
                dictionary,
            }),
        }
    }
}

impl fmt::Display for RpcCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            RpcCodecKind::Bzip2(1) => f.write_str("bzip2")?,
            RpcCodecKind::Bzip2(level) => write!(f, "bzip2:{level}")?,
            RpcCodecKind::Message(codec) => codec.fmt(f)?,
        }
        f.write_str(if self.if_smaller { IF_SMALLER } else { "" })?;
        f.write_str(if self.dictionary { DICTIONARY } else { "" })
    }
}

/// The setting `codec`: a content coding of responses, or the compression of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// A content coding, such as `gzip:6`; `identity` is one, too.
    Content(CodecSpec),
    /// What only calls have.
    Rpc(RpcCodec),
}

impl Codec {
    /// The content coding.
    ///
    /// # Errors
    /// Where it is one that only calls have: a message for the author of the study.
    pub fn content(self) -> Result<CodecSpec, String> {
        match self {
            Self::Content(codec) => Ok(codec),
            Self::Rpc(codec) => Err(format!(
                "codec {codec} is no content coding of HTTP; use one such as gzip:6, or delivery = \"rpc\""
            )),
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Content(codec) => codec.fmt(f),
            Self::Rpc(codec) => codec.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Codec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        match (text.parse::<CodecSpec>(), text.parse::<RpcCodec>()) {
            (Ok(codec), _) => Ok(Self::Content(codec)),
            (_, Ok(codec)) => Ok(Self::Rpc(codec)),
            (Err(of_content), Err(of_calls)) => {
                // Who writes bzip2 or a `/` means calls.
                let means_calls = text.starts_with("bzip2") || text.contains('/');
                let problem = if means_calls { of_calls } else { of_content.to_string() };
                Err(serde::de::Error::custom(problem))
            }
        }
    }
}

serialize_as_text!(Codec);

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    #[test]
    fn every_value_prints_as_it_is_written() {
        let written = "batch = 10\nbatch_time = '20 ms'\ncall = 'one-way'\nencoding = 'cdr'\npayload = 'text'\nprotocol = 'giop'\nroute = 'router'";
        let levels = toml::from_str::<Settings>(written).unwrap().levels();
        let printed: Vec<_> = levels.values().map(String::as_str).collect();
        assert_eq!(printed, ["10", "20 ms", "one-way", "cdr", "text", "giop", "router"]);
        for codec in [
            "identity",
            "gzip:6",
            "bzip2",
            "bzip2:9/if-smaller",
            "zstd:3/w17/dictionary",
            "deflate:6/w15/m8/no-takeover/if-smaller",
        ] {
            let settings = toml::from_str::<Settings>(&format!("codec = '{codec}'")).unwrap();
            assert_eq!(settings.levels()["codec"], codec);
        }
    }

    #[test]
    fn a_wrong_codec_is_refused_with_what_would_be_right() {
        let refusal = |codec: &str| {
            let text = format!("codec = '{codec}'");
            toml::from_str::<Settings>(&text).unwrap_err().to_string()
        };
        assert!(refusal("bzip2:10").contains("bzip2 has the levels 1 to 9"));
        assert!(refusal("bzip2/dictionary").contains("bzip2 has no dictionaries"));
        assert!(refusal("zstd:3/w17/if-smaller").contains("/no-takeover/if-smaller"));
    }
}
