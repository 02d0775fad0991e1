//! The command line of `lastmile tune`.

use super::transcript::TranscriptArgs;
use super::{FormatArg, WORLDS, one_of, parse_from_one};
use clap::Args;
use lastmile_codec::message::Strategy;
use lastmile_testbed::settings::World;
use lastmile_tune::record::Sampling;
use lastmile_tune::rules::Rule;
use lastmile_tune::{End, Pace};
use lastmile_units::{ByteCount, ParseQuantityError, duration};
use std::num::{NonZeroU16, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

/// Tune compression for messages: permessage-deflate at every setting, other codecs
///
/// The messages of a WebSocket, or of anything that sends messages, are compressed under every combination of takeover, window, level
/// and mem level, by other codecs, and with dictionaries. The answer says which setting to use for your number of connections and
/// memory limit, its CPU time, its effect on delivery over your users' links, and how to configure servers.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile tune chat.txt                               one message per line
  lastmile tune chat.jsonl --connections 50000 --memory 8GiB --rate 2
  lastmile tune chat.txt --ratio 0.35 --cpu 20us       the cheapest that fits
  lastmile tune page.har --link wpt/3g                 saved by a browser
  lastmile tune app.jsonl --field data --direction-field dir    a log's fields
  lastmile tune app.log --extract 'payload=(.*)$'      the end of a log's lines
  lastmile tune chat.txt --link wpt/3g --world sim,emu  over real kernels, too
  lastmile tune client.pcapng --format csv > points.csv
  lastmile tune chat.txt --fail-on 'ratio>0.35'        exit 99 if larger
  ssh server tcpdump -w - port 80 | lastmile tune -

Rules of --fail-on: ratio, memory, computing (CPU time) of the advised setting,
or of another, 'ratio(deflate:6/w15/m8)>0.31'; memory_total; mean, p50,
p95(delivery_time) ...")]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) messages: TranscriptArgs,

    /// The field that holds a message's direction: sent or received, out or in, send or recv, tx or rx, s2c or c2s [default: all are sent]
    ///
    /// Lines without it are left out and counted.
    #[arg(long, value_name = "FIELD", requires = "field")]
    pub(crate) direction_field: Option<String>,

    /// The field that holds a message's connection, any text or number [default: all are of one]
    ///
    /// Lines without it are left out and counted.
    #[arg(long, value_name = "FIELD", requires = "field")]
    pub(crate) connection_field: Option<String>,

    /// The field that holds a message's time: a number of seconds, or a date as in RFC 3339 [default: none has a time]
    ///
    /// A number counts milliseconds, microseconds or nanoseconds where the field's name ends in _ms, _us or _ns, or where as many seconds would
    /// be more than 126 years.
    #[arg(long, value_name = "FIELD", requires = "field")]
    pub(crate) time_field: Option<String>,

    /// Which end recorded it; messages of that end count as sent [default: the server; for a HAR or a capture, the client]
    #[arg(long, value_name = "END", value_parser = one_of(ENDS))]
    pub(crate) recorded_at: Option<End>,

    /// How many connections are open at once, like 50000, 50_000 or 50k: memory is multiplied by it, and CPU time is measured over as many contexts
    #[arg(long, value_name = "N", default_value = "1", value_parser = connections)]
    pub(crate) connections: NonZeroU64,

    /// How many cores compress at once: without context takeover, that many contexts are enough
    #[arg(long, value_name = "N", default_value = "4", value_parser = cores)]
    pub(crate) cores: NonZeroU16,

    /// Limit on the memory of all connections' contexts together, like 8GiB [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) memory: Option<ByteCount>,

    /// Limit on the CPU time to compress a message, like 20us [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) cpu: Option<Duration>,

    /// Limit on the compression ratio, like 0.35 or 35%: advises the cheapest setting within it [default: about the lowest ratio]
    #[arg(long, value_name = "MOST", value_parser = ratio)]
    pub(crate) ratio: Option<f64>,

    /// How many connections a message of the server goes to, on average [default: as recorded]
    ///
    /// A message to many connections can be compressed once for all of them, without context takeover. In a transcript with times and
    /// several connections, copies are found automatically: the same payload, sent over another connection within a second.
    #[arg(long, value_name = "N", value_parser = connections)]
    pub(crate) receivers: Option<NonZeroU64>,

    /// How many messages a second each connection carries in each direction, like 2 or 0.5/s [default: as recorded, for one connection with times]
    ///
    /// The answer then says how many cores and bits a second all connections take, beside no compression and zlib's default.
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(crate) rate: Option<f64>,

    /// The links that messages are delivered over, separated by commas: wpt/3g,'published/dialup-56k+loss=1%' [default: none]
    #[arg(long, value_name = "LINKS")]
    pub(crate) link: Vec<String>,

    /// Where they are delivered: sim in virtual time; emu over network namespaces, in real time; sim,emu in both [default: sim]
    ///
    /// In real time only a connection's first messages are delivered: those that arrive within 20 s per setting, direction and link, all
    /// repeats together.
    #[arg(long, value_name = "WORLDS", value_parser = one_of(WORLDS), value_delimiter = ',', requires = "link")]
    pub(crate) world: Vec<World>,

    /// When messages are sent over a link: as recorded, each once the previous one has arrived, or at a rate, like 10/s
    #[arg(long, value_name = "PACE", default_value = "recorded", value_parser = pace)]
    pub(crate) pace: Pace,

    /// How often the messages are delivered over a link with randomness, and over any link in real time; from 1 [default: 5]
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_from_one::<NonZeroU64>(text, None))]
    pub(crate) repeats: Option<NonZeroU64>,

    /// How many times slower the client's CPU is than this machine's, in the simulated world [default: 4, a telephone]
    #[arg(long, value_name = "FACTOR")]
    pub(crate) slow_client: Option<f64>,

    /// Only permessage-deflate: no other codec, no dictionary, no policy
    #[arg(long)]
    pub(crate) deflate_only: bool,

    /// The strategies of zlib to try, separated by commas; each adds a grid of 1,440 points
    #[arg(
        long,
        value_name = "NAMES",
        value_parser = one_of(STRATEGIES),
        value_delimiter = ',',
        default_value = "default"
    )]
    pub(crate) strategy: Vec<Strategy>,

    /// Whether every byte is compressed at every point, or as many as it takes to tell points apart
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = one_of(SAMPLINGS))]
    pub(crate) sample: Sampling,

    /// How long CPU time is measured for each direction [default: 8 s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timing: Option<Duration>,

    /// The root of every random choice, from 0 to 2^64 - 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// How many threads compress; sizes do not depend on it [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_from_one::<NonZeroUsize>(text, None))]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Resume an earlier tuning: the folder RUN, or else the latest under runs/
    ///
    /// Stored measurements are found by the content of the messages, the codec's version and its settings; all others are measured again.
    #[arg(long, value_name = "RUN", num_args = 0..=1, conflicts_with = "no_report")]
    pub(crate) resume: Option<Option<PathBuf>>,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// In the formats table and md, show every point and not only the frontier
    #[arg(long)]
    pub(crate) all: bool,

    /// The report's file [default: runs/tune-DATE-TIME/report.html, in UTC]
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Write no report, and store nothing to resume from
    #[arg(long, conflicts_with = "report")]
    pub(crate) no_report: bool,

    /// Exit 99 if a figure is like this: ratio>0.35, memory>64KiB, p95(delivery_time)>200ms
    ///
    /// Checks the setting advised for each direction, or a setting given in brackets. May be given several times. A rule also counts as
    /// broken if nothing has its figure.
    #[arg(long, value_name = "RULE", value_parser = Rule::parse)]
    pub(crate) fail_on: Vec<Rule>,
}

/// The ends of a connection.
const ENDS: &[(&str, &str, End)] = &[
    ("server", "The end that many connections share", End::Server),
    ("client", "A browser, a telephone", End::Client),
];

/// zlib's strategies.
const STRATEGIES: &[(&str, &str, Strategy)] = &[
    ("default", "For most data", Strategy::Default),
    ("filtered", "For data from a filter", Strategy::Filtered),
    ("huffman-only", "No matches", Strategy::HuffmanOnly),
    ("rle", "Only matches at distance one", Strategy::Rle),
    ("fixed", "Fixed Huffman codes, none made for the data", Strategy::Fixed),
];

/// How much is compressed.
const SAMPLINGS: &[(&str, &str, Sampling)] = &[
    ("exact", "Every byte at every point", Sampling::Exact),
    (
        "auto",
        "As many bytes as it takes to tell points apart; estimated points carry an interval",
        Sampling::Auto,
    ),
];

fn connections(text: &str) -> Result<NonZeroU64, String> {
    // More than any machine has, and small enough to multiply a connection's memory by: our own choice.
    const CONNECTIONS_MAX: u64 = 1_000_000_000;
    let digits = text.replace('_', "");
    let (number, thousands) = match digits.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1_000),
        None => match digits.strip_suffix('M') {
            Some(number) => (number, 1_000_000),
            None => (digits.as_str(), 1),
        },
    };
    let count = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(thousands));
    let count = count
        .filter(|count| *count <= CONNECTIONS_MAX)
        .and_then(NonZeroU64::new);
    count.ok_or_else(|| format!("write a whole number from 1 to {CONNECTIONS_MAX}, like 50000, 50_000 or 50k"))
}

/// A size with its unit; the `B` may be left out: `8G` is `8GB`, and `8Gi` is `8GiB`.
fn size(text: &str) -> Result<ByteCount, ParseQuantityError> {
    ByteCount::parse(text).or_else(|refused| {
        let has_prefix = text.ends_with(|last: char| last.is_ascii_alphabetic());
        let whole = has_prefix.then(|| ByteCount::parse(&format!("{text}B")).ok()).flatten();
        whole.ok_or(refused)
    })
}

fn cores(text: &str) -> Result<NonZeroU16, String> {
    parse_from_one(text, Some(u64::from(u16::MAX)))
}

fn pace(text: &str) -> Result<Pace, String> {
    match text {
        "recorded" => Ok(Pace::Recorded),
        "one-by-one" => Ok(Pace::OneByOne),
        text => {
            let rate = text.strip_suffix("/s").and_then(|_| rate(text).ok());
            rate.map(Pace::Rate)
                .ok_or_else(|| "write it like recorded, one-by-one or 10/s".to_owned())
        }
    }
}

/// Messages a second; the `/s` may be left out.
fn rate(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("/s").unwrap_or(text).trim_end().parse::<f64>().ok();
    let rate = number.filter(|rate| *rate > 0.0 && *rate <= 1e9);
    rate.ok_or_else(|| "write a number of messages a second above 0, like 2 or 0.5/s".to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes_are_read_as_people_write_them() {
        for (text, count) in [
            ("50000", 50_000),
            ("50_000", 50_000),
            ("50k", 50_000),
            ("2M", 2_000_000),
        ] {
            assert_eq!(connections(text).map(NonZeroU64::get), Ok(count), "{text}");
        }
        for text in ["0", "k", "1e9", "-1", "5 k", "2000M", "1.5k", ""] {
            assert!(connections(text).is_err(), "{text}");
        }
        assert_eq!(size("8G"), ByteCount::parse("8GB"));
        assert_eq!(size("8Gi"), ByteCount::parse("8GiB"));
        assert_eq!(size("64 KiB"), ByteCount::parse("64KiB"));
        assert!(size("8").is_err() && size("8x").is_err());
    }
}
