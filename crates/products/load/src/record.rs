//! The record of `lastmile load`: what a server carries at each rate, and whether the generator kept its own schedule.

mod as_run;

use lastmile_report::record::{Chart, Doubt};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A load, and what was measured under it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Load {
    /// `lastmile/load/1`.
    #[cfg_attr(test, schemars(extend("const" = Load::SCHEMA)))]
    pub schema: String,
    /// The version of lastmile.
    pub version: String,
    /// The root of every random choice.
    pub seed: u64,
    /// The URL.
    pub target: String,
    /// The link between the generator and the server. Null where there is none.
    pub link: Option<String>,
    /// The modelled server of the simulated world, in words. Null where nothing was simulated.
    pub model: Option<String>,
    /// What was asked of the server.
    pub plan: LoadPlan,
    /// Each run, in the order in which they were made.
    pub runs: Vec<LoadRun>,
    /// The knee of the curve in each world with runs at three rates or more.
    pub knees: Vec<Knee>,
    /// The highest rate within the limit, in each world where it was searched.
    pub limits: Vec<RateLimit>,
    /// Response time against rate, and the distribution of response times.
    pub charts: Vec<Chart>,
    /// What makes the figures suspect.
    pub doubts: Vec<Doubt>,
}

/// What was asked of the server, in every run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct LoadPlan {
    /// How requests arrive: `constant`, `poisson`, `ramp`, `recorded`, or `closed`.
    pub arrivals: String,
    /// How long requests arrive in a run, in seconds.
    pub duration_s: f64,
    /// The beginning of each run that is not measured, in seconds.
    pub warm_up_s: f64,
    /// Clients, each with its own connections.
    pub clients: u64,
    /// The maximum number of connections of each client.
    pub connections_per_client: u64,
    /// The version of HTTP: `HTTP/1.1` or `HTTP/2`.
    #[serde(default = "http_1_1")]
    pub http_version: String,
    /// The maximum number of concurrent streams of a connection. Null over HTTP/1.1.
    #[serde(default)]
    pub max_concurrent_streams: Option<u64>,
    /// Users of a closed loop. Null in an open one.
    #[serde(default)]
    pub users: Option<u64>,
    /// Requests per connection. Null where a connection stays open.
    pub requests_per_connection: Option<u64>,
    /// Requests of a session, which follow each other.
    pub requests_per_session: u64,
    /// The think time between them, or in a closed loop, in seconds.
    pub think_time_s: f64,
    /// The response time that the schedule of a session assumes, in seconds.
    pub expected_response_time_s: f64,
    /// The timeout of a request, from when it should be sent, in seconds.
    pub timeout_s: f64,
    /// The timeout of a handshake, in seconds.
    pub connect_timeout_s: f64,
}

/// Records of before HTTP/2 was spoken do not say the version.
fn http_1_1() -> String {
    "HTTP/1.1".to_owned()
}

/// One run at one rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct LoadRun {
    /// `sim`, `emu` (real kernels and an emulated link) or `machine` (real sockets of this machine, which `--world emu` uses without a link).
    pub world: String,
    /// The intended rate, in requests per second. Null in a closed loop.
    pub rate: Option<f64>,
    /// The size of a response's body that was asked for, in bytes. Null where sizes are not varied.
    pub size: Option<u64>,
    /// The seed of its arrivals.
    pub seed: u64,
    /// What the run was made for: `measurement`, or `search` for the highest rate within a limit.
    pub purpose: RunPurpose,
    /// Whether its figures count.
    pub valid: bool,
    /// Why they do not. Null where they do.
    pub why_invalid: Option<String>,
    /// The measured time, in seconds.
    pub span_s: f64,
    /// Requests that were due.
    pub intended: u64,
    /// Requests that were begun.
    pub sent: u64,
    /// Requests that were completed.
    pub completed: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Failed requests by cause.
    pub errors: BTreeMap<String, u64>,
    /// What tells those of one cause apart, where that is known, with the number of requests: the status codes under `status`, why handshakes
    /// failed under `tls`, the codes of RST_STREAM under `stream-reset`.
    #[serde(default)]
    pub error_reasons: BTreeMap<String, BTreeMap<String, u64>>,
    /// Requests that were sent again since the server had closed an idle connection.
    pub retries: u64,
    /// Requests without a response when the run was stopped.
    pub unfinished: u64,
    /// Requests that were due and not begun when the run was stopped.
    pub skipped: u64,
    /// Requests that waited for a free connection.
    pub queued: u64,
    /// Requests that were due, per second.
    pub offered_rate: f64,
    /// Requests that were completed per second, while requests were sent.
    pub transaction_rate: f64,
    /// Bits of their bodies per second.
    pub goodput_bit_per_s: f64,
    /// Failed requests as a share of those that ended. Null where none did.
    pub error_rate: Option<f64>,
    /// Jain's index of the clients' completed requests. Null where there is one client, or none was completed.
    pub fairness: Option<f64>,
    /// The distributions of times, by name: `response`, `service`, `lateness`, `local_queue`, `connect`, `tls`, `first_byte`, `transfer`,
    /// `connection_duration`, `round_trip`.
    pub times: BTreeMap<String, TimeDistribution>,
    /// Response times in seconds, each with the share of completed requests that it was not exceeded in.
    pub response_cumulative: Vec<[f64; 2]>,
    /// Connections that were opened.
    pub connections: u64,
    /// The largest number of connections that were open at once.
    pub connections_max: u64,
    /// Bytes received, heads included.
    pub bytes_received: u64,
    /// Segments that the generator's TCP sent again. Null where they are not known.
    pub retransmissions: Option<u64>,
    /// Segments that opened a connection, and that a modelled server dropped as its backlog was full. Null where that is not known.
    pub listen_drops: Option<u64>,
    /// What was used of the link while requests were sent, warm-up included. Null where there is none.
    #[serde(default)]
    pub link: Option<LinkUse>,
    /// How well the generator kept its schedule, and what that cost.
    pub self_check: SelfCheck,
}

/// What a run was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunPurpose {
    /// Its figures.
    Measurement,
    /// Finding the highest rate within a limit.
    Search,
}

/// A distribution of times, in seconds, to three digits; the mean is exact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct TimeDistribution {
    /// How many.
    pub n: u64,
    /// The mean.
    pub mean: f64,
    /// The population standard deviation.
    pub population_sd: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p99_9: f64,
    /// The longest.
    pub max: f64,
}

/// What a run used of a link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct LinkUse {
    /// Towards the generator.
    pub down: DirectionUse,
    /// Towards the server.
    pub up: DirectionUse,
}

/// What a run used of one direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct DirectionUse {
    /// Its rate, in bits per second. Null where it is unlimited.
    pub rate_bit_per_s: Option<f64>,
    /// What it sent, headers and framing included, as a share of that. Null where it is unlimited.
    pub utilisation: Option<f64>,
    /// Packets that its queue dropped.
    pub dropped_by_queue: u64,
    /// Packets that it lost at random.
    pub lost: u64,
}

/// The generator's own figures. Its lateness is among the times of the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SelfCheck {
    /// The most requests that were sent within a millisecond.
    pub sent_per_ms_max: u64,
    /// The most requests that were due within a millisecond.
    pub due_per_ms_max: u64,
    /// CPU time of the generator, in seconds. Null in the simulated world, where it computes nothing.
    pub cpu_s: Option<f64>,
    /// That as a share of one core.
    pub cpu_share: Option<f64>,
    /// That per request that was sent, in seconds.
    pub cpu_per_request_s: Option<f64>,
    /// The number of threads.
    pub threads: u64,
    /// The mean number of requests in flight while requests were sent, by counting them. Null where the run was stopped.
    #[serde(default)]
    pub in_flight_mean: Option<f64>,
    /// The same by Little's law: from the transaction rate and the response times. Where the two differ, the figures do not count.
    #[serde(default)]
    pub in_flight_by_law: Option<f64>,
    /// The same by the kernel's time stamps of packets. Null where there is no capture, or it has not each request.
    pub capture: Option<CapturedSchedule>,
}

/// How late requests were sent, by the time stamps of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct CapturedSchedule {
    /// The requests that it has.
    pub requests: u64,
    /// The median of how late they were, in seconds.
    pub late_p50: f64,
    /// The 99th percentile.
    pub late_p99: f64,
    /// The longest.
    pub late_max: f64,
    /// The most requests within any millisecond.
    pub sent_per_ms_max: u64,
}

/// Fewer completed requests than this are few: one more or less is a tenth of the rate. Our own choice.
pub const FEW_COMPLETIONS: u64 = 10;
/// A link of which this share is in use is full: what is left is idle by chance. Our own choice.
const FULL_UTILISATION: f64 = 0.97;

impl LoadRun {
    /// Whether requests ended, and every one of them failed.
    pub const fn has_failed(&self) -> bool {
        self.completed == 0 && self.failed > 0
    }

    /// Whether so few requests were completed while requests were sent that their rate and goodput are uncertain.
    pub fn has_few_completions(&self) -> bool {
        self.transaction_rate * self.span_s < FEW_COMPLETIONS as f64 - 0.5
    }

    /// Bits of response bodies that were due per second. None in a closed loop, whose users wait, and where no response shows a size.
    fn due_bit_per_s(&self) -> Option<f64> {
        let has_size = self.rate.is_some() && self.transaction_rate > 0.0;
        has_size.then(|| self.offered_rate * self.goodput_bit_per_s / self.transaction_rate)
    }

    /// Whether its link is full: more is due than it carries, or hardly any of its time is left.
    pub fn fills_link(&self) -> bool {
        let is_used_up = self.link.and_then(|link| link.utilisation()) >= Some(FULL_UTILISATION);
        is_used_up || self.exceeded_rates().is_some()
    }

    /// Bits of response bodies that are due per second, and those that its link carries, where these are fewer.
    pub fn exceeded_rates(&self) -> Option<(f64, f64)> {
        let carried = self.link?.down.rate_bit_per_s?;
        let due = self.due_bit_per_s()?;
        (due > carried).then_some((due, carried))
    }
}

impl LinkUse {
    /// The utilisation of its fuller direction.
    pub fn utilisation(&self) -> Option<f64> {
        let both = [self.down.utilisation, self.up.utilisation];
        both.into_iter().flatten().max_by(f64::total_cmp)
    }

    /// Packets that its queues dropped, or that it lost at random.
    pub const fn drops(&self) -> u64 {
        self.down.dropped_by_queue + self.down.lost + self.up.dropped_by_queue + self.up.lost
    }
}

/// The knee of a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Knee {
    /// The world.
    pub world: String,
    /// The rate with the greatest ratio of transaction rate to mean response time (Kleinrock 1979: the greatest power).
    pub rate: f64,
    /// The mean response time there, in seconds.
    pub response_time_mean: f64,
    /// The highest rate whose requests were completed as fast as they came: at least 98 % of them. Null where there is none.
    pub carried_rate_max: Option<f64>,
}

/// The highest rate within a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct RateLimit {
    /// The world.
    pub world: String,
    /// The limit: `p99<300ms, errors<0.1%`.
    pub limit: String,
    /// The rate: the median over repeats. Null where even the lowest rate breaks the limit.
    pub rate: Option<f64>,
    /// 95 % interval of the mean over repeats. Null where there are too few, or they do not differ.
    pub ci95: Option<[f64; 2]>,
    /// The rate of each repeat, whose arrivals have a seed of their own.
    pub repeats: Vec<f64>,
    /// The width of the last bracket, as a share of the rate.
    pub resolution: f64,
    /// What was broken just above, or where there is no rate at the lowest: a rule of the limit, or what the generator or the machine did. Null where
    /// no higher rate was tried.
    pub broken_by: Option<String>,
    /// Whether that was the generator or the machine, and not the server: the server may keep the limit at higher rates, too.
    #[serde(default)]
    pub is_lower_bound: bool,
    /// The repeats whose last runs went on to disagree about the limit: their rates are less certain.
    #[serde(default)]
    pub unsettled: u64,
}

impl Load {
    /// The name of this record's shape.
    pub const SCHEMA: &'static str = "lastmile/load/1";

    /// The runs that the answer rests on: those that measure, and of each search that found no rate the last, at its lowest rate.
    pub fn answering_runs(&self) -> Vec<&LoadRun> {
        let lowest = |limit: &RateLimit| self.runs.iter().rfind(|run| run.world == limit.world);
        let without_rate = self.limits.iter().filter(|limit| limit.rate.is_none());
        let measuring = self.runs.iter().filter(|run| run.purpose == RunPurpose::Measurement);
        measuring.chain(without_rate.filter_map(lowest)).collect()
    }
}
