//! What can be typed after `lastmile advise`?

use super::{CpuArg, FormatArg, from_one};
use clap::{Args, ValueEnum};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// Advise on compression: what to set for your traffic on your users' links
///
/// Your traffic is replayed in a simulated network under every setting worth trying. The answer says which to use for each kind of
/// response, what that saves, where it stops paying, and how nginx, Apache and Caddy are told.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile advise shop.har --link wpt/3g              a page that was saved
  lastmile advise dist/ --link wpt/3g,wpt/cable       two links
  lastmile advise shop.har --link 'wpt/3g+loss=1%'    a link with changes
  lastmile advise shop.har --link wpt/3g --format json > advice.json

Save a HAR in a browser's network panel: \"Save all as HAR with content\", caches off.
`lastmile profiles list` names the links.")]
pub(crate) struct AdviseArgs {
    /// What is replayed: a HAR, a folder of response bodies, or a file of JSON lines
    #[arg(value_name = "TRAFFIC")]
    pub(crate) traffic: PathBuf,

    /// The links, with commas between: wpt/3g,'seeds/dialup-56k+loss=1%'
    #[arg(long, value_name = "LINKS", required = true)]
    pub(crate) link: Vec<String>,

    /// The protocol: HTTP/1.1 over six connections a host, or HTTP/2 over one
    #[arg(long, value_enum, default_value = "http/1.1")]
    pub(crate) protocol: Protocol,

    /// Connections without TLS [default: with TLS]
    #[arg(long)]
    pub(crate) no_tls: bool,

    /// Connections that stand before the first request, their windows grown [default: each is opened when first needed]
    #[arg(long)]
    pub(crate) warm: bool,

    /// How often each page is loaded under each setting, from 1 [default: 7]
    #[arg(long, value_name = "N", value_parser = |text: &str| from_one::<NonZeroU64>(text, None))]
    pub(crate) repeats: Option<NonZeroU64>,

    /// The root of every random choice, from 0 to 2^64 - 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) cpu: CpuArg,

    /// How many times slower than the cost table's machine the client computes [default: 4, a telephone]
    #[arg(long, value_name = "FACTOR")]
    pub(crate) slow_client: Option<f64>,

    /// How many replays run at once; the figures do not depend on it [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = |text: &str| from_one::<NonZeroUsize>(text, None))]
    pub(crate) threads: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// The report's file [default: runs/advise-DATE-TIME/report.html, in UTC]
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Write no report
    #[arg(long, conflicts_with = "report")]
    pub(crate) no_report: bool,
}

/// The protocol between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// HTTP/1.1 over six connections a host, as browsers do
    #[value(name = "http/1.1")]
    Http11,
    /// HTTP/2 over one connection a host
    #[value(name = "h2")]
    H2,
}
