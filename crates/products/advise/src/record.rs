//! The record of `lastmile advise`: which compression to use for the given traffic, on each link, and what it saves.
//!
//! Every name that ends in a unit holds a plain number of it (`_s` seconds, `_us` microseconds, `_bytes`, `_bit_per_second`); the rest are [`Figure`]s,
//! which carry theirs. A *setting* is a content coding with its level, as a study writes it: `identity`, `gzip:6`, `br:11`,
//! `zstd:3`; `today` is whatever the traffic was recorded with, response by response. A *mix* has a setting for each kind of response.

pub mod waterfall;

use lastmile_report::connections::Connections;
use lastmile_report::link_description::LinkDescription;
use lastmile_report::model_error::ModelError;
use lastmile_report::number::quantity;
use lastmile_report::record::{Chart, Doubt, Figure, Finding, Table};
use lastmile_report::saving::Saving;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `lastmile advise` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Advice {
    /// `lastmile/advise/1`.
    #[cfg_attr(test, schemars(extend("const" = Advice::SCHEMA)))]
    pub schema: String,
    /// The version of lastmile.
    pub version: String,
    /// The root of every random choice.
    pub seed: u64,
    /// The cost table of the virtual CPUs: `reference`, `measured`, `free` or a file's name.
    pub cpu: String,
    /// Where that table was measured.
    pub cpu_machine: String,
    /// What was replayed.
    pub traffic: Traffic,
    /// How it was replayed.
    pub options: Options,
    /// Which settings compressed every body whole.
    pub sizes: CompressedSizes,
    /// How far simulated page times are from a real browser's; none where that was not measured.
    pub model_error: Option<ModelError>,
    /// The answer in a sentence or two, over all links.
    pub answer: String,
    /// One per link, in the order they were named.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Traffic {
    /// The file or folder it was read from, as it was named.
    pub source: String,
    /// Its format.
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
    /// How the page was loaded when it was recorded; none where the traffic does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<waterfall::RecordedLoad>,
}

/// What the traffic was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TrafficKind {
    /// An HTTP archive, saved by a browser.
    Har,
    /// A folder of response bodies.
    Folder,
    /// One response a line.
    Jsonl,
}

/// Which settings compressed every body whole. Others are neither replayed nor recommended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct CompressedSizes {
    /// The settings whose sizes are exact.
    pub exact: Vec<String>,
    /// The settings some of whose sizes are estimated from the bodies' beginnings, since compressing everything would have taken too long.
    pub estimated: Vec<String>,
}

/// How the traffic was replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Options {
    /// The protocol that was asked for, for every host; none where each host has the recorded one.
    pub protocol: Option<Protocol>,
    /// How each host was replayed, in the order of their first requests.
    pub hosts: Vec<ReplayedHost>,
    /// Whether connections use TLS, and so pay its handshake and record overhead.
    pub tls: bool,
    /// Whether connections are open before the first request.
    pub connections: Connections,
    /// How often each page was loaded at first.
    pub repeats: u64,
    /// How often it was loaded at most, under settings between which the first repeats did not decide.
    pub repeats_max: u64,
    /// The codings that were tried, by their tokens in HTTP.
    pub encodings: Vec<String>,
    /// The server whose settings were tried; none where any server's were.
    pub server: Option<Server>,
    /// How many times slower than the cost table's machine the client's CPU is; 1 is as fast.
    pub slow_client: f64,
}

/// A host of the traffic, and the protocol that it was replayed with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct ReplayedHost {
    /// Its scheme and name, with the port where its URLs have one: `https://www.example`.
    pub host: String,
    /// Its responses.
    pub responses: u64,
    /// The version of HTTP that most of them were recorded with: `HTTP/3`; none where the traffic does not say.
    pub recorded: Option<String>,
    /// The protocol that it was replayed with.
    pub protocol: Protocol,
    /// The most connections to it: 6 for HTTP/1.1 as in browsers, 1 for HTTP/2.
    pub connections: u64,
}

/// The protocol that carries requests and responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub enum Protocol {
    /// HTTP/1.1, persistent connections (RFC 9112).
    #[serde(rename = "http/1.1")]
    Http11,
    /// HTTP/2 (RFC 9113).
    #[serde(rename = "h2")]
    H2,
}

impl Protocol {
    /// Its name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http11 => "HTTP/1.1",
            Self::H2 => "HTTP/2",
        }
    }
}

/// What to do on one link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct LinkAdvice {
    /// The link's formula as given: `wpt/3g+loss=1%`.
    pub name: String,
    /// What that is.
    pub description: LinkDescription,
    /// The recommendation in a sentence or two.
    pub summary: String,
    /// What the page takes as it is, with a common setting, and as recommended.
    pub ladder: Vec<Rung>,
    /// The settings in `page` that are neither faster nor slower than the recommended one, beyond the noise.
    pub as_good_as: Vec<String>,
    /// How often the page was loaded under each setting of `page`.
    pub repeats: u64,
    /// Whether every difference to the recommended setting is beyond the noise, or known to be less than a hundredth of the page's time.
    pub clear: bool,
    /// The whole page under each setting that was replayed in every repeat: `recommended` (each kind with its own) first, then `today`, then
    /// the others, the fastest first; `identity` is among them. None of them is faster than `recommended` beyond the noise, or else by less
    /// than the model's error.
    pub page: Vec<PageOutcome>,
    /// The page in a real browser, beside simulated loads under the same conditions; none where that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<BrowserComparison>,
    /// One load of the page as it is and one as recommended, request by request; none in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waterfall: Option<waterfall::Waterfall>,
    /// The settings that were replayed in the first repeats only.
    pub screened: Vec<ScreenedSetting>,
    /// Kind by kind, the one with the most bytes first.
    pub kinds: Vec<KindAdvice>,
    /// What makes this link's figures suspect.
    pub doubts: Vec<Doubt>,
}

/// The whole page under one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct PageOutcome {
    /// `identity`, `today`, `recommended`, a coding with its level for every response that can have it, or a mix in words.
    pub setting: String,
    /// From the first request to the last response decoded.
    pub page_time: Figure,
    /// Bytes carried towards the client: bodies, headers and framing of every layer, including retransmissions.
    pub bytes_down: Figure,
    /// What it saves against no compression; none for `identity` itself.
    pub saving_against_identity: Option<Saving>,
    /// What it saves against the traffic as recorded; none for `today` itself, and where the source does not say.
    pub saving_against_today: Option<Saving>,
    /// What the recommended setting saves against this one; none for `recommended` itself.
    pub recommended_saves: Option<Saving>,
}

/// A rung of the ladder from the page as it is to the page as recommended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Rung {
    /// `today` or `identity` for the first, a setting for all kinds, or `recommended` for the last.
    pub setting: String,
    /// The page's time.
    pub page_time: Figure,
    /// What it saves as a share of the first rung's time: 0.4 saves 40 %. 0 for the first.
    pub saved_share: f64,
    /// 95 % interval of that; none where nothing varied.
    pub saved_share_ci95: Option<[f64; 2]>,
    /// What it saves as a share of what the last rung saves; none where that saves nothing.
    pub share_of_saving: Option<f64>,
}

/// A setting that was replayed in the first repeats only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct ScreenedSetting {
    /// The setting, or a mix in words.
    pub setting: String,
    /// The page's time in these repeats.
    pub page_time: Figure,
    /// What the recommended setting saves against it, in these repeats.
    pub recommended_saves: Saving,
}

/// The page in a real browser in the emulated world, beside simulated loads in which client and servers compute as fast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct BrowserComparison {
    /// The browser and its version, as it states them.
    pub browser: String,
    /// One per setting compared: those that send the same bytes are loaded once.
    pub outcomes: Vec<BrowserOutcome>,
    /// What makes these loads suspect.
    pub doubts: Vec<Doubt>,
}

impl BrowserComparison {
    /// The sentence about it, in place of the one about pages in general: what the browser takes, and how far the simulation is from that.
    pub fn sentence(&self, link: &str) -> String {
        let time = |names: &[&str]| {
            let outcome = self
                .outcomes
                .iter()
                .find(|outcome| names.contains(&&*outcome.setting))?;
            Some(quantity(outcome.emulated.mean, &outcome.emulated.unit))
        };
        let best = time(&["recommended"]).map(|time| format!(" takes {time} for this page as recommended"));
        let now = time(&["today", "identity"]).map(|time| format!(", {time} as it is"));
        let ratios = || self.outcomes.iter().map(|outcome| outcome.ratio);
        let ends = [
            ratios().fold(f64::INFINITY, f64::min),
            ratios().fold(f64::NEG_INFINITY, f64::max),
        ];
        let [low, high] = ends.map(|ratio| format!("{ratio:.2}"));
        let ratio = if low == high { high } else { format!("{low} to {high}") };
        let doubt = self
            .doubts
            .first()
            .map(|doubt| format!(" (doubt {})", doubt.kind.name()));
        format!(
            "On {link}, {}{}{}; its simulated times are {ratio} times as long{}.",
            self.browser,
            best.unwrap_or_default(),
            now.unwrap_or_default(),
            doubt.unwrap_or_default(),
        )
    }
}

/// The whole page under one setting, in simulation and in a real browser.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct BrowserOutcome {
    /// As in `page`.
    pub setting: String,
    /// The page time in simulation.
    pub simulated: Figure,
    /// The page time in the browser: from its first request to the end of the last recorded response.
    pub emulated: Figure,
    /// A simulated page time as a share of a real one, mean over pairs: above 1 the simulation is slower.
    pub ratio: f64,
    /// 95 % interval of that.
    pub ratio_ci95: Option<[f64; 2]>,
    /// The share of requests whose simulated start and end are both within 10 % of the page time of the browser's, over all loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_within_10_percent: Option<f64>,
}

/// What to do with one kind of response on one link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct KindAdvice {
    /// `html`, `javascript`, `json`, `font` ...
    pub kind: String,
    /// Whether they can be compressed once and stored.
    pub origin: Origin,
    /// How many there are.
    pub responses: u64,
    /// Their bodies without content coding, summed.
    pub identity_bytes: u64,
    /// The content coding they were recorded with, where they all have the same one and the source gives it: `gzip`.
    pub today: Option<String>,
    /// Their bodies as recorded, summed; none where the source does not say.
    pub today_bytes: Option<u64>,
    /// Every setting tried, smallest first.
    pub frontier: Vec<Candidate>,
    /// The one to use.
    pub recommended: Recommendation,
    /// The bandwidth at which that stops paying; none where `identity` is recommended.
    pub break_even: Option<BreakEven>,
    /// What makes this kind's figures suspect.
    pub doubts: Vec<Doubt>,
}

/// Whether a response is a file or made on request, and so how often it is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A file: compressed once, before the first request, so that no client waits for the compression.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Candidate {
    /// The setting.
    pub setting: String,
    /// The bodies under it, summed.
    pub compressed_bytes: u64,
    /// `compressed_bytes / identity_bytes`.
    pub ratio: f64,
    /// CPU time on the server for all responses of the kind together: once in all for static ones, once per page for dynamic ones.
    pub server_cpu_s: f64,
    /// CPU time on the client for decompressing all responses of the kind, once per page, with the client's `slow_client` factor.
    pub client_cpu_s: f64,
    /// From a response's request to its last decoded byte, alone on the link, mean over the responses: what the setting does, and no
    /// neighbour. Without the link's random losses and delays.
    pub isolated_time_s: f64,
    /// Whether another setting is at least as good in isolated time, size, and CPU time on either side, and better in one.
    pub dominated: bool,
}

/// The setting to use, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Recommendation {
    /// The setting; `today` where the responses are best left as they were recorded.
    pub setting: String,
    /// What it does and costs, in words made from the figures.
    pub why: String,
    /// Their bodies under it, summed.
    pub compressed_bytes: u64,
    /// What the page takes longer without it: this kind as it is today (as recorded, or uncompressed where the source does not say), all
    /// others as recommended. None where the setting leaves the responses as they are today. Kinds share the link, so these do not add
    /// up to what all settings save together.
    pub page_saves: Option<Saving>,
}

/// The bandwidth towards the client at which the recommended setting stops being faster than `identity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct BreakEven {
    /// By the formula; none where it never stops paying, since no client waits for the compression.
    pub by_formula_bit_per_second: Option<f64>,
    /// The formula, with its figures and source.
    pub formula: String,
    /// By replaying at other bandwidths; none where that was not done.
    pub by_simulation: Option<BreakEvenSearch>,
}

/// A search for a break-even among simulated bandwidths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct BreakEvenSearch {
    /// The lowest and the highest bandwidth tried.
    pub searched_bit_per_second: [f64; 2],
    /// It pays at the first of these, and no longer at the second; none where it pays at every bandwidth tried.
    pub between_bit_per_second: Option<[f64; 2]>,
}

/// Configuration to paste.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Snippet {
    /// The server.
    pub server: Server,
    /// The lines.
    pub text: String,
    /// Where the lines go, and how its settings relate to those recommended.
    pub note: String,
    /// Every setting in it.
    pub settings: Vec<SnippetSetting>,
    /// The page with the snippet as it stands, on each link.
    pub replays: Vec<SnippetReplay>,
}

/// A setting in a snippet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SnippetSetting {
    /// Which responses it is for.
    pub origin: Origin,
    /// The setting.
    pub setting: String,
    /// Who gets it.
    pub usage: SnippetUse,
    /// The links on which the table recommends it for some kind of that origin; none where it is the nearest that the server can do.
    pub recommended_on: Vec<String>,
}

/// Who gets a setting of a snippet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SnippetUse {
    /// Every client that accepts its coding.
    First,
    /// Clients that do not accept the first.
    Fallback,
}

/// The page with a snippet, on one link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SnippetReplay {
    /// The link.
    pub link: String,
    /// The page; its setting is the server's name.
    pub page: PageOutcome,
}

/// A server that a snippet configures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Server {
    /// nginx.
    Nginx,
    /// Apache HTTP Server.
    Apache,
    /// Caddy.
    Caddy,
}

impl Server {
    /// Its name, as its makers write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Apache => "Apache",
            Self::Caddy => "Caddy",
        }
    }
}
