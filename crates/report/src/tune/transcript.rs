//! What was compressed: a recorded stream of messages, each way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A recorded stream of messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transcript {
    /// The file, as it was named.
    pub source: String,
    /// What that is.
    pub format: TranscriptFormat,
    /// Messages in it, both directions.
    pub messages: u64,
    /// Their payload octets.
    pub bytes: u64,
    /// How many connections they were on; 1 where the source does not say.
    pub connections: u64,
    /// From the first message to the last; none where the source gives no times.
    pub duration_seconds: Option<f64>,
    /// What was assumed or left out in reading it.
    pub notes: Vec<String>,
}

/// What a transcript was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptFormat {
    /// One message a line.
    Text,
    /// One object a line, with direction, time, opcode, connection.
    Jsonl,
    /// Each message behind its length in four octets, the highest first.
    Binary,
    /// An HTTP archive with `_webSocketMessages`, saved by a browser.
    Har,
    /// A packet capture, pcap or pcapng.
    Pcap,
}

impl TranscriptFormat {
    /// As in JSON.
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

/// Which way messages went, seen from where they were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Out; where the source does not say, all were.
    Sent,
    /// In.
    Received,
}

impl Direction {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
        }
    }
}

/// What one side sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stream {
    /// Which way.
    pub direction: Direction,
    /// How many messages.
    pub messages: u64,
    /// Those of them whose opcode says text; the rest are binary.
    pub text_messages: u64,
    /// Those without payload.
    pub empty_messages: u64,
    /// Payload octets.
    pub bytes: u64,
    /// The shortest message.
    pub length_min_bytes: u64,
    /// The median length; the lower of the two middle ones of an even number.
    pub length_median_bytes: u64,
    /// Of messages in the order of their length, 95 % are no longer than this.
    pub length_p95_bytes: u64,
    /// The longest message.
    pub length_max_bytes: u64,
    /// Messages that went to one more connection within a second of going to another; 0 where the source gives no times.
    pub copied_messages: u64,
    /// Their payload octets.
    pub copied_bytes: u64,
    /// How many connections a message goes to, on average over different messages, as recorded or stated; none where each goes to one.
    pub receivers: Option<f64>,
    /// How many payload octets points without `exact` rest on; none where every point is exact.
    pub sampled_bytes: Option<u64>,
    /// How many different compressed streams the points have: those proven alike were compressed once.
    pub distinct_streams: Option<u64>,
}
