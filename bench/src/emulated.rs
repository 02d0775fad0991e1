//! How true is the emulated world to its links, and how much does it carry, beside what the kernel has for the same?
//!
//! The kernel's own is a veth pair with a queueing discipline: TBF for a rate, netem for a delay. Both are given the same work by the
//! same program, and take turns.

mod bulk;
mod path;
mod probe;
mod train;

use crate::{Aim, Figure, Measurements};
use anyhow::Result;
use lastmile_bench::spread::Spread;
use lastmile_link::{Capacity, DirectionSpec, Queue};
use lastmile_units::{BitRate, Bytes};
use lastmile_world::emu;
use path::{Conduct, Path};
use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

/// Rates, how many frames show them, and how far off they may be, in per cent. Of the slow ones a few frames are enough: what counts
/// is the time from the first to the last.
const RATES: [(&str, usize, f64); 4] = [
    ("56 kbit/s", 25, 0.01),
    ("512 kbit/s", 100, 0.01),
    ("11 Mbit/s", 2500, 0.01),
    ("100 Mbit/s", 10_000, 0.1),
];
/// One-way delays, in milliseconds.
const DELAYS: [u64; 2] = [10, 100];
/// How late packets may be on a quiet machine, in microseconds: half of them, and 99 in a hundred.
const LATE: [(f64, &str, f64); 2] = [(0.5, "p50", 50.0), (0.99, "p99", 150.0)];
/// What TCP is to carry through one forwarder, in Gbit/s.
const CARRIED: f64 = 2.0;

/// Ethernet's header. TBF counts it: packets come to it as the interface gets them.
const ETHERNET: Bytes = Bytes::new(14);
/// How often a second a kernel fills TBF's bucket at the least: what is due meanwhile must fit (tc-tbf(8), `burst`).
const FILLINGS: u64 = 250;

/// What was measured, turn by turn.
#[derive(Default)]
struct Measured {
    rows: Vec<Row>,
    /// What could not be, and why.
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

/// What the worlds were like in which it was measured.
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
        // Who makes a world leaves its network namespace, and an ordinary user has no way back: it is a thread's loss.
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
            probe::rate_error(path, rate, frames, Bytes::ZERO, Bytes::ZERO)
        });
        let bits = rate.bits_per_second();
        let burst = Bytes::new((bits / 8 / FILLINGS).max(1540));
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

    /// Measures something in an emulated world, and what that world was like.
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

    /// Adds ours, and where the kernel has a peer, that and the ratio.
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
        let name = "emulated worlds above that were valid: packets in time, none lost beside the link";
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
