//! `make bench`: measures how fast lastmile is, beside its aims.
//!
//! Simulated transfers run in this process, whole verbs as processes of the binary that `cargo build` makes, and the emulated world
//! on threads of this process, beside the kernel's own shaping. Measurements of a kind run in turns, so that a disturbance does not fall
//! on only one of them.

#[cfg(target_os = "linux")]
mod emulated;
mod table;
mod verbs;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use lastmile_bench::spread::Spread;
use lastmile_bench::transfer::{FAST, MODEM, TRANSFERS, run};
use lastmile_bench::wireless_web::{self, OfferedLoad};
use std::time::Duration;

/// Measures lastmile itself, beside its aims.
#[derive(Debug, Parser)]
struct Arguments {
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// How often each is measured; the cold build once
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Measure only this part
    #[arg(long, value_enum)]
    only: Option<MeasuredPart>,
    /// Leave out the cold build, which takes minutes
    #[arg(long)]
    no_build: bool,
}

/// The parts that can be measured separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MeasuredPart {
    /// The simulated world, whole verbs, and the cold build
    Simulated,
    /// The emulated world, beside the kernel's own shaping
    Emulated,
}

/// The aim of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Aim {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// None.
    Open,
}

/// One figure.
struct Figure {
    name: String,
    unit: &'static str,
    aim: Aim,
    /// None where it could not be measured.
    spread: Option<Spread>,
}

/// A measurement that takes turns with others.
struct Subject {
    name: &'static str,
    unit: &'static str,
    aim: Aim,
    measure: fn(&verbs::Binary) -> Result<f64>,
}

fn seconds(took: Result<Duration>) -> Result<f64> {
    took.map(|took| took.as_secs_f64())
}

fn radio_frames_per_second(stations: u16) -> f64 {
    let run = lastmile_bench::radio::run(stations, 100_000);
    run.frames as f64 / run.wall.as_secs_f64()
}

// The aims are for a present-day machine with two cores.
const SUBJECTS: [Subject; 7] = [
    Subject {
        name: "simulated packets per second on one core: 100 MB at 100 Mbit/s",
        unit: "packets/s",
        aim: Aim::AtLeast(1e6),
        measure: |_| {
            let run = run(&TRANSFERS[FAST]);
            Ok(run.packets as f64 / run.wall.as_secs_f64())
        },
    },
    Subject {
        name: "frames per second of a simulated radio on one core: 5 saturated stations",
        unit: "frames/s",
        aim: Aim::AtLeast(1e6),
        measure: |_| Ok(radio_frames_per_second(5)),
    },
    Subject {
        name: "the same with 100 stations",
        unit: "frames/s",
        aim: Aim::Open,
        measure: |_| Ok(radio_frames_per_second(100)),
    },
    Subject {
        name: "virtual seconds per second of a simulated radio: 1 client, 100 requests/s of 1 kB, a connection each",
        unit: "s/s",
        aim: Aim::AtLeast(1000.0),
        measure: |_| {
            let run = wireless_web::run(OfferedLoad::Requests(100.0), 1, Duration::from_secs(200))?;
            Ok(run.times_real_time())
        },
    },
    Subject {
        name: "25 MB at 56 kbit/s",
        unit: "s",
        aim: Aim::AtMost(0.15),
        measure: |_| seconds(Ok(run(&TRANSFERS[MODEM]).wall)),
    },
    Subject {
        name: "the whole gzip-filter study, with its report",
        unit: "s",
        aim: Aim::AtMost(5.0),
        measure: |binary| seconds(binary.study("gzip-filter")),
    },
    Subject {
        name: "advise on the example HAR over three links, with its report",
        unit: "s",
        aim: Aim::AtMost(10.0),
        measure: |binary| seconds(binary.advise("examples/shop.har", "wpt/3g,published/dialup-56k,wpt/cable")),
    },
];

/// The results of a part.
#[derive(Default)]
struct Measurements {
    figures: Vec<Figure>,
    /// Measurements that failed, and why.
    failures: Vec<String>,
    /// Measurements that this machine lacks something for.
    skipped: Vec<String>,
}

impl Measurements {
    fn add(&mut self, more: Self) {
        self.figures.extend(more.figures);
        self.failures.extend(more.failures);
        self.skipped.extend(more.skipped);
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let turns = arguments.runs.max(1);
    let mut measured = Measurements::default();
    // First, since the right to make namespaces must be acquired before any thread is started.
    if arguments.only != Some(MeasuredPart::Simulated) {
        match emulated_world(turns) {
            Ok(emulated) => measured.add(emulated),
            Err(error) => measured.skipped.push(format!("the emulated world: {error:#}")),
        }
    }
    if arguments.only != Some(MeasuredPart::Emulated) {
        measured.add(simulated_world(turns)?);
        if !arguments.no_build {
            measured.add(build());
        }
    }
    let print = if arguments.json { table::json } else { table::text };
    print!("{}", print(&measured.figures));
    for skipped in &measured.skipped {
        eprintln!("skipped: {skipped}");
    }
    let failures = measured.failures;
    anyhow::ensure!(failures.is_empty(), "not measured:\n{}", failures.join("\n"));
    Ok(())
}

#[cfg(target_os = "linux")]
use emulated::measure as emulated_world;

#[cfg(not(target_os = "linux"))]
fn emulated_world(_turns: usize) -> Result<Measurements> {
    anyhow::bail!("only Linux has network namespaces")
}

/// Simulated transfers and whole verbs.
fn simulated_world(turns: usize) -> Result<Measurements> {
    let binary = verbs::Binary::build()?;
    let mut failures = Vec::new();
    let mut runs = SUBJECTS.each_ref().map(|_| Vec::new());
    for turn in 0..turns {
        for (subject, runs) in SUBJECTS.iter().zip(&mut runs) {
            match (subject.measure)(&binary) {
                Ok(value) => runs.push(value),
                Err(error) if turn == 0 => failures.push(format!("{}: {error:#}", subject.name)),
                Err(_) => {}
            }
        }
    }
    let figure = |(subject, runs): (&Subject, Vec<f64>)| {
        let Subject { name, unit, aim, .. } = *subject;
        Figure {
            name: name.to_owned(),
            unit,
            aim,
            spread: Spread::of(runs),
        }
    };
    Ok(Measurements {
        figures: SUBJECTS.iter().zip(runs).map(figure).collect(),
        failures,
        ..Measurements::default()
    })
}

/// The cold build, once.
fn build() -> Measurements {
    let name = "cold build of the binary, its dependencies downloaded before";
    let built = seconds(verbs::cold_build());
    let failures = built.as_ref().err().map(|error| format!("{name}: {error:#}"));
    Measurements {
        figures: vec![Figure {
            name: name.to_owned(),
            unit: "s",
            aim: Aim::Open,
            spread: Spread::of(built.into_iter().collect()),
        }],
        failures: failures.into_iter().collect(),
        ..Measurements::default()
    }
}
