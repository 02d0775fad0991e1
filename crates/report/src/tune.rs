//! What is published by `lastmile tune`? What every compression setting makes of a stream of messages, what it costs, and which to use.
//!
//! A *direction* of a transcript is what one side sent. A *point* is one setting of permessage-deflate (RFC 7692) in one direction; a
//! *setting* is a codec with its parameters as text: `identity`, `deflate:6/w15/m8`, `deflate:6/w11/m4/no-takeover`, `zstd:3/w17`. A
//! *ratio* is compressed over raw payload octets, without frame headers: less is better. Every name that ends in a unit holds a plain number
//! of it (`_bytes`, `_seconds`, `_bits`); a [`Figure`] carries its own.

mod setting;
mod transcript;

pub use setting::{Deflate, Strategy};
pub use transcript::{Direction, Stream, Transcript, TranscriptFormat};

use crate::advise::{LinkDescription, Saving};
use crate::record::{Doubt, Figure, Finding, Threshold};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What `lastmile tune` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tuning {
    /// `lastmile/tune/1`.
    #[schemars(extend("const" = Tuning::SCHEMA))]
    pub schema: String,
    /// The version of lastmile.
    pub version: String,
    /// What was compressed.
    pub transcript: Transcript,
    /// How it was compressed, and what the answer has to fit into.
    pub options: Options,
    /// The root of every random choice.
    pub seed: u64,
    /// The version of the zlib that made the points.
    pub zlib: String,
    /// The versions of the other libraries, by the name that a codec's text begins with: `{"zstd": "1.5.7"}`.
    pub libraries: BTreeMap<String, String>,
    /// Where computing was timed; none where nothing was.
    pub cpu_machine: Option<String>,
    /// What each side sent, one a direction that has payload, `sent` first.
    pub directions: Vec<Stream>,
    /// Every point of the grid: direction by direction; within one by takeover (off first), window bits, level, mem level, strategy.
    pub points: Vec<Point>,
    /// What lies beyond the grid: other codecs, dictionaries, policies.
    pub codecs: Vec<CodecPoint>,
    /// What to use.
    pub answer: Answer,
    /// What that does on links, in the order they were asked for; on each, in every world that was asked for.
    pub links: Vec<LinkDelivery>,
    /// The recommended setting as configuration of real servers.
    pub snippets: Vec<Snippet>,
    /// What else follows from the figures, in words made from them.
    pub findings: Vec<Finding>,
    /// Rules that the figures were held against, each with the point or codec that it was decided by.
    pub thresholds: Vec<Threshold>,
    /// What makes the whole suspect.
    pub doubts: Vec<Doubt>,
}

impl Tuning {
    /// The name of this schema.
    pub const SCHEMA: &str = "lastmile/tune/1";

    /// Whether all that was delivered over links was delivered in one world, so that it need not be named.
    pub fn in_one_world(&self) -> bool {
        let mut worlds = self.links.iter().map(|link| &link.world);
        worlds.next().is_none_or(|first| worlds.all(|world| world == first))
    }

    /// A link by its name, and by its world where that is not clear without: `wpt/3g, emulated`.
    pub fn place(&self, link: &LinkDelivery) -> String {
        match link.world.as_str() {
            "emu" => format!("{}, emulated", link.name),
            _ if !self.in_one_world() => format!("{}, simulated", link.name),
            _ => link.name.clone(),
        }
    }

    /// What was sent in `direction`; none where nothing was.
    pub fn stream(&self, direction: Direction) -> Option<&Stream> {
        self.directions.iter().find(|stream| stream.direction == direction)
    }

    /// The point of `direction` with these parameters, if it is in the grid; `window_bits` as asked for.
    pub fn point(&self, direction: Direction, deflate: &Deflate) -> Option<&Point> {
        self.points
            .iter()
            .find(|point| point.direction == direction && point.deflate() == *deflate)
    }
}

/// How a transcript was compressed, and what the answer has to fit into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Options {
    /// Connections held at once: what memory is multiplied by, and how many contexts computing was timed with in turns.
    pub connections: u64,
    /// What all of them may take together; none where nothing was said.
    pub memory_bytes: Option<u64>,
    /// How long compressing a message may compute; none where nothing was said.
    pub cpu_seconds: Option<f64>,
    /// How much may be left, compressed over raw; none where nothing was said.
    pub ratio: Option<f64>,
    /// To how many connections the server's messages were said to go; none where that was taken from the transcript.
    pub receivers: Option<u64>,
    /// Whether every octet was compressed at every point.
    pub sampling: Sampling,
}

/// How much of a transcript was compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// All of it, at every point.
    Exact,
    /// As much as was needed to tell points apart; those that were not compressed whole carry an interval.
    Auto,
}

/// One setting of permessage-deflate, in one direction, by stock zlib.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Which way.
    pub direction: Direction,
    /// Whether a message may refer to earlier ones.
    pub takeover: bool,
    /// The window asked for.
    pub window_bits: u8,
    /// The window that zlib uses: 9 where 8 was asked for (zlib ChangeLog, 1.2.11).
    pub runs_as_window_bits: u8,
    /// 0 to 9.
    pub level: u8,
    /// 1 to 9.
    pub mem_level: u8,
    /// What kind of matches were looked for.
    pub strategy: Strategy,
    /// All the direction's messages, compressed, without the tail of four octets that RFC 7692 section 7.2.1 takes off. An estimate, rounded,
    /// where `exact` is false.
    pub compressed_bytes: u64,
    /// `compressed_bytes` over the direction's `bytes`.
    pub ratio: f64,
    /// 95 % interval of the ratio; none where it is exact.
    pub ratio_ci95: Option<[f64; 2]>,
    /// Whether every octet was compressed, or proven to give the same.
    pub exact: bool,
    /// What one compressing context takes, as its allocator was asked.
    pub memory_bytes: u64,
    /// What one decompressing context takes, likewise: that depends on the window alone.
    pub decompressor_memory_bytes: u64,
    /// Computing to compress a message, on average, with contexts in turns; none where it was not timed.
    pub cpu_seconds: Option<Figure>,
    /// Whether no other point of the direction that is as good in ratio, memory and computing is better in one of them.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CodecPoint {
    /// Which way.
    pub direction: Direction,
    /// The codec: `zstd:3/w17`.
    pub codec: String,
    /// What both sides know beforehand: `first message`, `trained on the first half, 16 KiB`; none where they know nothing.
    pub dictionary: Option<String>,
    /// Which messages are compressed, how they are parted, and what is forgotten or shared: `text only`, `from 128 B`, `fragments of 1 kB`,
    /// `forgets after 60 s idle`, `once for a broadcast`; none where every message is, whole, for its one receiver.
    pub policy: Option<String>,
    /// The messages these figures are of: `all`, `the second half`. Only figures of the same ones can be compared.
    pub measured_on: String,
    /// How many messages those are.
    pub messages: u64,
    /// Their payload octets.
    pub bytes: u64,
    /// Them compressed.
    pub compressed_bytes: u64,
    /// `compressed_bytes / bytes`.
    pub ratio: f64,
    /// 95 % interval of the ratio; none where it is exact.
    pub ratio_ci95: Option<[f64; 2]>,
    /// Whether every octet was compressed.
    pub exact: bool,
    /// What one compressing context takes, as its allocator was asked; the dictionary, which connections share, is not in it.
    pub memory_bytes: u64,
    /// What one decompressing context takes, likewise.
    pub decompressor_memory_bytes: u64,
    /// Computing to compress a message, on average, with contexts in turns, policies beside the same setting without them; each receiver's
    /// share where a message to many is compressed once; none where it was not timed.
    pub cpu_seconds: Option<Figure>,
    /// Whether nothing measured on the same messages, points included, that is as good in ratio, memory and computing is better in one.
    pub frontier: bool,
}

/// What to use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In a few sentences, with the figures in them.
    pub text: String,
    /// One a direction and scope.
    pub choices: Vec<Choice>,
}

/// The setting to use in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// Which way.
    pub direction: Direction,
    /// Among what it was chosen.
    pub scope: Scope,
    /// The setting.
    pub setting: String,
    /// Its parameters, where it is one of permessage-deflate.
    pub deflate: Option<Deflate>,
    /// What both sides have to know beforehand.
    pub dictionary: Option<String>,
    /// What the sender decides by besides, in the words of [`CodecPoint::policy`].
    pub policy: Option<String>,
    /// Compressed over raw.
    pub ratio: f64,
    /// 95 % interval of that; none where it is exact.
    pub ratio_ci95: Option<[f64; 2]>,
    /// What one compressing context takes.
    pub memory_bytes: u64,
    /// What the stated number of connections takes, both ways: a context to compress with and one to decompress with each; as many pairs as there
    /// are cores where nothing is kept between messages; one to compress with where a message to many is compressed once; the share of
    /// contexts that is kept, on average, where idle ones are given back.
    pub memory_total_bytes: u64,
    /// Computing a message, or each receiver's share of it.
    pub cpu_seconds: Option<Figure>,
    /// Whether it keeps within all that was allowed; none where nothing was said.
    pub fits: Option<bool>,
    /// Why this one, in words made from the figures.
    pub why: String,
}

impl Choice {
    /// The setting with what belongs to it: `zstd:3/w17 with the first message, text only`.
    pub fn name(&self) -> String {
        let known = self.dictionary.as_ref().map(|known| format!(" with {known}"));
        let policy = self.policy.as_ref().map(|policy| format!(", {policy}"));
        format!(
            "{}{}{}",
            self.setting,
            known.unwrap_or_default(),
            policy.unwrap_or_default()
        )
    }
}

/// Among what a setting was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// permessage-deflate, which every browser speaks.
    PermessageDeflate,
    /// Any codec and dictionary, where both ends are one's own.
    AnyCodec,
}

/// What settings do to delivery on one link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkDelivery {
    /// The link as asked for: `wpt/3g+loss=1%`.
    pub name: String,
    /// What that is.
    pub description: LinkDescription,
    /// `sim` or `emu`.
    pub world: String,
    /// What the answer buys here, in a sentence.
    pub summary: String,
    /// One a direction and setting, `identity` among them.
    pub outcomes: Vec<DeliveryOutcome>,
    /// What makes this link's figures suspect.
    pub doubts: Vec<Doubt>,
}

/// Delivery of one direction's messages under one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryOutcome {
    /// Which way.
    pub direction: Direction,
    /// The setting.
    pub setting: String,
    /// From the moment a message was to be sent until the other side has it decoded; one sample a message.
    pub delivery_time: Figure,
    /// Carried over the link in this direction, from the connection's opening to its end, headers and framing of every layer included; one
    /// sample a run.
    pub link_bytes: Figure,
    /// What it saves of `identity`'s delivery time, message by message; none for `identity` itself.
    pub saving_against_identity: Option<Saving>,
}

/// Configuration to paste.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Snippet {
    /// For which implementation.
    pub implementation: Implementation,
    /// The lines.
    pub text: String,
    /// Where they go, and what it cannot do of what is recommended.
    pub note: String,
}

/// An implementation of WebSocket that is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// As a person calls it.
    pub fn words(self) -> &'static str {
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
        let mut tuning = crate::sample::tuning();
        let in_world = |world: &str| LinkDelivery {
            world: world.to_owned(),
            ..crate::sample::tuning().links.remove(0)
        };
        let name = in_world("sim").name;
        let places = |tuning: &Tuning| -> Vec<String> { tuning.links.iter().map(|link| tuning.place(link)).collect() };
        assert_eq!((places(&tuning), tuning.in_one_world()), (vec![name.clone()], true));
        tuning.links = vec![in_world("sim"), in_world("emu")];
        let both = vec![format!("{name}, simulated"), format!("{name}, emulated")];
        assert_eq!((places(&tuning), tuning.in_one_world()), (both, false));
        tuning.links.remove(0);
        assert_eq!(
            (places(&tuning), tuning.in_one_world()),
            (vec![format!("{name}, emulated")], true)
        );
        tuning.links.clear();
        assert!(tuning.in_one_world());
    }
}
