//! The arguments of `lastmile load`.

use super::{FormatArg, WORLDS, one_of, parse_from_one};
use clap::{Args, ValueEnum};
use lastmile_load::plan::{HttpVersion, STREAMS};
use lastmile_load::rate::{RateSweep, RequestRate};
use lastmile_load::server_model::ServiceTime;
use lastmile_load::slo::Limit;
use lastmile_load::target::Target;
use lastmile_testbed::settings::World;
use lastmile_units::{ByteCount, ParseQuantityError};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// Load an HTTP server, and find out how much it carries
///
/// Requests are sent at times of their own, whatever the server does, and response times count from when each request should have been
/// sent: a server that stalls is seen to stall. Each run checks itself: it reports how late the generator sent, what it skipped and what CPU
/// time it used, and does not count where that spoils the figures. Ctrl-C ends a run, and keeps what was measured.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile load http://localhost:8000/ --rate 100           one rate
  lastmile load http://localhost:8000/ --sweep 10..160/10   the curve
  lastmile load http://localhost:8000/ --slo 'p99<300ms'    the highest rate
  lastmile load http://localhost:8000/ --link wpt/3g        behind a link
  lastmile load http://localhost:8000/ --closed 8           8 users who wait
  lastmile load https://localhost:8443/ --http2             over HTTP/2
  lastmile load http://server/ --world sim --workers 4      a modelled server

Exits with 99 where the figures of a run do not count, or no rate keeps the
limit; with 4 where every request failed; with 130 where it was stopped.")]
pub(crate) struct LoadArgs {
    /// The server: http://HOST:PORT/PATH or https://HOST/PATH; in the simulated world, its name alone
    #[arg(value_name = "URL")]
    pub(crate) target: Target,

    /// Requests per second [default: 10]
    #[arg(long, value_name = "RATE", conflicts_with_all = ["sweep", "closed", "schedule"])]
    pub(crate) rate: Option<RequestRate>,

    /// A run at each of several rates: 10..160/10 (from 10 to 160 by 10), or 50,75,100
    #[arg(long, value_name = "RATES", conflicts_with_all = ["closed", "schedule", "slo", "to_rate"])]
    pub(crate) sweep: Option<RateSweep>,

    /// A run for each of several sizes of the response: 1kB..64kB doubles, 1kB,5kB lists; {size} in URL stands for the number of bytes
    #[arg(long, value_name = "SIZES", value_parser = sizes, conflicts_with_all = ["sweep", "slo"])]
    pub(crate) sizes: Option<Sizes>,

    /// Find the highest rate that keeps this limit: 'p99<300ms,errors<0.1%'
    ///
    /// The statistics are mean, median, p0 to p100 and max, of the response time; a failed request counts as slower than any bound. The search
    /// doubles the rate from --rate, then bisects; most of the runs at a rate decide (--runs-per-rate), and each repeat has arrivals of its own. A line
    /// on stderr tells the expected time, and one what each run showed.
    #[arg(long, value_name = "LIMIT", conflicts_with_all = ["closed", "schedule", "to_rate"])]
    pub(crate) slo: Option<Limit>,

    /// The bracket at which a search ends, as a share of the rate
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share, requires = "slo")]
    pub(crate) resolution: f64,

    /// Runs per rate; the majority decides whether the rate meets the limit
    #[arg(long, value_name = "N", default_value = "3", value_parser = |text: &str| parse_from_one::<NonZeroU32>(text, Some(101)), requires = "slo")]
    pub(crate) runs_per_rate: NonZeroU32,

    /// No higher rate is searched
    #[arg(long, value_name = "RATE", default_value = "100000", requires = "slo")]
    pub(crate) highest: RequestRate,

    /// The rate at the end of the run, where it changes linearly from --rate
    #[arg(long, value_name = "RATE", requires = "rate", conflicts_with = "arrivals")]
    pub(crate) to_rate: Option<RequestRate>,

    /// A recorded schedule: a file with a start time in seconds per line, ascending
    #[arg(long, value_name = "FILE", conflicts_with = "closed")]
    pub(crate) schedule: Option<PathBuf>,

    /// A closed loop of so many users instead: each awaits its response, thinks, and sends the next
    #[arg(long, value_name = "USERS", conflicts_with_all = ["clients", "arrivals", "session"], value_parser = |text: &str| parse_from_one::<NonZeroU32>(text, Some(100_000)))]
    pub(crate) closed: Option<NonZeroU32>,

    /// How requests arrive
    #[arg(long, value_enum, default_value_t)]
    pub(crate) arrivals: ArrivalProcess,

    /// How long requests are sent, in each run
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub(crate) duration: Duration,

    /// The beginning of each run that is not measured [default: none; for --slo a tenth of the duration, at most 1s]
    #[arg(long, value_name = "TIME", value_parser = lastmile_units::duration::parse)]
    pub(crate) warm_up: Option<Duration>,

    /// How often each rate is measured, or a search repeated, each time with other random choices [default: 1; 3 for --slo]
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_from_one::<NonZeroU32>(text, Some(1000)))]
    pub(crate) repeats: Option<NonZeroU32>,

    /// Clients that share the rate, each with connections of its own
    #[arg(long, value_name = "N", default_value = "1", value_parser = |text: &str| parse_from_one::<NonZeroU32>(text, Some(100_000)))]
    pub(crate) clients: NonZeroU32,

    /// The maximum number of open connections of each client; further requests wait, up to their timeout
    #[arg(long, value_name = "N", default_value = "10000", value_parser = |text: &str| parse_from_one::<NonZeroU32>(text, Some(1_000_000)))]
    pub(crate) connections: NonZeroU32,

    /// Requests per connection: 1 opens a connection for each [default: as many as the server allows]
    #[arg(long, value_name = "K", value_parser = |text: &str| parse_from_one::<NonZeroU32>(text, None))]
    pub(crate) requests_per_connection: Option<NonZeroU32>,

    /// Speak HTTP/2 (h2 over TLS; without TLS the server must know: h2c by prior knowledge)
    #[arg(long)]
    pub(crate) http2: bool,

    /// The maximum number of concurrent streams of a connection [default: 100; with --closed 1, and N users share a connection]
    #[arg(long, value_name = "N", requires = "http2", value_parser = |text: &str| parse_from_one::<NonZeroU32>(text, Some(1_000_000)))]
    pub(crate) streams: Option<NonZeroU32>,

    /// Requests per session: each follows the one before it; the rate is that of sessions
    #[arg(long, value_name = "K", requires = "expected_response", value_parser = |text: &str| parse_from_one::<NonZeroU32>(text, Some(1_000_000)))]
    pub(crate) session: Option<NonZeroU32>,

    /// The time between a response and the next request of a session, or of a user in a closed loop
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = lastmile_units::duration::parse)]
    pub(crate) think_time: Duration,

    /// The response time that the schedule of a session assumes; a slower response makes the next request late, and that counts
    #[arg(long, value_name = "TIME", requires = "session", value_parser = lastmile_units::duration::parse)]
    pub(crate) expected_response: Option<Duration>,

    /// The timeout of a request, from when it should be sent
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub(crate) timeout: Duration,

    /// The timeout of a handshake
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time)]
    pub(crate) connect_timeout: Duration,

    /// A field of the request: 'Accept-Encoding: gzip'; may be given more than once
    #[arg(long, short = 'H', value_name = "FIELD", value_parser = header_field)]
    pub(crate) header: Vec<(http::HeaderName, http::HeaderValue)>,

    /// The worlds, separated by commas: sim loads a modelled server in virtual time; emu, the server at URL (named machine in tables where there is no --link) [default: emu]
    #[arg(long, value_name = "WORLDS", value_parser = one_of(WORLDS), value_delimiter = ',')]
    pub(crate) world: Vec<World>,

    /// The link between generator and server: wpt/3g, 'wpt/3g+loss=1%'; its server is on this machine's loopback address
    #[arg(long, value_name = "LINK")]
    pub(crate) link: Option<String>,

    /// The modelled server's workers: how many requests it serves at once
    #[arg(long, value_name = "N", default_value = "1", value_parser = |text: &str| parse_from_one::<NonZeroU32>(text, Some(1_000_000)))]
    pub(crate) workers: NonZeroU32,

    /// The modelled server's service time: 20ms, exponential:20ms, lognormal:20ms:0.5 (the mean, and the deviation as a share of it)
    #[arg(long, value_name = "TIME", default_value = "1ms")]
    pub(crate) service_time: ServiceTime,

    /// The modelled server's workers accept connections, and so many wait until one is free: further SYNs are dropped [default: accepted at once]
    #[arg(long, value_name = "N")]
    pub(crate) backlog: Option<u32>,

    /// The size of the modelled server's response bodies
    #[arg(long, value_name = "SIZE", default_value = "1kB")]
    pub(crate) body: ByteCount,

    /// The generator's threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_from_one::<NonZeroU32>(text, Some(1024)))]
    pub(crate) threads: Option<NonZeroU32>,

    /// The root of every random choice, from 0 to 2^64 - 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Load a server that is neither on this machine nor in a private network: you must have its owner's permission
    #[arg(long)]
    pub(crate) i_may_load_this: bool,

    /// Accept certificates of the authorities in this PEM file, rather than of those that this machine trusts
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,

    /// Accept any certificate
    #[arg(long, conflicts_with = "ca")]
    pub(crate) insecure: bool,

    /// Write the packets to this file, as pcap, and check the schedule by their time stamps: as root, or behind --link
    #[arg(long, value_name = "FILE")]
    pub(crate) capture: Option<PathBuf>,

    /// Write the response times of all measured runs to this file, as an HdrHistogram log
    #[arg(long, value_name = "FILE")]
    pub(crate) hdr: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// The report's file [default: none]
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// The longest warm-up of a search by default: our own choice. At tens of thousands of requests per second, a generator that opens all its connections
/// at once may fall behind, and needs some 0.3 s to catch up.
const SEARCH_WARM_UP_MAX: Duration = Duration::from_secs(1);

impl LoadArgs {
    /// The version of HTTP.
    pub(crate) fn http_version(&self) -> HttpVersion {
        if !self.http2 {
            return HttpVersion::Http11;
        }
        let by_default = if self.closed.is_some() {
            NonZeroU32::MIN
        } else {
            STREAMS
        };
        HttpVersion::Http2 {
            streams: self.streams.unwrap_or(by_default),
        }
    }

    /// The beginning of each run that is not measured.
    pub(crate) fn warm_up(&self) -> Duration {
        let by_default = if self.slo.is_some() {
            (self.duration / 10).min(SEARCH_WARM_UP_MAX)
        } else {
            Duration::ZERO
        };
        self.warm_up.unwrap_or(by_default)
    }
}

/// How requests arrive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalProcess {
    /// At equal intervals
    #[default]
    Constant,
    /// At random, independently of each other, as from many users
    Poisson,
}

/// A time above 0.
fn time(text: &str) -> Result<Duration, String> {
    let time = lastmile_units::duration::parse(text).map_err(|error: ParseQuantityError| error.to_string())?;
    (!time.is_zero())
        .then_some(time)
        .ok_or_else(|| "it must be longer than 0; write it like 10s".to_owned())
}

/// Sizes of responses, ascending where they are a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sizes(pub(crate) Vec<ByteCount>);

/// `1kB..64kB`, from the first by doubling up to the last, or `1kB,5kB`.
fn sizes(text: &str) -> Result<Sizes, String> {
    let size = |text: &str| {
        let size = ByteCount::parse(text.trim()).map_err(|error| error.to_string())?;
        if size.get() == 0 {
            Err("a size must be above 0".to_owned())
        } else {
            Ok(size)
        }
    };
    let Some((first, last)) = text.split_once("..") else {
        return text.split(',').map(size).collect::<Result<_, _>>().map(Sizes);
    };
    let (first, last) = (size(first)?, size(last)?);
    let doubled = std::iter::successors(Some(first.get()), |size| size.checked_mul(2));
    let sizes: Vec<ByteCount> = doubled
        .take_while(|size| *size <= last.get())
        .map(ByteCount::new)
        .collect();
    if sizes.is_empty() {
        return Err("it ends below its beginning; write it like 1kB..64kB".to_owned());
    }
    Ok(Sizes(sizes))
}

/// A share above 0 and below 1, in per cent.
fn share(text: &str) -> Result<f64, String> {
    let per_cent = text
        .strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok());
    let share = per_cent
        .map(|value| value / 100.0)
        .filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "write it like 2%".to_owned())
}

/// `Name: value`.
fn header_field(text: &str) -> Result<(http::HeaderName, http::HeaderValue), String> {
    let refused = || "it is no field; write it like 'Accept-Encoding: gzip'".to_owned();
    let (name, value) = text.split_once(':').ok_or_else(refused)?;
    let name: http::HeaderName = name.trim().parse().map_err(|_| refused())?;
    if matches!(name.as_str(), "connection" | "content-length" | "transfer-encoding") {
        return Err(format!(
            "the generator decides on {name}; see --requests-per-connection"
        ));
    }
    Ok((name, value.trim().parse().map_err(|_| refused())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_double_up_to_the_last() {
        let read = |text: &str| sizes(text).map(|sizes| sizes.0.iter().map(|size| size.get()).collect::<Vec<_>>());
        assert_eq!(read("1kB..9kB"), Ok(vec![1_000, 2_000, 4_000, 8_000]));
        assert_eq!(read("1kB, 5 kB"), Ok(vec![1_000, 5_000]));
        for wrong in ["", "1", "0B", "2kB..1kB", "1kB.."] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_field_is_read_and_one_that_frames_the_request_is_refused() {
        assert_eq!(
            header_field("Accept-Encoding: gzip").map(|(name, value)| (name.to_string(), value)),
            Ok(("accept-encoding".to_owned(), http::HeaderValue::from_static("gzip")))
        );
        assert!(
            header_field("Connection: close")
                .unwrap_err()
                .contains("--requests-per-connection")
        );
        assert!(header_field("no field").unwrap_err().contains("write it like"));
    }
}
