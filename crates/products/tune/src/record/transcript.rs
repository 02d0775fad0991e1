//! The transcript that was compressed: a recorded stream of messages in each direction.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A recorded stream of messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Transcript {
    /// The file, as it was named.
    pub source: String,
    /// Its format.
    pub format: TranscriptFormat,
    /// Messages in it, both directions.
    pub messages: u64,
    /// Their payload bytes.
    pub bytes: u64,
    /// How many connections carried them; 1 where the source does not say.
    pub connections: u64,
    /// From the first message to the last; none where the source gives no times.
    pub duration_seconds: Option<f64>,
    /// What was assumed or left out while reading it.
    pub notes: Vec<String>,
}

/// The format of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptFormat {
    /// One message per line.
    Text,
    /// One object per line, with direction, time, opcode, connection.
    Jsonl,
    /// Each message after its length in four bytes, big-endian.
    Binary,
    /// An HTTP archive with `_webSocketMessages`, saved by a browser.
    Har,
    /// A packet capture, pcap or pcapng.
    Pcap,
}

impl TranscriptFormat {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Jsonl => "jsonl",
            Self::Binary => "binary",
            Self::Har => "har",
            Self::Pcap => "pcap",
        }
    }
}

/// The direction of messages, seen from the end that recorded them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Sent by that end; all messages, where the source does not say.
    Sent,
    /// Received by that end.
    Received,
}

impl Direction {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
        }
    }
}

/// The messages of one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Stream {
    /// The direction.
    pub direction: Direction,
    /// How many messages.
    pub messages: u64,
    /// Messages whose opcode says text; the rest are binary.
    pub text_messages: u64,
    /// Messages without payload.
    pub empty_messages: u64,
    /// Payload bytes.
    pub bytes: u64,
    /// The shortest message.
    pub length_min_bytes: u64,
    /// The median length; the lower of the two middle ones of an even number.
    pub length_median_bytes: u64,
    /// The 95th percentile of the length (nearest rank).
    pub length_p95_bytes: u64,
    /// The longest message.
    pub length_max_bytes: u64,
    /// Messages that went to another connection within a second of the first; 0 where the source gives no times.
    pub copied_messages: u64,
    /// Their payload bytes.
    pub copied_bytes: u64,
    /// How many connections a message goes to, on average over distinct messages, as recorded or stated; none where each goes to one.
    pub receivers: Option<f64>,
    /// How many payload bytes the points without `exact` rest on; none where every point is exact.
    pub sampled_bytes: Option<u64>,
    /// How many different compressed streams the points have; points proven to have equal output were compressed once.
    pub distinct_streams: Option<u64>,
}
