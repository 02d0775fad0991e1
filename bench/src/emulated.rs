//! Measures how true the emulated world is to its links, and how much it carries, beside the kernel's own shaping.
//!
//! The kernel's own is a veth pair with a queueing discipline: TBF for a rate, netem for a delay. The same program gives both the
//! same work, in turns.

mod bulk;
mod path;
mod probe;
mod train;

use crate::{Aim, Figure, Measurements};
use anyhow::Result;
use lastmile_bench::spread::Spread;
use lastmile_link::{Capacity, DirectionSpec, Queue};
use lastmile_units::{BitRate, ByteCount};
use lastmile_world::emu;
use path::{Conduct, Path};
use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

/// Rates, with the number of frames to measure them by, and the error allowed, in per cent. A few frames are enough at slow rates: the time
/// from the first to the last counts.
const RATES: [(&str, usize, f64); 4] = [
    ("56 kbit/s", 25, 0.01),
    ("512 kbit/s", 100, 0.01),
    ("11 Mbit/s", 2500, 0.01),
    ("100 Mbit/s", 10_000, 0.1),
];
/// One-way delays, in milliseconds.
const DELAYS: [u64; 2] = [10, 100];
/// How late packets may be on a quiet machine, in microseconds: the median, and the 99th percentile.
const LATE: [(f64, &str, f64); 2] = [(0.5, "p50", 50.0), (0.99, "p99", 150.0)];
/// The aim for TCP through one forwarder, in Gbit/s.
const CARRIED: f64 = 2.0;

/// Ethernet's header. TBF counts it: it sees packets as the interface gets them.
const ETHERNET: ByteCount = ByteCount::new(14);
/// How often per second a kernel fills TBF's bucket at least: the bytes due in between must fit into it (tc-tbf(8), `burst`).
const FILLINGS: u64 = 250;

/// The measurements, turn by turn.
#[derive(Default)]
struct Measured {
    rows: Vec<Row>,
    /// What could not be measured, and why.
    failures: BTreeSet<String>,
    /// Peers that this machine does not have.
    skipped: BTreeSet<String>,
    worlds: Worlds,
}

/// One figure, with its value of each turn.
struct Row {
    name: String,
    unit: &'static str,
    aim: Aim,
    runs: Vec<f64>,
}

/// The state of the worlds in which it was measured.
#[derive(Default)]
struct Worlds {
    all: u32,
    real_time: u32,
    valid: u32,
}

/// Measures everything `turns` times.
///
/// # Errors
/// When this machine has no emulated world. No thread may have been started before.
pub(crate) fn measure(turns: usize) -> Result<Measurements> {
    emu::acquire()?;
    let mut measured = Measured::default();
    for _ in 0..turns {
        // Making a world moves the thread out of its network namespace, and an ordinary user cannot move it back: so a thread of its own.
        let turn = thread::spawn(move || {
            measured.turn();
            measured
        });
        measured = turn
            .join()
            .map_err(|_| anyhow::anyhow!("a measurement of the emulated world panicked"))?;
    }
    Ok(measured.end())
}

impl Measured {
    fn turn(&mut self) {
        for (rate, frames, aim) in RATES {
            self.rate(rate, frames, aim);
        }
        for delay in DELAYS {
            self.delay(delay);
        }
        self.bulk();
    }

    fn rate(&mut self, name: &str, frames: usize, aim: f64) {
        let rate: BitRate = name.parse().expect("rates are written as rates are");
        let direction = DirectionSpec {
            capacity: Capacity::Rate(rate),
            queue: Queue::Unlimited,
            ..DirectionSpec::IDEAL
        };
        let ours = self.emulated(&direction, |path| {
            probe::rate_error(path, rate, frames, ByteCount::ZERO, ByteCount::ZERO)
        });
        let bits = rate.bits_per_second();
        let burst = ByteCount::new((bits / 8 / FILLINGS).max(1540));
        let theirs = kernel(
            &format!("tbf rate {bits}bit burst {} limit 100mb", burst.get()),
            |path| probe::rate_error(path, rate, frames, ETHERNET, burst),
        );
        let name = format!("rate error at {name}");
        self.beside(&name, "%", Aim::AtMost(aim), ours, "TBF", theirs);
    }

    fn delay(&mut self, milliseconds: u64) {
        let delay = Duration::from_millis(milliseconds);
        let direction = DirectionSpec {
            one_way_delay: delay,
            ..DirectionSpec::IDEAL
        };
        let quantiles = LATE.map(|(quantile, ..)| quantile);
        let ours = self.emulated(&direction, |path| probe::lateness(path, delay, quantiles));
        let theirs = kernel(&format!("netem delay {milliseconds}ms limit 100000"), |path| {
            probe::lateness(path, delay, quantiles)
        });
        for (index, (_, percentile, aim)) in LATE.into_iter().enumerate() {
            let name = format!("one-way delay error at {milliseconds} ms, {percentile}");
            let (ours, theirs) = (ours.clone().map(|all| all[index]), theirs.clone().map(|all| all[index]));
            self.beside(&name, "us", Aim::AtMost(aim), ours, "netem", theirs);
        }
    }

    fn bulk(&mut self) {
        let ours = self.emulated(&DirectionSpec::IDEAL, bulk::carried);
        let theirs = kernel("", bulk::carried);
        let name = "TCP through one forwarder";
        self.beside(
            name,
            "Gbit/s",
            Aim::AtLeast(CARRIED),
            ours,
            "bare veth, segments merged",
            theirs,
        );
    }

    /// Measures something in an emulated world, and that world's state.
    fn emulated<T>(
        &mut self,
        direction: &DirectionSpec,
        measure: impl FnOnce(&Path) -> Result<T>,
    ) -> Result<T, String> {
        let measured = Path::emulated(direction).and_then(|path| {
            let measured = measure(&path)?;
            self.worlds.add(path.conduct());
            Ok(measured)
        });
        measured.map_err(|error| format!("{error:#}"))
    }

    /// Adds our figure, and where the kernel has a peer, its figure and the ratio.
    fn beside(
        &mut self,
        name: &str,
        unit: &'static str,
        aim: Aim,
        ours: Result<f64, String>,
        peer: &str,
        theirs: Result<f64, String>,
    ) {
        let ours = ours
            .map_err(|error| self.failures.insert(format!("{name}: {error}")))
            .ok();
        let theirs = theirs
            .map_err(|error| self.skipped.insert(format!("kernel's {peer}: {error}")))
            .ok();
        self.add(name.to_owned(), unit, aim, ours);
        if let Some(theirs) = theirs {
            self.add(format!("{name}: the kernel's {peer}"), unit, Aim::Open, Some(theirs));
            let ratio = ours.map(|ours| ours / theirs);
            self.add(format!("{name}: ours over the kernel's"), "times", Aim::Open, ratio);
        }
    }

    /// Adds a value to its row.
    fn add(&mut self, name: String, unit: &'static str, aim: Aim, value: Option<f64>) {
        let index = self.rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            let runs = Vec::new();
            self.rows.push(Row { name, unit, aim, runs });
            self.rows.len() - 1
        });
        self.rows[index].runs.extend(value);
    }

    fn end(mut self) -> Measurements {
        let of = f64::from(self.worlds.all.max(1));
        let (real_time, valid) = (f64::from(self.worlds.real_time) / of, f64::from(self.worlds.valid) / of);
        let name = "emulated worlds above whose forwarder ran under SCHED_FIFO";
        self.add(name.to_owned(), "of 1", Aim::Open, Some(real_time));
        let name = "emulated worlds above that were valid: packets in time, none lost outside the link model";
        self.add(name.to_owned(), "of 1", Aim::Open, Some(valid));
        let figure = |row: Row| Figure {
            name: row.name,
            unit: row.unit,
            aim: row.aim,
            spread: Spread::of(row.runs),
        };
        Measurements {
            figures: self.rows.into_iter().map(figure).collect(),
            failures: self.failures.into_iter().collect(),
            skipped: self.skipped.into_iter().collect(),
        }
    }
}

impl Worlds {
    fn add(&mut self, conduct: Conduct) {
        self.all += 1;
        self.real_time += u32::from(conduct.real_time);
        self.valid += u32::from(conduct.valid);
    }
}

/// Measures something over a path of the kernel's own.
fn kernel<T>(discipline: &str, measure: impl FnOnce(&Path) -> Result<T>) -> Result<T, String> {
    let measured = Path::kernel(discipline).and_then(|path| measure(&path));
    measured.map_err(|error| format!("{error:#}"))
}
