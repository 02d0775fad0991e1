//! What can be measured? The catalogue of figures: each one's name, unit, and what one sample of it is.
//!
//! How a figure is measured is the experiment's business; how its samples are summed up is `statistics`'.

use crate::nearest::suggestion;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A figure that an experiment can report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// As written in studies and in JSON: `transfer_time`.
    pub name: &'static str,
    /// As written on an axis.
    pub title: &'static str,
    /// Its SI base unit: `s`, `B`, `bit/s`, `1`, `1/s`.
    pub unit: &'static str,
    /// What one sample is: `run`, `request`.
    pub per: &'static str,
    /// Which direction is an improvement.
    pub better: Better,
}

impl Figure {
    /// The unit of its axis, on which `1` is a share, in per cent: a count has none.
    pub fn unit_of_axis(&self) -> &'static str {
        if self.unit == "1" && !self.name.ends_with("_ratio") {
            ""
        } else {
            self.unit
        }
    }
}

/// Which direction of a figure is an improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// A time, a size, a loss.
    Lower,
    /// A rate.
    Higher,
}

/// A name that no figure has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown figure {name:?}{suggestion}")]
pub struct UnknownFigure {
    name: String,
    suggestion: String,
}

/// The figure of that name.
///
/// # Errors
/// When there is none; the message suggests the nearest.
pub fn find(name: &str) -> Result<&'static Figure, UnknownFigure> {
    ALL.iter()
        .copied()
        .find(|figure| figure.name == name)
        .ok_or_else(|| UnknownFigure {
            name: name.to_owned(),
            suggestion: suggestion(name, ALL.iter().map(|figure| figure.name)),
        })
}

/// A figure, as a study names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FigureName(pub &'static Figure);

impl Serialize for FigureName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for FigureName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        find(&String::deserialize(from)?)
            .map(FigureName)
            .map_err(serde::de::Error::custom)
    }
}

/// Declares each figure as a constant, and the list of them all.
macro_rules! catalogue {
    ($($(#[$about:meta])+ $constant:ident = $name:literal, $title:literal, $unit:literal per $per:literal, $better:ident;)+) => {
        $($(#[$about])+
        pub const $constant: &Figure = &Figure {
            name: $name, title: $title, unit: $unit, per: $per, better: Better::$better,
        };)+

        /// Every figure, in the order a table shows them.
        pub const ALL: &[&Figure] = &[$($constant),+];
    };
}

catalogue! {
    /// Octets of the responses' bodies as carried: after content coding, without headers.
    RESPONSE_BYTES = "response_bytes", "Response size", "B" per "run", Lower;
    /// Octets that the link carried towards the client: every header and retransmission counts.
    LINK_BYTES = "link_bytes", "Bytes on the link", "B" per "run", Lower;
    /// Octets that the link carried from the client, likewise.
    LINK_BYTES_UP = "link_bytes_up", "Bytes on the link from the client", "B" per "run", Lower;
    /// From opening the connection to the last object decoded.
    EXTRACT_TIME = "extract_time", "Extracting time", "s" per "run", Lower;
    /// Objects decoded, divided by the extracting time.
    TRANSFER_RATE = "transfer_rate", "Transfer rate, objects a second", "1/s" per "run", Higher;
    /// From the first SYN to the connection being open at the client: TCP's, and WebSocket's over it. Of several, the longest.
    HANDSHAKE_TIME = "handshake_time", "Handshake time", "s" per "run", Lower;
    /// From opening the connection to the first octet read by the client.
    FIRST_BYTE_TIME = "first_byte_time", "Time to the first byte", "s" per "run", Lower;
    /// From opening the connection to the last octet read by the client; of messages, to the last one complete, whichever way it goes.
    TRANSFER_TIME = "transfer_time", "Transfer time", "s" per "run", Lower;
    /// From a request being due to its response being complete.
    RESPONSE_TIME = "response_time", "Response time", "s" per "request", Lower;
    /// From a message being due to its being complete, and decompressed, at the receiving program.
    DELIVERY_TIME = "delivery_time", "Delivery time", "s" per "message", Lower;
    /// From the first request being due to the last response being complete.
    PAGE_TIME = "page_time", "Page time", "s" per "run", Lower;
    /// Octets delivered to the client's program a second, from opening the connection to the last octet.
    GOODPUT = "goodput", "Goodput", "bit/s" per "run", Higher;
    /// Segments that TCP sent again, both directions.
    RETRANSMISSIONS = "retransmissions", "Retransmissions", "1" per "run", Lower;
    /// Frames that a full queue of the link refused, both directions.
    QUEUE_DROPS = "queue_drops", "Queue drops", "1" per "run", Lower;
    /// Frames that the link lost by chance, both directions.
    LINK_LOSSES = "link_losses", "Frames lost on the link", "1" per "run", Lower;
    /// CPU time of the server's program: what it was charged in virtual time, or what all its processes took of real cores.
    SERVER_CPU_TIME = "server_cpu_time", "CPU time of the server", "s" per "run", Lower;
    /// CPU time of the client's program, likewise.
    CLIENT_CPU_TIME = "client_cpu_time", "CPU time of the client", "s" per "run", Lower;
    /// Messages of the transcript.
    MESSAGES = "messages", "Messages", "1" per "run", Higher;
    /// Octets of the messages of the transcript.
    MESSAGE_BYTES = "message_bytes", "Size of the messages", "B" per "run", Lower;
    /// Octets of the messages as carried: after compression, without headers of frames.
    COMPRESSED_BYTES = "compressed_bytes", "Size of the compressed messages", "B" per "run", Lower;
    /// Octets of the messages as carried, divided by those of the messages; headers of frames count on neither side.
    COMPRESSION_RATIO = "compression_ratio", "Compression ratio", "1" per "run", Lower;
    /// The same of the text messages alone, where there are others beside them.
    TEXT_COMPRESSION_RATIO = "text_compression_ratio", "Compression ratio of text", "1" per "run", Lower;
    /// What the compressor of one direction of a connection takes from its allocator and keeps.
    MEMORY_BYTES = "memory_bytes", "Memory of a compressor", "B" per "connection", Lower;
    /// What the decompressor of one direction of a connection takes, likewise.
    DECODER_MEMORY_BYTES = "decoder_memory_bytes", "Memory of a decompressor", "B" per "connection", Lower;
    /// CPU time of compressing a message.
    COMPRESS_TIME = "compress_time", "Time to compress a message", "s" per "message", Lower;
    /// CPU time of decompressing a message.
    DECOMPRESS_TIME = "decompress_time", "Time to decompress a message", "s" per "message", Lower;
    /// CPU time of compressing every message of the transcript once.
    PASS_TIME = "pass_time", "Time to compress the transcript", "s" per "run", Lower;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_figure_is_met_with_the_nearest() {
        assert_eq!(
            find("transfer_tim").unwrap_err().to_string(),
            "unknown figure \"transfer_tim\"; did you mean \"transfer_time\"?"
        );
    }

    #[test]
    fn an_axis_of_counts_is_not_in_per_cent() {
        let unit = |name| find(name).unwrap().unit_of_axis();
        assert_eq!(["queue_drops", "messages"].map(unit), ["", ""]);
        assert_eq!(["compression_ratio", "transfer_time"].map(unit), ["1", "s"]);
    }

    #[test]
    fn every_name_finds_its_own_figure_and_every_unit_is_a_base_unit() {
        for figure in ALL {
            assert_eq!(
                find(figure.name),
                Ok(*figure),
                "two figures share the name {}",
                figure.name
            );
            assert!(
                ["s", "B", "bit/s", "1", "1/s"].contains(&figure.unit),
                "{}",
                figure.unit
            );
        }
    }
}
