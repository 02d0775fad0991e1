//! Measures events: what emitting costs beside `tracing` and OpenTelemetry, and how fast a monitor keeps and delivers them beside NATS JetStream
//! and Redis streams.
//!
//! Every server is a process of its own on the loopback interface, with its files in the same folder; the client is this process. Systems
//! take turns. Events have 128 bytes. The peers' plain protocols are spoken over a socket, so no client library is measured.

mod event_speed {
    pub(super) mod emit_cost;
    pub(super) mod nats;
    pub(super) mod ours;
    pub(super) mod redis;
    pub(super) mod server;
    pub(super) mod wire;
}

use anyhow::Result;
use clap::Parser;
use event_speed::nats::Nats;
use event_speed::ours::Ours;
use event_speed::redis::Redis;
use event_speed::{emit_cost, ours};
use lastmile_bench::spread::Spread;
use lastmile_events::uplink::Durability;
use std::path::PathBuf;
use std::time::Duration;

/// Measures events.
#[derive(Debug, Parser)]
struct Arguments {
    /// How often each system is measured
    #[arg(long, default_value_t = 3)]
    turns: usize,
    /// Measure only systems whose name contains this, or `emit`
    #[arg(long)]
    only: Option<String>,
    /// Measure only this system's programs, not the peers
    #[arg(long)]
    no_peers: bool,
    /// Serve as a monitor in this folder
    #[arg(long, hide = true)]
    serve: Option<PathBuf>,
    /// What the monitor's acknowledgements promise
    #[arg(long, hide = true, default_value = "power")]
    durability: String,
}

/// A system that keeps events, ready to be measured.
enum System {
    Ours(Ours),
    Nats(Nats),
    Redis(Redis),
}

/// How a system is started.
struct Candidate {
    name: &'static str,
    start: fn() -> Result<System>,
    is_peer: bool,
}

const CANDIDATES: [Candidate; 6] = [
    Candidate {
        name: "lastmile, process",
        start: || Ok(System::Ours(Ours::start(Durability::Process)?)),
        is_peer: false,
    },
    Candidate {
        name: "lastmile, power",
        start: || Ok(System::Ours(Ours::start(Durability::Power)?)),
        is_peer: false,
    },
    Candidate {
        name: "JetStream, default",
        start: || Ok(System::Nats(Nats::start(false)?)),
        is_peer: true,
    },
    Candidate {
        name: "JetStream, sync always",
        start: || Ok(System::Nats(Nats::start(true)?)),
        is_peer: true,
    },
    Candidate {
        name: "Redis, everysec",
        start: || Ok(System::Redis(Redis::start("everysec")?)),
        is_peer: true,
    },
    Candidate {
        name: "Redis, always",
        start: || Ok(System::Redis(Redis::start("always")?)),
        is_peer: true,
    },
];

/// Figures in the order in which they are printed, with the aim of the ones that have one.
const FIGURES: [(&str, &str, &str); 10] = [
    ("kept, pipelined", "events/s", "at least 250 k a core"),
    ("  the server's CPU time", "us/event", "at most 4"),
    ("acknowledged one at a time, p50", "us", ""),
    ("acknowledged one at a time, p99", "us", ""),
    ("publisher to subscriber, p50", "us", "at most 300"),
    ("publisher to subscriber, p99", "us", "at most 1000"),
    ("1 to 100 subscribers, p50", "us", ""),
    ("1 to 100 subscribers, p99", "us", "at most 3000"),
    ("query of 1,000 by subject, first", "us", "at most 3000"),
    ("query of 1,000 by subject, warm p50", "us", "at most 3000"),
];

/// The events of a pipelined run; synchronous stores that take one at a time get fewer.
const PIPELINED: u64 = 400_000;
const ONE_AT_A_TIME: u64 = 2_000;
const PUBLISHED: u64 = 1_000;
const SUBSCRIBERS: usize = 100;
const FANNED_OUT: u64 = 300;
/// Bursts of 1,000 events with a subject each, of which a query asks for one.
const BURSTS: u64 = 200;
const QUERIES: usize = 50;

impl System {
    async fn measure(&mut self) -> Result<[f64; FIGURES.len()]> {
        macro_rules! each {
            ($system:ident => $call:expr) => {
                match self {
                    Self::Ours($system) => $call,
                    Self::Nats($system) => $call,
                    Self::Redis($system) => $call,
                }
            };
        }
        let events = if matches!(self, Self::Nats(nats) if nats.syncs_always()) {
            PIPELINED / 20
        } else {
            PIPELINED
        };
        each!(system => system.fill(BURSTS).await)?;
        let (first, warm) = each!(system => system.query(QUERIES).await)?;
        let cpu_before = each!(system => system.server().cpu_time())?;
        let took = each!(system => system.pipelined(events).await)?;
        let cpu = each!(system => system.server().cpu_time())? - cpu_before;
        let single = Percentiles::of(each!(system => system.one_at_a_time(ONE_AT_A_TIME).await)?);
        let published = each!(system => system.deliver(1, PUBLISHED, Duration::from_millis(2)).await)?;
        let published = Percentiles::of(published);
        let fanned_out = each!(system => system.deliver(SUBSCRIBERS, FANNED_OUT, Duration::from_millis(10)).await)?;
        let fanned_out = Percentiles::of(fanned_out);
        Ok([
            events as f64 / took.as_secs_f64(),
            micros(cpu) / events as f64,
            single.p50,
            single.p99,
            published.p50,
            published.p99,
            fanned_out.p50,
            fanned_out.p99,
            micros(first),
            Percentiles::of(warm).p50,
        ])
    }
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// In microseconds.
struct Percentiles {
    p50: f64,
    p99: f64,
}

impl Percentiles {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort();
        let at = |share: f64| times.get(((times.len() - 1) as f64 * share) as usize);
        let of = |share| at(share).map_or(f64::NAN, |time| micros(*time));
        Self {
            p50: of(0.5),
            p99: of(0.99),
        }
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(folder) = &arguments.serve {
        return ours::serve(folder, &arguments.durability);
    }
    let only = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    if only("emit") {
        emit_cost::print(arguments.turns)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let chosen = CANDIDATES
        .iter()
        .filter(|candidate| only(candidate.name) && !(candidate.is_peer && arguments.no_peers));
    let mut rows: Vec<(&Candidate, Vec<[f64; FIGURES.len()]>)> = chosen.map(|candidate| (candidate, vec![])).collect();
    for _ in 0..arguments.turns {
        for (candidate, measured) in &mut rows {
            let figures = runtime.block_on(async { (candidate.start)()?.measure().await });
            match figures {
                Ok(figures) => measured.push(figures),
                Err(error) => println!("skipped: {}: {error:#}", candidate.name),
            }
        }
    }
    for (at, (figure, unit, aim)) in FIGURES.iter().enumerate() {
        let aim = if aim.is_empty() {
            String::new()
        } else {
            format!("; the aim is {aim}")
        };
        println!("{figure} ({unit}{aim}):");
        for (candidate, measured) in &rows {
            let Some(spread) = Spread::of(measured.iter().map(|figures| figures[at]).collect()) else {
                continue;
            };
            println!(
                "  {:<24} {:>10} ({} to {})",
                candidate.name,
                written(spread.median),
                written(spread.min),
                written(spread.max)
            );
        }
    }
    Ok(())
}

fn written(value: f64) -> String {
    if value >= 1000.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}
