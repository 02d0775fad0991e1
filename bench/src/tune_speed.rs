//! Measures how much faster a sweep is than compressing messages at one setting after the other, and how long a long transcript takes.
//!
//! The grid of 1,440 settings over a chat of the size of the 2013 evaluation's (666 messages): by the sweep, on all cores; by one
//! encoder after the other in this process, on one thread; and, where its path is given, by the tool of 2013, which reads messages
//! as lines and tries one setting per run. They run in turns, so that a disturbance does not fall on only one of them. The first two must
//! give the same sizes, and the tool the same ratio as far as it prints it.
//!
//! Then a chat of 100 MB is written to a file, and timed from opening it to the answer: as in `lastmile tune` without links, except for
//! the printing.
//!
//! The tool is one file, `ws-pmce-stats.cpp` of zaphoyd/ws-pmce-stats on GitHub, and needs only zlib. It passes zlib a state that it has
//! not initialised, so a compiler has to clear the stack:
//!
//! ```text
//! g++ -std=c++17 -O3 -include memory -ftrivial-auto-var-init=zero ws-pmce-stats.cpp -o ws-pmce-stats -lz
//! ```

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use lastmile_bench::spread::Spread;
use lastmile_codec::message::{Deflate, MessageCodec, MessageEncoder};
use lastmile_sweep::{Connection, Grid, exact};
use lastmile_traffic::messages::{Format, Message, Messages, Reading, Transcript};
use lastmile_tune::record::{Point, TranscriptFormat};
use lastmile_tune::{End, Options, Recording, ResultCache, tune};
use lastmile_units::Seed;
use lastmile_workload::WorkloadSpec;
use lastmile_workload::messages::Chat;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Measures the sweep of permessage-deflate's settings.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many messages the short transcript has
    #[arg(long, default_value = "666")]
    messages: NonZeroU32,
    /// A file of messages to use instead of them, one per line
    #[arg(long)]
    lines: Option<PathBuf>,
    /// How many bytes the long transcript has
    #[arg(long, default_value_t = 100_000_000)]
    bytes: u64,
    /// How often the grid is swept in each way
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// The binary of the 2013 tool
    #[arg(long, env = "WS_PMCE_STATS")]
    peer: Option<PathBuf>,
}

/// The aim: how many times faster the sweep is by the wall clock, on 2 cores, than one setting after the other.
const AIM_RATIO: f64 = 6.0;
/// How long the long transcript may take, on 2 cores.
const AIM_LONG: Duration = Duration::from_secs(60);

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let threads = std::thread::available_parallelism()?;
    let folder = tempfile::tempdir()?;
    short(&arguments, threads, &folder.path().join("short.txt"))?;
    long(&arguments, threads, &folder.path().join("long.txt"))
}

fn chat(messages: NonZeroU32) -> Result<Vec<Message>> {
    let chat = WorkloadSpec::Chat(Chat { messages, speakers: 0 });
    Ok(chat.messages(Seed::new(2013))?)
}

fn write(messages: &[Message], path: &Path) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for message in messages {
        file.write_all(&message.payload)?;
        file.write_all(b"\n")?;
    }
    Ok(file.flush()?)
}

/// The grid over a short transcript, in turns.
fn short(arguments: &Arguments, threads: NonZeroUsize, path: &Path) -> Result<()> {
    let path = match &arguments.lines {
        Some(lines) => lines,
        None => {
            write(&chat(arguments.messages)?, path)?;
            path
        }
    };
    let messages = read(path)?;
    let connections = Connection::from_messages(&messages);
    let bytes = messages.total().get();
    let grid = Grid::default();
    let settings = grid.settings();
    println!(
        "{} messages, {bytes} B, {} settings, {threads} threads",
        messages.len(),
        settings.len()
    );
    let (mut sweeps, mut singles, mut peers) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..arguments.runs.max(1) {
        let begun = Instant::now();
        let points = exact(&connections, &grid, threads, &())?.points;
        sweeps.push(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        let sizes: Vec<u64> = settings.iter().map(|setting| one(&connections, *setting)).collect();
        singles.push(begun.elapsed().as_secs_f64());
        ensure!(
            points.iter().map(|point| point.compressed.get()).eq(sizes),
            "the sweep and zlib differ"
        );
        if let Some(peer) = &arguments.peer {
            let begun = Instant::now();
            let expected: Vec<_> = settings
                .iter()
                .map(|setting| run_peer(peer, *setting, path))
                .collect::<Result<_>>()?;
            peers.push(begun.elapsed().as_secs_f64());
            for (point, expected) in points.iter().zip(expected) {
                let agrees = expected.is_none_or(|expected| (point.ratio / expected - 1.0).abs() <= SIX_DIGITS);
                ensure!(agrees, "{:?}: {} here, {expected:?} there", point.setting, point.ratio);
            }
        }
    }
    let ratios = |others: &[f64]| others.iter().zip(&sweeps).map(|(other, sweep)| other / sweep).collect();
    tell("the sweep", sweeps.clone(), None);
    tell(
        "one setting after the other, one thread",
        singles.clone(),
        Some(ratios(&singles)),
    );
    if peers.is_empty() {
        println!("the 2013 tool: not run; --peer or WS_PMCE_STATS gives the path of its binary");
    } else {
        tell(
            "the 2013 tool, one process per setting",
            peers.clone(),
            Some(ratios(&peers)),
        );
    }
    Ok(())
}

/// All messages, by one encoder per connection.
fn one(connections: &[Connection<'_>], setting: Deflate) -> u64 {
    let mut size = 0;
    for connection in connections {
        let mut encoder =
            MessageEncoder::new(&MessageCodec::Deflate(setting), None).expect("settings of the grid are in range");
        size += connection
            .messages
            .iter()
            .map(|message| encoder.compressed_size(message) as u64)
            .sum::<u64>();
    }
    size
}

/// The precision of the tool's ratio: half of the last of six digits, where the first is a one.
const SIX_DIGITS: f64 = 5e-6;

/// One setting, and the ratio that it prints. At level 0 the tool overruns its own buffer, and prints none; zlib no
/// longer allows 8 window bits.
fn run_peer(peer: &Path, setting: Deflate, path: &Path) -> Result<Option<f64>> {
    let output = Command::new(peer)
        .arg(format!("context_takeover={}", setting.takeover))
        .arg(format!("speed_levels={}", setting.level))
        .arg(format!("window_bits={}", setting.window_bits.runs_as().get()))
        .arg(format!("memory_level={}", setting.mem_level))
        .stdin(File::open(path)?)
        .stderr(Stdio::null())
        .output()
        .with_context(|| peer.display().to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let ratio = text
        .lines()
        .find_map(|line| line.strip_prefix("Payload compression ratio:"));
    ensure!(ratio.is_some() || setting.level == 0, "{setting:?}: {text}");
    Ok(ratio.map(|ratio| ratio.trim().parse()).transpose()?)
}

fn read(path: &Path) -> Result<Messages> {
    let reading = Reading {
        format: Some(Format::Text),
        ..Reading::default()
    };
    Ok(Transcript::open(path, reading)?.gather()?.sent)
}

/// A line for people, and one for machines.
fn tell(what: &str, seconds: Vec<f64>, ratios: Option<Vec<f64>>) {
    let Some(Spread { min, median, max, n }) = Spread::of(seconds) else {
        return;
    };
    println!("{what}: {median:.3} s ({min:.3} to {max:.3}; {n} runs)");
    let ratio = ratios.and_then(Spread::of);
    if let Some(Spread { min, median, max, .. }) = ratio {
        let verdict = if median >= AIM_RATIO { "met" } else { "MISSED" };
        println!("  {median:.2} times as long as the sweep ({min:.2} to {max:.2}); aim {AIM_RATIO}: {verdict}");
    }
    let ratio = ratio.map_or_else(|| "null".to_owned(), |ratio| format!("{:.3}", ratio.median));
    println!(r#"{{"bench": "tune_speed", "what": "{what}", "seconds": {median:.3}, "times_the_sweep": {ratio}}}"#);
}

/// A long transcript, once.
fn long(arguments: &Arguments, threads: NonZeroUsize, path: &Path) -> Result<()> {
    let short: usize = chat(arguments.messages)?
        .iter()
        .map(|message| message.payload.len())
        .sum();
    let wanted = arguments.bytes * u64::from(arguments.messages.get()) / short.max(1) as u64;
    let messages = NonZeroU32::new(u32::try_from(wanted)?).context("the long transcript must be longer than this")?;
    write(&chat(messages)?, path)?;
    let begun = Instant::now();
    let recording = Recording {
        source: path.display().to_string(),
        format: TranscriptFormat::Text,
        notes: Vec::new(),
        recorded_at: End::Server,
        messages: Transcript::open(path, Reading::default())?.gather()?,
    };
    let read = begun.elapsed();
    let options = Options {
        threads,
        ..Options::default()
    };
    // When each phase last reported progress.
    let mut phases: Vec<(&str, Duration)> = Vec::new();
    let tuning = tune(&recording, &options, &mut ResultCache::in_memory(), &mut |progress| {
        phases.retain(|(phase, _)| *phase != progress.phase);
        phases.push((progress.phase, begun.elapsed()));
    })?;
    let took = begun.elapsed();
    let bytes = tuning.transcript.bytes;
    let seconds = took.as_secs_f64();
    let verdict = if took < AIM_LONG { "met" } else { "MISSED" };
    println!(
        "{:.1} MB in {} messages: {seconds:.1} s to the answer; aim {} s: {verdict}",
        bytes as f64 / 1e6,
        tuning.transcript.messages,
        AIM_LONG.as_secs()
    );
    println!("  reading until {:.1} s", read.as_secs_f64());
    for (phase, end) in &phases {
        println!("  {phase} until {:.1} s", end.as_secs_f64());
    }
    let points = &tuning.points;
    if let Some(Spread { min, median, max, .. }) = Spread::of(points.iter().filter_map(width).collect()) {
        let sampled = tuning
            .directions
            .iter()
            .filter_map(|stream| stream.sampled_bytes)
            .sum::<u64>();
        println!(
            "  {} points from {:.1} MB of it; 95 % intervals: {median:.3} % of the ratio to either side ({min:.3} to {max:.3} %)",
            points.len(),
            sampled as f64 / 1e6
        );
    }
    println!(
        r#"{{"bench": "tune_speed", "what": "long", "bytes": {bytes}, "seconds": {seconds:.1}, "points": {}}}"#,
        points.len()
    );
    Ok(())
}

/// Half an interval, in per cent of the ratio.
fn width(point: &Point) -> Option<f64> {
    point.ratio_ci95.map(|[low, high]| (high - low) / point.ratio * 50.0)
}
