//! The record of `lastmile encode`: the bytes, time and computing of documents in every encoding, codec and batch size, and which to use.
//!
//! A *setting* is an encoding, a codec and a batch size. Codecs are written `none`, `gzip:6` (each batch alone), `stream zstd:3` (one
//! compressor for the whole connection), `dictionary zstd:3` (each batch alone, with a dictionary trained on other documents), and `ice bzip2`.

use lastmile_report::link_description::LinkDescription;
use lastmile_report::record::{Chart, Doubt, Figure, Finding};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `lastmile encode` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct EncodingComparison {
    /// `lastmile/encode/1`.
    #[cfg_attr(test, schemars(extend("const" = EncodingComparison::SCHEMA)))]
    pub schema: String,
    /// The version of lastmile.
    pub version: String,
    /// Where the documents are from.
    pub source: String,
    /// How many there are.
    pub documents: u64,
    /// Their size as JSON, as they stand in the file.
    pub json_bytes: u64,
    /// The rate at which messages were taken to arise, in messages a second.
    pub rate: f64,
    /// The root of every random choice.
    pub seed: u64,
    /// The machine on which CPU time was measured; none if it was not.
    pub cpu_machine: Option<String>,
    /// The schema of the documents, as a `.proto` file.
    pub inferred_schema: String,
    /// What to do first, in words.
    pub answer: String,
    /// Every setting, in the order of encodings, codecs and batch sizes.
    pub settings: Vec<EncodingSetting>,
    /// Encodings that cannot hold a document, with the reason.
    pub refusals: Vec<Refusal>,
    /// The effect on links, in the order of the request.
    pub links: Vec<EncodingDelivery>,
    /// What follows from the figures, in sentences.
    pub findings: Vec<Finding>,
    /// What is drawn.
    pub charts: Vec<Chart>,
    /// Doubts about the whole.
    pub doubts: Vec<Doubt>,
    /// Remarks on how the documents were read.
    pub notes: Vec<String>,
}

impl EncodingComparison {
    /// The name of this schema.
    pub const SCHEMA: &str = "lastmile/encode/1";
}

/// Documents in one encoding, codec and batch size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct EncodingSetting {
    /// `json`, `protobuf`, `flatbuffers` ...
    pub encoding: String,
    /// `none`, `gzip:6`, `stream zstd:3` ...
    pub codec: String,
    /// How many messages are sent together.
    pub batch: u64,
    /// How many batches there are.
    pub batches: u64,
    /// How many of them were compressed; the sizes of the others are estimated from these.
    pub batches_compressed: u64,
    /// The size of all batches, without the framing that carries them.
    pub bytes: u64,
    /// The same for each message.
    pub bytes_per_message: f64,
    /// CPU time to encode and compress a message, in seconds; none if it was not measured.
    pub cpu: Option<Figure>,
}

/// An encoding that cannot hold a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Refusal {
    /// The encoding.
    pub encoding: String,
    /// Where the first such document stands: `line 3`, in a JSON list `element 3`, in a file without lines `message 3`.
    pub location: String,
    /// Why.
    pub problem: String,
    /// How many documents it cannot hold.
    pub documents: u64,
}

/// The effect of settings on a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct EncodingDelivery {
    /// The link's formula.
    pub name: String,
    /// Its figures.
    pub description: LinkDescription,
    /// What to do there, in words.
    pub summary: String,
    /// Below about how many messages a second nothing arrives sooner than plain JSON; none where something does at the rate that was asked for.
    pub rate_of_gain_per_second: Option<f64>,
    /// Each setting in each framing that was tried.
    pub outcomes: Vec<EncodingOutcome>,
}

/// A setting on a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct EncodingOutcome {
    /// The encoding.
    pub encoding: String,
    /// The codec.
    pub codec: String,
    /// How many messages are sent together.
    pub batch: u64,
    /// `length-prefix`, `http/1.1` or `http/2`.
    pub framing: String,
    /// From when a batch is full until its last byte has arrived, in seconds, while messages arise at the rate; none where they do not fit the link.
    pub delivery_time: Option<Figure>,
    /// What the link carried for each message, with the headers of every layer, in bytes.
    pub link_bytes_per_message: f64,
    /// The share of the link's rate that the messages take at the rate at which they arise; above 1 they do not fit. None where the link has no rate.
    pub link_load: Option<f64>,
    /// How long a message waits for its batch to fill, in seconds: the mean over its messages.
    pub batch_delay_s: f64,
    /// The delivery time that the rate and delay of the link imply where it is idle; none where the rate varies.
    pub predicted_s: Option<f64>,
    /// Whether nothing else tried on this link has both fewer bytes and less delay.
    pub frontier: bool,
    /// Whether it is the one to use.
    pub to_use: bool,
}

impl EncodingOutcome {
    /// Whether this is what every other setting is compared with.
    pub(crate) fn is_plain_json(&self) -> bool {
        self.encoding == "json" && self.codec == "none" && self.batch == 1
    }

    /// From when a message arises until it has arrived, in seconds, the mean; none where messages do not fit the link.
    pub fn delay_s(&self) -> Option<f64> {
        let delivery = self.delivery_time.as_ref()?;
        Some(self.batch_delay_s + delivery.mean)
    }
}
