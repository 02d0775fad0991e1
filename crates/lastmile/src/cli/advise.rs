//! The arguments of `lastmile advise`.

use super::{CpuArg, FormatArg, WORLDS, one_of, parse_from_one};
use clap::Args;
use lastmile_advise::record::Server;
use lastmile_advise::rules::Rule;
use lastmile_codec::content::Coding;
use lastmile_testbed::http::Version;
use lastmile_testbed::settings::World;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// Advise on compression: what to set for your traffic on your users' links
///
/// Your traffic is replayed in a simulated network under every setting worth trying. The answer says which setting to use for each kind
/// of response, what it saves, where it stops paying, and how to configure it in nginx, Apache and Caddy.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile advise shop.har                            a page that was saved
  lastmile advise dist/ --link wpt/3g,wpt/cable       two links
  lastmile advise shop.har --link 'wpt/3g+loss=1%'    a link with changes
  lastmile advise shop.har --server nginx             only what nginx supports
  lastmile advise shop.har --link wpt/3g --world sim,emu   in Chromium, too
  lastmile advise shop.har --format json > advice.json
  lastmile advise shop.har --har loads/               simulated loads as HAR
  zcat shop.har.gz | lastmile advise -                from standard input

Links to begin with: wpt/3g, wpt/4g, wpt/cable, wpt/fios, chrome/slow-3g, published/dialup-56k.
`lastmile profiles list` names all of them.

How to save a HAR: open the page with the browser's network panel open and caches off, then
\"Save all as HAR with content\"; or recordHar with content: 'embed' in Playwright.")]
pub(crate) struct AdviseArgs {
    /// The traffic to replay: a HAR, a folder of response bodies, or a file of JSON lines, packed with gzip or zstd or not; - is standard input
    #[arg(value_name = "TRAFFIC")]
    pub(crate) traffic: PathBuf,

    /// The links, separated by commas: wpt/3g,'published/dialup-56k+loss=1%' [default: wpt/3g,wpt/4g,wpt/cable]
    #[arg(long, value_name = "LINKS")]
    pub(crate) link: Vec<String>,

    /// The server that sends your traffic: only settings that it supports are tried, and only its configuration is printed
    #[arg(long, value_parser = one_of(SERVERS))]
    pub(crate) server: Option<Server>,

    /// The content codings to try, separated by commas [default: gzip,br,zstd]
    #[arg(long, value_name = "CODINGS", value_delimiter = ',', value_parser = one_of(CODINGS))]
    pub(crate) encodings: Vec<Coding>,

    /// Answer about the rest where most of what could be compressed is not in the recording [default: refuse]
    #[arg(long)]
    pub(crate) partial: bool,

    /// The protocol of every host [default: each host's recorded one, or HTTP/1.1 where the traffic does not say]
    #[arg(long, value_parser = one_of(PROTOCOLS))]
    pub(crate) protocol: Option<Version>,

    /// Use connections without TLS [default: with TLS]
    #[arg(long)]
    pub(crate) no_tls: bool,

    /// Use connections that are open before the first request, their congestion windows grown [default: each is opened when first needed]
    #[arg(long)]
    pub(crate) warm: bool,

    /// Where pages are loaded: sim in virtual time; sim,emu also in Chromium, over network namespaces in real time [default: sim]
    ///
    /// The recording is played back to Chromium as recorded, compressed with the recommended settings, and with gzip:6 and nothing; its
    /// page times stand beside simulated ones. It has to be a HAR that contains the document, with the bodies.
    #[arg(long, value_name = "WORLDS", value_parser = one_of(WORLDS), value_delimiter = ',', conflicts_with_all = ["no_tls", "warm"])]
    pub(crate) world: Vec<World>,

    /// How often Chromium loads each page under each setting, from 1 [default: 3]
    #[arg(long, value_name = "N", requires = "world", value_parser = |text: &str| parse_from_one::<NonZeroU64>(text, None))]
    pub(crate) browser_repeats: Option<NonZeroU64>,

    /// How often each page is loaded under each setting, from 1 [default: 7, and up to 28 where that does not decide]
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_from_one::<NonZeroU64>(text, None))]
    pub(crate) repeats: Option<NonZeroU64>,

    /// The root of every random choice, from 0 to 2^64 - 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) cpu: CpuArg,

    /// How many times slower than the cost table's machine the client's CPU is [default: 4, a phone]
    #[arg(long, value_name = "FACTOR")]
    pub(crate) slow_client: Option<f64>,

    /// How many replays run at once; the figures do not depend on it [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_from_one::<NonZeroUsize>(text, None))]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Exit with code 99 where this holds on a link: 'page_time>3s', 'page_time(gzip:6)>3s', 'saving>20%'; may be given several times
    ///
    /// page_time is that of the page as recorded, or under the named setting; saving is what the recommended settings save of it. A rule is
    /// broken where the whole 95 % interval lies beyond the bound.
    #[arg(long, value_name = "RULE", value_parser = Rule::parse)]
    pub(crate) fail_on: Vec<Rule>,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// The report's file [default: runs/advise-DATE-TIME/report.html, in UTC]
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Write the simulated loads of the page into this folder as HAR files, for other tools: LINK-today.har and LINK-recommended.har
    #[arg(long, value_name = "DIR")]
    pub(crate) har: Option<PathBuf>,

    /// Write no report
    #[arg(long, conflicts_with = "report")]
    pub(crate) no_report: bool,
}

/// The links without `--link`: a phone on a slow network, 4G, and cable.
pub(crate) const LINKS: &str = "wpt/3g,wpt/4g,wpt/cable";

/// The servers whose configuration is printed.
const SERVERS: &[(&str, &str, Server)] = &[
    ("nginx", "gzip and br", Server::Nginx),
    ("apache", "gzip and br", Server::Apache),
    ("caddy", "gzip and zstd; br for files only", Server::Caddy),
];

/// The content codings.
const CODINGS: &[(&str, &str, Coding)] = &[
    ("gzip", "RFC 1952", Coding::Gzip),
    ("br", "Brotli, RFC 7932", Coding::Brotli),
    ("zstd", "Zstandard, RFC 8878", Coding::Zstd),
];

/// The protocols between client and server.
const PROTOCOLS: &[(&str, &str, Version)] = &[
    (
        "http/1.1",
        "HTTP/1.1 over six connections per host, as browsers do",
        Version::Http11,
    ),
    ("h2", "HTTP/2 over one connection per host", Version::H2),
];
