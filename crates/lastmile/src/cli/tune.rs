//! What can be typed after `lastmile tune`?

use super::run::World;
use super::{FormatArg, from_one};
use crate::fail_on::tuning::Rule;
use clap::{Args, ValueEnum};
use lastmile_units::{Bytes, ParseQuantityError, duration};
use std::num::{NonZeroU16, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

/// Tune compression for messages: permessage-deflate at every setting, other codecs
///
/// The messages of a WebSocket, or of anything that sends messages, are compressed under every combination of takeover, window, level
/// and mem level, by other codecs, and with dictionaries. The answer says which setting to use for so many connections in so much
/// memory, what it costs in computing, what it does to delivery on your users' links, and how servers are told.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile tune chat.txt                               a message a line
  lastmile tune chat.jsonl --connections 50000 --memory 8GiB
  lastmile tune chat.txt --ratio 0.35 --cpu 20us       the cheapest that does
  lastmile tune page.har --link wpt/3g                 saved by a browser
  lastmile tune chat.txt --link wpt/3g --world sim,emu  over real kernels, too
  lastmile tune client.pcapng --format csv > points.csv
  lastmile tune chat.txt --fail-on 'ratio>0.35'        exit 99 where larger
  ssh server tcpdump -w - port 80 | lastmile tune -

Rules of --fail-on: ratio, memory, computing of what is advised or of a setting,
'ratio(deflate:6/w15/m8)>0.31'; memory_total; mean, p50, p95(delivery_time) ...")]
pub(crate) struct TuneArgs {
    /// The messages: text with a message a line, JSON lines, length-prefixed binary, a HAR, or a capture; - is standard input
    #[arg(value_name = "TRANSCRIPT")]
    pub(crate) transcript: PathBuf,

    /// How the transcript is written [default: as its name or its beginning says]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) input: Option<Input>,

    /// Which end recorded it, whose messages are those sent [default: the server; a HAR's and a capture's client]
    #[arg(long, value_enum, value_name = "END")]
    pub(crate) recorded_at: Option<End>,

    /// How many connections are open at once: what memory is multiplied by, and computing is timed with
    #[arg(long, value_name = "N", default_value = "1", value_parser = connections)]
    pub(crate) connections: NonZeroU64,

    /// How many cores compress at once: as many contexts do where nothing is kept between messages
    #[arg(long, value_name = "N", default_value = "4", value_parser = cores)]
    pub(crate) cores: NonZeroU16,

    /// What the contexts of all connections may take together, like 8GiB [default: as much as they like]
    #[arg(long, value_name = "SIZE", value_parser = Bytes::parse)]
    pub(crate) memory: Option<Bytes>,

    /// The most that compressing a message may compute, like 20us [default: as long as it likes]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) cpu: Option<Duration>,

    /// The most that may be left, like 0.35 or 35%: the cheapest setting that leaves no more is advised [default: about the least]
    #[arg(long, value_name = "MOST", value_parser = ratio)]
    pub(crate) ratio: Option<f64>,

    /// How many connections a message of the server goes to, on average [default: as recorded]
    ///
    /// What goes to many can be compressed once for all of them, without context takeover. Of a transcript with times and several
    /// connections that is found out by itself: the same payload, sent over another connection within a second.
    #[arg(long, value_name = "N", value_parser = connections)]
    pub(crate) receivers: Option<NonZeroU64>,

    /// The links that messages are delivered over, with commas between: wpt/3g,'seeds/dialup-56k+loss=1%' [default: none]
    #[arg(long, value_name = "LINKS")]
    pub(crate) link: Vec<String>,

    /// Where they are delivered: sim in virtual time; emu over network namespaces, in real time; sim,emu in both [default: sim]
    ///
    /// In real time a connection's first messages are delivered, as many as are there within 20 s for a setting, a direction and a link, all
    /// repeats together.
    #[arg(long, value_enum, value_name = "WORLDS", value_delimiter = ',', requires = "link")]
    pub(crate) world: Vec<World>,

    /// When messages are sent over a link: as recorded, each once the one before has arrived, or so many a second, like 10/s
    #[arg(long, value_name = "PACE", default_value = "recorded", value_parser = pace)]
    pub(crate) pace: Pace,

    /// How often the messages are delivered over a link with chance in it, and over any in real time; from 1 [default: 5]
    #[arg(long, value_name = "N", value_parser = |text: &str| from_one::<NonZeroU64>(text, None))]
    pub(crate) repeats: Option<NonZeroU64>,

    /// How many times slower than this machine the client computes in the simulated world [default: 4, a telephone]
    #[arg(long, value_name = "FACTOR")]
    pub(crate) slow_client: Option<f64>,

    /// Permessage-deflate alone: no other codec, no dictionary, no policy
    #[arg(long)]
    pub(crate) deflate_only: bool,

    /// The strategies of zlib that are tried, with commas between; each is a grid of 1,440 points
    #[arg(
        long,
        value_enum,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "default"
    )]
    pub(crate) strategy: Vec<Strategy>,

    /// Whether every octet is compressed at every point, or as much as tells points apart
    #[arg(long, value_enum, value_name = "HOW", default_value = "auto")]
    pub(crate) sample: Sample,

    /// How long computing is timed for each direction [default: 8 s]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) timing: Option<Duration>,

    /// The root of every random choice, from 0 to 2^64 - 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// How many threads compress; sizes do not depend on it [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = |text: &str| from_one::<NonZeroUsize>(text, None))]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Go on with what was measured before: the folder RUN, or else the latest under runs/
    ///
    /// Pieces are found by the content of the messages, the codec's version and its settings: what differs is measured anew.
    #[arg(long, value_name = "RUN", num_args = 0..=1, conflicts_with = "no_report")]
    pub(crate) resume: Option<Option<PathBuf>>,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// With the formats table and md, every point and not only the frontier
    #[arg(long)]
    pub(crate) all: bool,

    /// The report's file [default: runs/tune-DATE-TIME/report.html, in UTC]
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Write no report, and keep nothing to go on with
    #[arg(long, conflicts_with = "report")]
    pub(crate) no_report: bool,

    /// Exit 99 where a figure is like this: ratio>0.35, memory>64KiB, p95(delivery_time)>200ms
    ///
    /// Held against what is advised for each direction, or against a setting in brackets. May be given several times. A figure that
    /// nothing has breaks the rule too.
    #[arg(long, value_name = "RULE", value_parser = Rule::read)]
    pub(crate) fail_on: Vec<Rule>,
}

/// How a transcript is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Input {
    /// A message a line
    Text,
    /// A JSON object a line
    Jsonl,
    /// Each message behind its length in four octets, the highest first
    Binary,
    /// An HTTP archive with the messages of WebSockets
    Har,
    /// A capture, pcap or pcapng
    Pcap,
}

/// An end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum End {
    /// Where many connections end
    Server,
    /// A browser, a telephone
    Client,
}

/// zlib's strategies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// For most data
    Default,
    /// For data from a filter
    Filtered,
    /// No matches
    HuffmanOnly,
    /// Matches at distance one
    Rle,
    /// No codes made for the data
    Fixed,
}

/// How much is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sample {
    /// Every octet at every point
    Exact,
    /// As much as tells points apart; the others carry an interval
    Auto,
}

/// When messages are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Pace {
    Recorded,
    OneByOne,
    /// A second.
    Rate(f64),
}

fn connections(text: &str) -> Result<NonZeroU64, String> {
    // More than any machine has, and what each takes can still be multiplied by it: our own choice.
    from_one(text, Some(1_000_000_000))
}

fn cores(text: &str) -> Result<NonZeroU16, String> {
    from_one(text, Some(u64::from(u16::MAX)))
}

fn pace(text: &str) -> Result<Pace, String> {
    match text {
        "recorded" => Ok(Pace::Recorded),
        "one-by-one" => Ok(Pace::OneByOne),
        rate => {
            let rate = rate
                .strip_suffix("/s")
                .and_then(|number| number.trim_end().parse::<f64>().ok());
            let rate = rate.filter(|rate| *rate > 0.0 && *rate <= 1e9).map(Pace::Rate);
            rate.ok_or_else(|| "write it like recorded, one-by-one or 10/s".to_owned())
        }
    }
}

fn time(text: &str) -> Result<Duration, ParseQuantityError> {
    duration::parse(text)
}

fn ratio(text: &str) -> Result<f64, String> {
    let (number, parts) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let number = number.parse::<f64>().ok();
    let ratio = number.map(|number| number / parts);
    let ratio = ratio.filter(|ratio| *ratio > 0.0 && ratio.is_finite());
    ratio.ok_or_else(|| "write it like 0.35 or 35%".to_owned())
}
