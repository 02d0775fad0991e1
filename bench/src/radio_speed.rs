//! Measures the simulated radio on one core: frames per second of saturated stations by their number, and web clients and a bulk transfer
//! in virtual seconds per second, beside ns-3 in the same run where it is installed.
//!
//! Each prints a line for people, then one for machines.

mod radio_speed {
    pub(super) mod ns3;
}

use anyhow::{Result, anyhow};
use clap::Parser;
use lastmile_bench::radio::{RadioRun, STATIONS, run};
use lastmile_bench::spread::Spread;
use lastmile_bench::wireless_web::{self, OfferedLoad, WirelessRun};
use radio_speed::ns3::Ns3;
use std::time::Duration;

/// How often each runs; odd, so that there is a median.
const RUNS: usize = 5;
/// Packets of each run of saturated stations.
const PACKETS: u64 = 200_000;

/// What both simulators run. Ours runs longer, since it would be over before a clock can tell.
struct Scenario {
    name: &'static str,
    work: OfferedLoad,
    clients: u32,
    ours: Duration,
    ns3: Duration,
}

const SCENARIOS: [Scenario; 5] = [
    Scenario {
        name: "1 client, 100 requests/s of 1 kB, a connection each",
        work: OfferedLoad::Requests(100.0),
        clients: 1,
        ours: Duration::from_secs(200),
        ns3: Duration::from_secs(5),
    },
    Scenario {
        name: "1 client, each request after the last response",
        work: OfferedLoad::Saturating,
        clients: 1,
        ours: Duration::from_secs(200),
        ns3: Duration::from_secs(5),
    },
    Scenario {
        name: "20 clients, 4 requests/s each",
        work: OfferedLoad::Requests(4.0),
        clients: 20,
        ours: Duration::from_secs(50),
        ns3: Duration::from_secs(2),
    },
    Scenario {
        name: "100 clients, 0.8 requests/s each",
        work: OfferedLoad::Requests(0.8),
        clients: 100,
        ours: Duration::from_secs(20),
        ns3: Duration::from_secs(1),
    },
    Scenario {
        name: "a bulk transfer",
        work: OfferedLoad::Bulk,
        clients: 1,
        ours: Duration::from_secs(200),
        ns3: Duration::from_secs(10),
    },
];

/// Measures the simulated radio.
#[derive(Debug, Parser)]
struct Arguments {
    /// Measure only the scenarios whose name contains this; "saturated" is the one without TCP
    #[arg(long, default_value = "")]
    only: String,
    /// Leave ns-3 out
    #[arg(long)]
    without_ns3: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if "saturated".contains(&arguments.only) {
        saturated();
    }
    let scenarios: Vec<&Scenario> = SCENARIOS
        .iter()
        .filter(|scenario| scenario.name.contains(&arguments.only))
        .collect();
    if scenarios.is_empty() {
        return Ok(());
    }
    beside_ns3(&scenarios, arguments.without_ns3)
}

/// Saturated stations, without TCP.
fn saturated() {
    let mut runs = STATIONS.map(|_| Vec::new());
    for _ in 0..RUNS {
        for (stations, runs) in STATIONS.iter().zip(&mut runs) {
            runs.push(run(*stations, PACKETS));
        }
    }
    println!(
        "frames per second of a saturated 802.11b radio on one core, ACKs included: median of {RUNS} runs (least to most)"
    );
    for (stations, runs) in STATIONS.iter().zip(&mut runs) {
        runs.sort_by_key(|run| run.wall);
        let rate = |run: &RadioRun| run.frames as f64 / run.wall.as_secs_f64();
        let (fastest, median, slowest) = (&runs[0], &runs[RUNS / 2], &runs[RUNS - 1]);
        println!(
            "{stations:>3} stations {:.2} M/s ({:.2} to {:.2}); {:.0} times real time",
            rate(median) / 1e6,
            rate(slowest) / 1e6,
            rate(fastest) / 1e6,
            median.virtual_time.as_secs_f64() / median.wall.as_secs_f64(),
        );
    }
    for (stations, runs) in STATIONS.iter().zip(&runs) {
        let median = &runs[RUNS / 2];
        println!(
            r#"{{"bench": "radio_speed", "stations": {stations}, "frames": {}, "packets": {}, "wall_seconds": {:.6}, "frames_per_second": {:.0}}}"#,
            median.frames,
            median.packets,
            median.wall.as_secs_f64(),
            median.frames as f64 / median.wall.as_secs_f64(),
        );
    }
}

/// Web clients and a bulk transfer, with TCP and HTTP, in turns with ns-3.
fn beside_ns3(scenarios: &[&Scenario], without_ns3: bool) -> Result<()> {
    let ns3 = if without_ns3 {
        Err(anyhow!("it was not asked for"))
    } else {
        Ns3::build()
    };
    if let Err(missing) = &ns3 {
        eprintln!("skipped: ns-3 beside it: {missing:#}");
    }
    println!("virtual seconds per second on one core, 802.11b at 1 m, with TCP: median of {RUNS} runs (least to most)");
    for scenario in scenarios {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            ours.push(wireless_web::run(scenario.work, scenario.clients, scenario.ours)?);
            if let Ok(ns3) = &ns3 {
                theirs.push(ns3.run(scenario.work, scenario.clients, scenario.ns3)?);
            }
        }
        tell(scenario, "lastmile", &ours);
        tell(scenario, "ns-3", &theirs);
        if let (Some(ours), Some(theirs)) = (speed(&ours), speed(&theirs)) {
            println!("  {:.0} times as fast as ns-3", ours.median / theirs.median);
        }
    }
    Ok(())
}

fn speed(runs: &[WirelessRun]) -> Option<Spread> {
    Spread::of(runs.iter().map(WirelessRun::times_real_time).collect())
}

fn tell(scenario: &Scenario, simulator: &str, runs: &[WirelessRun]) {
    let (Some(speed), Some(run)) = (speed(runs), runs.first()) else {
        return;
    };
    let carried = match scenario.work {
        OfferedLoad::Bulk => format!("{:.2} Mbit/s", run.bulk_bits_per_second() / 1e6),
        OfferedLoad::Requests(_) | OfferedLoad::Saturating => format!(
            "{:.1} requests/s, {:.2} ms each",
            run.requests_per_second(),
            run.response_time.as_secs_f64() * 1e3
        ),
    };
    println!(
        "{}: {simulator} {:.1} times real time ({:.1} to {:.1}); {carried}",
        scenario.name, speed.median, speed.min, speed.max
    );
    println!(
        r#"{{"bench": "radio_speed", "scenario": "{}", "simulator": "{simulator}", "times_real_time": {:.2}, "frames": {}, "requests_per_second": {:.2}, "response_seconds": {:.6}, "bulk_bits_per_second": {:.0}}}"#,
        scenario.name,
        speed.median,
        run.frames,
        run.requests_per_second(),
        run.response_time.as_secs_f64(),
        run.bulk_bits_per_second(),
    );
}
