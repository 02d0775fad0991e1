//! Measures how far a busy machine moves figures of the emulated world, and whether the moved ones are invalid.
//!
//! One study runs on the machine as it is, then beside busy loops, then beside busy loops with real-time priority. A figure has moved when
//! it differs from its median on the machine as it was. It ends with an error where a figure moved by more than the world allows and is
//! called valid, or where one is invalid on the machine as it was, so this must be otherwise idle.

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use lastmile_bench::spread::Spread;
use lastmile_report::record::{Cell, Run};
use std::collections::BTreeMap;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Measures how far busy loops move figures of the emulated world, and whether the moved ones are invalid.
#[derive(Debug, Parser)]
struct Arguments {
    /// The lastmile binary; the one beside this program unless it is named
    #[arg(long)]
    binary: Option<PathBuf>,
    /// How often the study runs on the machine as it is
    #[arg(long, default_value_t = 20)]
    quiet_runs: usize,
    /// How often it runs beside busy loops, and beside real-time ones
    #[arg(long, default_value_t = 5)]
    busy_runs: usize,
    /// How many busy loops there are
    #[arg(long, default_value_t = 6)]
    loops: usize,
    /// How many real-time loops there are; they need root and chrt
    #[arg(long, default_value_t = 2)]
    real_time_loops: usize,
    /// Does nothing but compute for this number of seconds: how loops are started
    #[arg(long, hide = true)]
    spin: Option<u64>,
}

/// The share that a figure may have moved by: that of [`lastmile_world::emu::MOVED_SHARE`], which Linux alone has.
const MOVED_SHARE: f64 = 0.05;
/// When loops end by themselves; they also end with this program. Our own choice: a run beside real-time loops takes some minutes.
const LOOPS_END: Duration = Duration::from_secs(300);

/// What runs beside a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    Loops,
    RealTimeLoops,
}

/// Loops that end with this.
struct Loops(Vec<Child>);

impl Loops {
    fn start(beside: Beside, arguments: &Arguments) -> Result<Self> {
        let this = std::env::current_exe()?;
        let start = |mut command: Command| {
            let command = command.arg("--spin").arg(LOOPS_END.as_secs().to_string());
            command.spawn().context("a loop cannot be started")
        };
        let mut loops = Self(Vec::new());
        let (count, real_time) = match beside {
            Beside::Nothing => (0, false),
            Beside::Loops => (arguments.loops, false),
            Beside::RealTimeLoops => (arguments.real_time_loops, true),
        };
        for _ in 0..count {
            let command = if real_time {
                let mut command = Command::new("chrt");
                command.args(["--fifo", "10"]).arg(&this);
                command
            } else {
                Command::new(&this)
            };
            loops.0.push(start(command)?);
        }
        Ok(loops)
    }
}

impl Drop for Loops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A figure of a cell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    cell: String,
    figure: String,
}

/// What a run says of a figure.
#[derive(Debug, Clone)]
struct ReportedFigure {
    mean: f64,
    valid: bool,
    /// Why it is invalid.
    why: Option<String>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(seconds) = arguments.spin {
        spin(Duration::from_secs(seconds));
        return Ok(());
    }
    let binary = match &arguments.binary {
        Some(binary) => binary.canonicalize()?,
        None => std::env::current_exe()?.with_file_name("lastmile"),
    };
    let quiet = runs(Beside::Nothing, arguments.quiet_runs, &binary, &arguments)?;
    let normal: BTreeMap<Key, f64> = quiet
        .iter()
        .filter_map(|(key, seen)| {
            let spread = Spread::of(seen.iter().map(|seen| seen.mean).collect())?;
            Some((key.clone(), spread.median))
        })
        .collect();
    println!(
        "{:<14} {:<62} {:>11} {:>19} {:>7} {:>14}",
        "beside", "cell, figure", "median quiet", "moved by", "valid", "moved, valid"
    );
    let mut missed = print(Beside::Nothing, &quiet, &normal);
    let invalid: usize = quiet.values().flatten().filter(|seen| !seen.valid).count();
    for beside in [Beside::Loops, Beside::RealTimeLoops] {
        let busy = runs(beside, arguments.busy_runs, &binary, &arguments)?;
        missed += print(beside, &busy, &normal);
    }
    ensure!(invalid == 0, "{invalid} figures are invalid on the machine as it was");
    ensure!(
        missed == 0,
        "{missed} figures moved by more than {:.0} % and are valid",
        100.0 * MOVED_SHARE
    );
    Ok(())
}

/// Computes for this long, or until the program that started it has ended.
fn spin(time: Duration) {
    let (begun, parent) = (Instant::now(), parent_id());
    while begun.elapsed() < time && parent_id() == parent {
        // Between looks, a millisecond or so without a system call.
        for step in 0..1_000_000 {
            let _ = std::hint::black_box(step);
        }
    }
}

/// Runs the study so many times.
fn runs(
    beside: Beside,
    count: usize,
    binary: &Path,
    arguments: &Arguments,
) -> Result<BTreeMap<Key, Vec<ReportedFigure>>> {
    let mut seen: BTreeMap<Key, Vec<ReportedFigure>> = BTreeMap::new();
    for run in 0..count {
        let loops = Loops::start(beside, arguments)?;
        let begun = Instant::now();
        let record = run_study(binary)?;
        drop(loops);
        let invalid = record.cells.iter().filter(|cell| !cell.valid).count();
        eprintln!(
            "{beside:?} {} of {count}: {:.1} s, {invalid} of {} cells invalid",
            run + 1,
            begun.elapsed().as_secs_f64(),
            record.cells.len()
        );
        for cell in &record.cells {
            for (figure, value) in &cell.figures {
                let key = Key {
                    cell: name(cell),
                    figure: figure.clone(),
                };
                seen.entry(key).or_default().push(ReportedFigure {
                    mean: value.mean,
                    valid: cell.valid,
                    why: cell.doubts.first().map(|doubt| doubt.text.clone()),
                });
            }
        }
    }
    Ok(seen)
}

fn run_study(binary: &Path) -> Result<Run> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("study.toml"), include_str!("late_programs.toml"))?;
    let output = Command::new(binary)
        .args(["run", "study.toml", "--world", "emu", "--no-report", "--format", "json"])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{} cannot be run; build it, or name it by --binary", binary.display()))?;
    ensure!(
        output.status.success(),
        "the study failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn name(cell: &Cell) -> String {
    let levels: Vec<_> = cell.levels.values().map(String::as_str).collect();
    levels.join(", ")
}

/// Prints a row per figure, and returns how many figures moved too far and are valid.
fn print(beside: Beside, seen: &BTreeMap<Key, Vec<ReportedFigure>>, normal: &BTreeMap<Key, f64>) -> usize {
    let mut all_missed = 0;
    for (key, seen) in seen {
        let Some(median) = normal.get(key) else { continue };
        let moved: Vec<f64> = seen.iter().map(|seen| seen.mean / median - 1.0).collect();
        let Some(spread) = Spread::of(moved) else { continue };
        let missed = seen
            .iter()
            .filter(|seen| seen.valid && (seen.mean / median - 1.0).abs() > MOVED_SHARE)
            .count();
        all_missed += missed;
        println!(
            "{:<14} {:<62} {:>10.1} ms {:>8.1} to {:>6.1} % {:>3} of {:<2} {missed:>6}",
            format!("{beside:?}"),
            format!("{}, {}", key.cell, key.figure),
            1e3 * median,
            100.0 * spread.min,
            100.0 * spread.max,
            seen.iter().filter(|seen| seen.valid).count(),
            seen.len(),
        );
    }
    let why = seen
        .values()
        .flatten()
        .find(|seen| !seen.valid)
        .and_then(|seen| seen.why.as_deref());
    if let Some(why) = why {
        println!("    for example: {why}");
    }
    all_missed
}
