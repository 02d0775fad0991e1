//! The record of `lastmile tune`: the ratio and the cost of every compression setting on a stream of messages, and which one to use.
//!
//! A *direction* of a transcript holds the messages that one side sent. A *point* is one setting of permessage-deflate (RFC 7692) in one direction; a
//! *setting* is a codec with its parameters as text: `identity`, `deflate:6/w15/m8`, `deflate:6/w11/m4/no-takeover`, `zstd:3/w17`. A
//! *ratio* is compressed over raw payload bytes, without frame headers: less is better. Every name that ends in a unit holds a plain number
//! of it (`_bytes`, `_seconds`, `_bits`); a [`Figure`] carries its own.

mod setting;
mod transcript;

pub use setting::{Deflate, Strategy};
pub use transcript::{Direction, Stream, Transcript, TranscriptFormat};

use lastmile_report::link_description::LinkDescription;
use lastmile_report::record::{Doubt, Figure, Finding, Threshold};
use lastmile_report::saving::Saving;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What `lastmile tune` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Tuning {
    /// `lastmile/tune/1`.
    #[cfg_attr(test, schemars(extend("const" = Tuning::SCHEMA)))]
    pub schema: String,
    /// The version of lastmile.
    pub version: String,
    /// What was compressed.
    pub transcript: Transcript,
    /// How it was compressed, and the limits on the answer.
    pub options: Options,
    /// The root of every random choice.
    pub seed: u64,
    /// The version of the zlib that made the points.
    pub zlib: String,
    /// The versions of the other libraries, by the first word of a codec's text: `{"zstd": "1.5.7"}`.
    pub libraries: BTreeMap<String, String>,
    /// The machine on which CPU time was measured; none if it was not.
    pub cpu_machine: Option<String>,
    /// What each side sent: one stream per direction that has payload, `sent` first.
    pub directions: Vec<Stream>,
    /// Every point of the grid: direction by direction; within one by takeover (off first), window bits, level, mem level, strategy.
    pub points: Vec<Point>,
    /// Measurements beyond the grid: other codecs, dictionaries, policies.
    pub codecs: Vec<CodecPoint>,
    /// The settings to use.
    pub answer: Answer,
    /// The effect of those settings on links, in the order of the request; for each link, in every world requested.
    pub links: Vec<LinkDelivery>,
    /// The recommended setting as configuration of real servers.
    pub snippets: Vec<Snippet>,
    /// Further findings from the figures, in sentences.
    pub findings: Vec<Finding>,
    /// The rules that the figures were checked against, each with the point or codec that decided it.
    pub thresholds: Vec<Threshold>,
    /// Doubts about the whole.
    pub doubts: Vec<Doubt>,
}

impl Tuning {
    /// The name of this schema.
    pub const SCHEMA: &str = "lastmile/tune/1";

    /// Whether all deliveries were in one world, so that the world need not be named.
    pub fn in_one_world(&self) -> bool {
        let mut worlds = self.links.iter().map(|link| &link.world);
        worlds.next().is_none_or(|first| worlds.all(|world| world == first))
    }

    /// A link's name, with its world where the name alone is ambiguous: `wpt/3g, emulated`.
    pub fn link_label(&self, link: &LinkDelivery) -> String {
        match link.world.as_str() {
            "emu" => format!("{}, emulated", link.name),
            _ if !self.in_one_world() => format!("{}, simulated", link.name),
            _ => link.name.clone(),
        }
    }

    /// The messages of `direction`; none if there are none.
    pub fn stream(&self, direction: Direction) -> Option<&Stream> {
        self.directions.iter().find(|stream| stream.direction == direction)
    }

    /// A point, described as settings beyond the grid are: by its text.
    pub(crate) fn as_codec_point(&self, point: &Point) -> CodecPoint {
        let stream = self.stream(point.direction);
        CodecPoint {
            direction: point.direction,
            codec: point.deflate().setting(),
            dictionary: None,
            policy: None,
            measured_on: "all".to_owned(),
            messages: stream.map_or(0, |stream| stream.messages),
            bytes: stream.map_or(0, |stream| stream.bytes),
            compressed_bytes: point.compressed_bytes,
            ratio: point.ratio,
            ratio_ci95: point.ratio_ci95,
            exact: point.exact,
            memory_bytes: point.memory_bytes,
            decompressor_memory_bytes: point.decompressor_memory_bytes,
            cpu_seconds: point.cpu_seconds.clone(),
            frontier: point.frontier,
        }
    }

    /// The point of `direction` with these parameters, if it is in the grid; `window_bits` as requested.
    pub fn point(&self, direction: Direction, deflate: &Deflate) -> Option<&Point> {
        self.points
            .iter()
            .find(|point| point.direction == direction && point.deflate() == *deflate)
    }
}

/// How a transcript was compressed, and the limits on the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Options {
    /// Connections open at once: memory is multiplied by it, and CPU time was measured over as many contexts in turns.
    pub connections: u64,
    /// Limit on the memory of all of them together; none: no limit.
    pub memory_bytes: Option<u64>,
    /// Limit on the CPU time to compress a message; none: no limit.
    pub cpu_seconds: Option<f64>,
    /// Limit on the ratio, compressed over raw; none: no limit.
    pub ratio: Option<f64>,
    /// The stated number of connections that a message of the server goes to; none if it was taken from the transcript.
    pub receivers: Option<u64>,
    /// How many messages a second each connection carries in each direction, as stated; none if it was not stated.
    pub rate_per_second: Option<f64>,
    /// Whether every byte was compressed at every point.
    pub sampling: Sampling,
}

/// How much of a transcript was compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// All of it, at every point.
    Exact,
    /// As much as was needed to tell points apart; points from a sample carry an interval.
    Auto,
}

/// One setting of permessage-deflate, in one direction, by stock zlib.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Point {
    /// The direction.
    pub direction: Direction,
    /// Whether a message may refer to earlier ones.
    pub takeover: bool,
    /// The window requested.
    pub window_bits: u8,
    /// The window that zlib uses: 9 where 8 was requested (zlib ChangeLog, 1.2.11).
    pub runs_as_window_bits: u8,
    /// 0 to 9.
    pub level: u8,
    /// 1 to 9.
    pub mem_level: u8,
    /// What kind of matches zlib looked for.
    pub strategy: Strategy,
    /// All the direction's messages, compressed, without the tail of four bytes that RFC 7692 section 7.2.1 removes. An estimate, rounded,
    /// where `exact` is false.
    pub compressed_bytes: u64,
    /// `compressed_bytes` over the direction's `bytes`.
    pub ratio: f64,
    /// 95 % interval of the ratio; none where it is exact.
    pub ratio_ci95: Option<[f64; 2]>,
    /// Whether every byte was compressed, or the result was proven to be the same.
    pub exact: bool,
    /// The memory that one compressing context requests from its allocator.
    pub memory_bytes: u64,
    /// The memory of one decompressing context, likewise; it depends only on the window.
    pub decompressor_memory_bytes: u64,
    /// CPU time to compress a message, on average, with contexts in turns; none where it was not measured.
    pub cpu_seconds: Option<Figure>,
    /// Whether no other point of the direction is as good in ratio, memory and CPU time and better in one of them.
    pub frontier: bool,
}

impl Point {
    /// Its parameters.
    pub fn deflate(&self) -> Deflate {
        Deflate {
            takeover: self.takeover,
            window_bits: self.window_bits,
            level: self.level,
            mem_level: self.mem_level,
            strategy: self.strategy,
        }
    }
}

/// A codec, dictionary or policy beyond the grid, in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct CodecPoint {
    /// The direction.
    pub direction: Direction,
    /// The codec: `zstd:3/w17`.
    pub codec: String,
    /// The dictionary that both sides have: `first message`, `trained on the first half, 16 KiB`; none without a dictionary.
    pub dictionary: Option<String>,
    /// Which messages are compressed, how they are fragmented, and which contexts are freed or shared: `text only`, `from 128 B`,
    /// `fragments of 1 kB`, `resets after 60 s idle`, `compressed once per broadcast`; none where every message is compressed, unfragmented,
    /// for its one receiver.
    pub policy: Option<String>,
    /// The messages that were measured: `all`, `the second half`. Only figures of the same messages can be compared.
    pub measured_on: String,
    /// How many messages those are.
    pub messages: u64,
    /// Their payload bytes.
    pub bytes: u64,
    /// Their compressed bytes.
    pub compressed_bytes: u64,
    /// `compressed_bytes / bytes`.
    pub ratio: f64,
    /// 95 % interval of the ratio; none where it is exact.
    pub ratio_ci95: Option<[f64; 2]>,
    /// Whether every byte was compressed.
    pub exact: bool,
    /// The memory that one compressing context requests from its allocator, without the dictionary, which connections share.
    pub memory_bytes: u64,
    /// The memory of one decompressing context, likewise.
    pub decompressor_memory_bytes: u64,
    /// CPU time to compress a message, on average, with contexts in turns, policies next to the same setting without them; each receiver's
    /// share where a message to many is compressed once; none where it was not measured.
    pub cpu_seconds: Option<Figure>,
    /// Whether nothing measured on the same messages, points included, is as good in ratio, memory and CPU time and better in one of them.
    pub frontier: bool,
}

/// The settings to use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Answer {
    /// A few sentences with the figures.
    pub text: String,
    /// One per direction and scope.
    pub choices: Vec<Choice>,
}

/// The setting to use in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Choice {
    /// The direction.
    pub direction: Direction,
    /// The candidates that it was chosen from.
    pub scope: Scope,
    /// The setting.
    pub setting: String,
    /// Its parameters, where it is one of permessage-deflate.
    pub deflate: Option<Deflate>,
    /// The dictionary that both sides need.
    pub dictionary: Option<String>,
    /// The sender's policy, as in [`CodecPoint::policy`].
    pub policy: Option<String>,
    /// Compressed over raw.
    pub ratio: f64,
    /// 95 % interval of the ratio; none where it is exact.
    pub ratio_ci95: Option<[f64; 2]>,
    /// The memory of one compressing context.
    pub memory_bytes: u64,
    /// The memory of the stated number of connections: one compressing and one decompressing context each; one pair per core where nothing
    /// is kept between messages; one compressing context where a message to many is compressed once; the average share of contexts that
    /// is allocated where idle ones are freed.
    pub memory_total_bytes: u64,
    /// CPU time per message, or each receiver's share of it.
    pub cpu_seconds: Option<Figure>,
    /// Whether it is within all limits; none if there are no limits.
    pub fits: Option<bool>,
    /// Why it was chosen, in sentences with the figures.
    pub why: String,
}

impl Choice {
    /// The setting with its dictionary and policy: `zstd:3/w17 with the first message, text only`.
    pub fn name(&self) -> String {
        setting_name(&self.setting, self.dictionary.as_ref(), self.policy.as_ref())
    }
}

/// A setting as text, with its dictionary and policy.
pub(crate) fn setting_name(setting: &dyn fmt::Display, dictionary: Option<&String>, policy: Option<&String>) -> String {
    let known = dictionary.map_or_else(String::new, |known| format!(" with {known}"));
    let policy = policy.map_or_else(String::new, |policy| format!(", {policy}"));
    format!("{setting}{known}{policy}")
}

/// The candidates that a setting was chosen from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// permessage-deflate, which every browser supports.
    PermessageDeflate,
    /// Any codec and dictionary, for a user who controls both ends.
    AnyCodec,
}

/// Delivery on one link with several settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct LinkDelivery {
    /// The link as requested: `wpt/3g+loss=1%`.
    pub name: String,
    /// The link's parameters.
    pub description: LinkDescription,
    /// `sim` or `emu`.
    pub world: String,
    /// What the answer gains on this link, in a sentence.
    pub summary: String,
    /// One per direction and setting, including `identity`.
    pub outcomes: Vec<DeliveryOutcome>,
    /// Doubts about this link's figures.
    pub doubts: Vec<Doubt>,
}

/// Delivery of one direction's messages with one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct DeliveryOutcome {
    /// The direction.
    pub direction: Direction,
    /// The setting.
    pub setting: String,
    /// From when a message was due to be sent until the other side has decoded it; one sample per message.
    pub delivery_time: Figure,
    /// Bytes carried over the link in this direction, from the connection's opening to its end, including headers and framing of every
    /// layer; one sample per run.
    pub link_bytes: Figure,
    /// The delivery time saved compared with `identity`, message by message; none for `identity` itself.
    pub saving_against_identity: Option<Saving>,
}

/// Configuration to paste.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Snippet {
    /// The implementation.
    pub implementation: Implementation,
    /// The lines.
    pub text: String,
    /// Where the lines go, and which part of the recommendation the implementation does not support.
    pub note: String,
}

/// A WebSocket implementation that is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Implementation {
    /// ws, for Node.js.
    Ws,
    /// uWebSockets, for C++ and Node.js.
    #[serde(rename = "uwebsockets")]
    UWebSockets,
    /// websockets, for Python.
    PythonWebsockets,
    /// Jetty, for Java.
    Jetty,
}

impl Implementation {
    /// Its name in reports.
    pub fn label(self) -> &'static str {
        match self {
            Self::Ws => "ws",
            Self::UWebSockets => "uWebSockets",
            Self::PythonWebsockets => "websockets (Python)",
            Self::Jetty => "Jetty",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_told_with_its_world_where_that_is_not_clear_without() {
        let mut tuning = crate::tests::fixtures::tuning();
        let in_world = |world: &str| LinkDelivery {
            world: world.to_owned(),
            ..crate::tests::fixtures::tuning().links.remove(0)
        };
        let name = in_world("sim").name;
        let locations =
            |tuning: &Tuning| -> Vec<String> { tuning.links.iter().map(|link| tuning.link_label(link)).collect() };
        assert_eq!((locations(&tuning), tuning.in_one_world()), (vec![name.clone()], true));
        tuning.links = vec![in_world("sim"), in_world("emu")];
        let both = vec![format!("{name}, simulated"), format!("{name}, emulated")];
        assert_eq!((locations(&tuning), tuning.in_one_world()), (both, false));
        tuning.links.remove(0);
        assert_eq!(
            (locations(&tuning), tuning.in_one_world()),
            (vec![format!("{name}, emulated")], true)
        );
        tuning.links.clear();
        assert!(tuning.in_one_world());
    }
}
