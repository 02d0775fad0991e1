//! How fast is lastmile, beside what it aims at? What `make bench` prints.
//!
//! Simulated transfers run in this process, whole verbs as processes of the binary that `cargo build` makes. They take turns, so
//! that a disturbance does not fall on one alone. No tool does this work in another way, so none stands beside it yet.

mod table;
mod verbs;

use anyhow::Result;
use clap::Parser;
use lastmile_bench::spread::Spread;
use lastmile_bench::transfer::{FAST, MODEM, TRANSFERS, run};
use std::time::Duration;

/// Measures lastmile itself, beside what it aims at.
#[derive(Debug, Parser)]
struct Arguments {
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// How often each is measured; the cold build once
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Leave out the cold build, which takes minutes
    #[arg(long)]
    no_build: bool,
}

/// What is aimed at.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Aim {
    /// So much or more.
    AtLeast(f64),
    /// So much or less.
    AtMost(f64),
    /// Nothing is promised.
    Open,
}

/// One thing that is measured.
struct Figure {
    name: &'static str,
    unit: &'static str,
    aim: Aim,
    /// None where it could not be measured.
    spread: Option<Spread>,
}

/// What is measured in turns.
struct Subject {
    name: &'static str,
    unit: &'static str,
    aim: Aim,
    measure: fn(&verbs::Binary) -> Result<f64>,
}

fn seconds(took: Result<Duration>) -> Result<f64> {
    took.map(|took| took.as_secs_f64())
}

// The aims hold for a machine with two cores of the present day.
const SUBJECTS: [Subject; 4] = [
    Subject {
        name: "simulated packets a second on one core: 100 MB at 100 Mbit/s",
        unit: "packets/s",
        aim: Aim::AtLeast(1e6),
        measure: |_| {
            let run = run(&TRANSFERS[FAST]);
            Ok(run.packets as f64 / run.wall.as_secs_f64())
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
        measure: |binary| seconds(binary.advise("examples/shop.har", "wpt/3g,seeds/dialup-56k,wpt/cable")),
    },
];

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let binary = verbs::Binary::build()?;
    let mut failures = Vec::new();
    let mut runs = SUBJECTS.each_ref().map(|_| Vec::new());
    for turn in 0..arguments.runs.max(1) {
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
            name,
            unit,
            aim,
            spread: Spread::of(runs),
        }
    };
    let mut figures: Vec<_> = SUBJECTS.iter().zip(runs).map(figure).collect();
    if !arguments.no_build {
        let built = seconds(verbs::cold_build()).map_err(|error| failures.push(format!("cold build: {error:#}")));
        figures.push(Figure {
            name: "cold build of the binary, what it depends on downloaded before",
            unit: "s",
            aim: Aim::Open,
            spread: Spread::of(built.into_iter().collect()),
        });
    }
    print!(
        "{}",
        if arguments.json {
            table::json(&figures)
        } else {
            table::text(&figures)
        }
    );
    anyhow::ensure!(failures.is_empty(), "not measured:\n{}", failures.join("\n"));
    Ok(())
}
