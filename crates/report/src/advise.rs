//! What is published by `lastmile advise`? Which compression to use for the traffic given, on each link, and what it buys.
//!
//! Every name that ends in a unit holds a plain number of it (`_s` seconds, `_bytes`, `_bit_per_second`); the rest are [`Figure`]s,
//! which carry theirs. A *setting* is a content coding with its level, as a study writes it: `identity`, `gzip:6`, `br:11`,
//! `zstd:3`; `today` is whatever the traffic was recorded with, response by response.

use crate::record::{Chart, Doubt, Figure, Finding, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `lastmile advise` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// `lastmile/advise/1`.
    #[schemars(extend("const" = Advice::SCHEMA))]
    pub schema: String,
    /// The version of lastmile.
    pub version: String,
    /// The root of every random choice.
    pub seed: u64,
    /// The cost table that virtual CPUs used: `reference`, `measured`, `free` or a file's name.
    pub cpu: String,
    /// Where that table was measured.
    pub cpu_machine: String,
    /// What was replayed.
    pub traffic: Traffic,
    /// How it was replayed.
    pub options: Options,
    /// The answer in a sentence or two, over all links.
    pub answer: String,
    /// One a link, in the order they were asked for.
    pub links: Vec<LinkAdvice>,
    /// The recommended settings as configuration of real servers.
    pub snippets: Vec<Snippet>,
    /// What else follows from the figures, in words made from them.
    pub findings: Vec<Finding>,
    /// Further charts, beside those that every page draws: page time against bandwidth around a break-even, for example.
    pub charts: Vec<Chart>,
    /// Further tables: the responses left out and why, for example.
    pub exhibits: Vec<Table>,
    /// What makes the whole suspect.
    pub doubts: Vec<Doubt>,
}

impl Advice {
    /// The name of this schema.
    pub const SCHEMA: &str = "lastmile/advise/1";
}

/// The traffic that was replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// The file or folder it was read from, as it was named.
    pub source: String,
    /// What that is.
    pub kind: TrafficKind,
    /// Responses replayed.
    pub responses: u64,
    /// Their bodies without content coding, summed.
    pub identity_bytes: u64,
    /// Their bodies as recorded, summed; none where the source does not say (a folder).
    pub today_bytes: Option<u64>,
    /// How many hosts they came from.
    pub hosts: u64,
    /// What was assumed or left out in reading it: bodies missing, sizes null.
    pub notes: Vec<String>,
}

/// What the traffic was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrafficKind {
    /// An HTTP archive, saved by a browser.
    Har,
    /// A folder of response bodies.
    Folder,
    /// One response a line.
    Jsonl,
}

/// How the traffic was replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Options {
    /// The protocol between client and server.
    pub protocol: Protocol,
    /// Connections a host: 6 for HTTP/1.1 as browsers do, 1 for HTTP/2.
    pub connections_per_host: u64,
    /// Whether connections are encrypted, and so pay a TLS handshake and record overhead.
    pub tls: bool,
    /// Whether connections stand before the first request.
    pub connections: Connections,
    /// How often each page was loaded.
    pub repeats: u64,
    /// How many times slower than the cost table's machine the client computes; 1 is as fast.
    pub slow_client: f64,
}

/// The protocol that carries requests and responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Protocol {
    /// HTTP/1.1, persistent connections (RFC 9112).
    #[serde(rename = "http/1.1")]
    Http11,
    /// HTTP/2 (RFC 9113).
    #[serde(rename = "h2")]
    H2,
}

/// Whether connections stand before the first request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Connections {
    /// Each is opened when first needed: handshakes and slow start are paid.
    Cold,
    /// They are open, and their congestion windows have grown.
    Warm,
}

/// What to do on one link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkAdvice {
    /// The link as asked for: `wpt/3g+loss=1%`.
    pub name: String,
    /// What that is.
    pub description: LinkDescription,
    /// The recommendation in a sentence.
    pub summary: String,
    /// The whole page under each setting, `identity`, `today` and `recommended` (each kind with its own) among them.
    pub page: Vec<PageOutcome>,
    /// Kind by kind, the one with the most bytes first.
    pub kinds: Vec<KindAdvice>,
    /// What makes this link's figures suspect.
    pub doubts: Vec<Doubt>,
}

/// A link, described.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkDescription {
    /// Towards the client; none where the link plays a recorded trace.
    pub rate_down_bit_per_second: Option<f64>,
    /// Towards the server; none where the link plays a recorded trace.
    pub rate_up_bit_per_second: Option<f64>,
    /// Both one-way delays together, without queueing and without serialisation.
    pub round_trip_s: f64,
    /// The mean share of packets lost, from 0 to 1.
    pub loss: f64,
    /// What waits, and what happens when it is full, in words: `drop-tail, 50 packets`.
    pub queue: String,
    /// Where the profile's figures are from.
    pub source: String,
}

/// The whole page under one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PageOutcome {
    /// `identity`, `today`, `recommended`, or a coding with its level for every response.
    pub setting: String,
    /// From the first request to the last response decoded.
    pub page_time: Figure,
    /// Carried towards the client: bodies, headers and framing of every layer, retransmissions among them.
    pub bytes_down: Figure,
    /// What it saves against no compression; none for `identity` itself.
    pub saving_against_identity: Option<Saving>,
    /// What it saves against the traffic as recorded; none for `today` itself, and where the source does not say.
    pub saving_against_today: Option<Saving>,
}

/// What one setting saves against another, the two paired: same response or page, same repeat, same random choices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Saving {
    /// How many pairs.
    pub pairs: u64,
    /// The mean of the differences; above 0 the setting is faster.
    pub mean_s: f64,
    /// 95 % interval of that mean; none where nothing varied.
    pub mean_ci95_s: Option<[f64; 2]>,
    /// The baseline's median less the setting's.
    pub median_s: f64,
    /// 95 % interval of that.
    pub median_ci95_s: Option<[f64; 2]>,
    /// The baseline's 95th percentile less the setting's: what the slow ones gain.
    pub p95_s: f64,
    /// 95 % interval of that.
    pub p95_ci95_s: Option<[f64; 2]>,
    /// `mean_s` as a share of the baseline's mean: 0.4 saves 40 %.
    pub share: f64,
    /// What varied between pairs, and so what the intervals are about.
    pub varied: Vec<String>,
}

/// What to do with one kind of response on one link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindAdvice {
    /// `html`, `javascript`, `json`, `font` ...
    pub kind: String,
    /// Whether they can be compressed once and kept.
    pub origin: Origin,
    /// How many there are.
    pub responses: u64,
    /// Their bodies without content coding, summed.
    pub identity_bytes: u64,
    /// What they were recorded with, where they all agree and the source says: `gzip`.
    pub today: Option<String>,
    /// Every setting tried, smallest first.
    pub frontier: Vec<Candidate>,
    /// The one to use.
    pub recommended: Recommendation,
    /// Where that stops paying; none where `identity` is recommended.
    pub break_even: Option<BreakEven>,
    /// What makes this kind's figures suspect.
    pub doubts: Vec<Doubt>,
}

/// Who makes a response, and so how often it is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A file: compressed once, before it is asked for, so that compressing is not waited for.
    Static,
    /// Made for the request: compressed every time, while the client waits.
    Dynamic,
}

impl Origin {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Static => "static",
            Origin::Dynamic => "dynamic",
        }
    }
}

/// One setting, tried on one kind of response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// The setting.
    pub setting: String,
    /// The bodies under it, summed.
    pub compressed_bytes: u64,
    /// `compressed_bytes / identity_bytes`.
    pub ratio: f64,
    /// Computing on the server for all the kind's responses together: once in all for static ones, once a page for dynamic ones.
    pub server_cpu_s: f64,
    /// Decoding on the client for all the kind's responses together, once a page, on the client as slow as it was said to be.
    pub client_cpu_s: f64,
    /// From a response's request to its last byte decoded.
    pub transfer_time: Figure,
    /// Whether another setting is at least as good in mean transfer time, size, and computing on either side, and better in one.
    pub dominated: bool,
}

/// The setting to use, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recommendation {
    /// The setting.
    pub setting: String,
    /// Why this one, in words made from the figures.
    pub why: String,
    /// What it buys a response against no compression, in transfer time.
    pub buys: Saving,
    /// The same against the traffic as recorded; none where the source does not say.
    pub buys_against_today: Option<Saving>,
}

/// The bandwidth towards the client at which the recommended setting stops being faster than `identity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BreakEven {
    /// By the formula; none where it never stops paying, since no computing is waited for.
    pub by_formula_bit_per_second: Option<f64>,
    /// The formula, with its figures and source.
    pub formula: String,
    /// By replaying at other bandwidths; none where that was not done.
    pub by_simulation: Option<BreakEvenSearch>,
}

/// A search for a break-even among simulated bandwidths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BreakEvenSearch {
    /// The lowest and the highest bandwidth tried.
    pub searched_bit_per_second: [f64; 2],
    /// It pays at the first of these and no longer at the second; none where it pays at every bandwidth tried.
    pub between_bit_per_second: Option<[f64; 2]>,
}

/// Configuration to paste.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snippet {
    /// For which server.
    pub server: Server,
    /// The lines.
    pub text: String,
    /// Where they go, and what that server cannot do of what is recommended.
    pub note: String,
}

/// A server that is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Server {
    /// nginx.
    Nginx,
    /// Apache HTTP Server.
    Apache,
    /// Caddy.
    Caddy,
}
