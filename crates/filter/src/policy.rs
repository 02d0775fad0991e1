//! Which codings are offered, for which responses, and how are they streamed?

use crate::media_types::MediaTypes;
use lastmile_payload::codec::{CodecSpec, Coding};
use lastmile_units::Bytes;

/// What a server settles before any request comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The codings on offer, each with its level; where a client weighs two alike, the earlier is used. `identity` is always on
    /// offer and comes last, so naming it here changes nothing, and of one coding at two levels the first counts.
    pub offered: Vec<CodecSpec>,
    /// Content shorter than this is not coded, unless the client refuses it uncoded. Content of unknown length is coded.
    pub minimum_size: Bytes,
    /// Which media types are coded.
    pub media_types: MediaTypes,
    /// When coded octets must leave the codec.
    pub flush: Flush,
    /// Whether the head waits for the content.
    pub buffering: Buffering,
}

/// When coded octets must leave the codec. Event streams (`text/event-stream`) are always flushed after each chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// When the codec has a block together, and at the end: the fewest octets.
    AtEnd,
    /// After each chunk of the handler: a client can decode every chunk when it comes. Costs some octets a chunk.
    EachChunk,
}

/// Whether the head waits for the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffering {
    /// Content leaves as it is coded; the coded length is not known beforehand.
    Stream,
    /// Head and content leave together when the content is complete, with its `Content-Length`: uncoded content too, so that
    /// what buffering does can be told apart from what coding does. The whole content is held in memory, however long. Event
    /// streams are never held, and neither are responses that are not negotiated (images, 206, `no-transform`).
    WholeResponse,
}

impl Default for Policy {
    /// zstd, brotli and gzip at levels for coding on the fly, streamed.
    fn default() -> Self {
        Self {
            // Our own choice, for a server that codes everything on the fly. Of 340 kB of JSON, zstd:3 makes 69 kB in 1.1 ms, br:5
            // 64 kB in 8.2 ms and gzip:6 66 kB in 4.0 ms (tower, zlib-rs): zstd comes first as the cheapest, brotli before
            // gzip as the smallest. Below 40 kbit / 7.1 ms, or 5.6 Mbit/s, brotli first would be quicker. `deflate` is left out,
            // since there are clients that take it for the raw format.
            offered: [(Coding::Zstd, 3), (Coding::Brotli, 5), (Coding::Gzip, 6)]
                .map(|(coding, level)| CodecSpec::new(coding, level).expect("these levels exist"))
                .to_vec(),
            // Our own choice: below this, what coding adds to head and content is of the order of what it saves.
            minimum_size: Bytes::new(256),
            media_types: MediaTypes::default(),
            flush: Flush::AtEnd,
            buffering: Buffering::Stream,
        }
    }
}
