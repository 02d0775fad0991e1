//! Measures how fast `lastmile inspect` reads a capture, and in how much memory, beside tshark and capinfos.
//!
//! The capture is a download of the simulated world, taken at its server. The programs run in turns, so that a disturbance does not
//! fall on only one of them. They do not do the same: tshark dissects every packet and summarises conversations, capinfos counts packets.

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use lastmile_bench::spread::Spread;
use lastmile_link::{Capacity, DirectionSpec, Loss, Queue};
use lastmile_units::{Probability, Seed};
use lastmile_world::World as _;
use lastmile_world::sim::{HostSpec, World};
use lastmile_world::{Host as _, Listener as _};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Measures `lastmile inspect` beside tshark and capinfos.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many bytes the download carries; the capture is a tenth larger
    #[arg(long, default_value_t = 920_000_000)]
    bytes: u64,
    /// How often each program runs
    #[arg(long, default_value_t = 3)]
    runs: usize,
}

/// A program, with the arguments by which it reads a capture to its end.
struct Reader {
    program: &'static str,
    before: &'static [&'static str],
    after: &'static [&'static str],
}

const READERS: [Reader; 3] = [
    Reader {
        program: "lastmile",
        before: &["inspect"],
        after: &["--format", "json"],
    },
    Reader {
        program: "capinfos",
        before: &[],
        after: &[],
    },
    Reader {
        program: "tshark",
        before: &["-r"],
        after: &["-q", "-z", "conv,tcp"],
    },
];

/// The cost of one run.
struct Run {
    took: Duration,
    /// The most memory it had, in bytes; none where the system does not report it.
    memory: Option<u64>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "-q"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .status()?;
    ensure!(build.success(), "the binary does not build");
    let lastmile = std::env::current_exe()?.with_file_name(format!("lastmile{}", std::env::consts::EXE_SUFFIX));
    let folder = tempfile::tempdir()?;
    let capture = folder.path().join("server.pcapng");
    download(&capture, arguments.bytes)?;
    let megabytes = std::fs::metadata(&capture)?.len() as f64 / 1e6;
    println!(
        "a capture of {megabytes:.0} MB; median of {} runs (least to most)",
        arguments.runs
    );
    let mut runs = READERS.each_ref().map(|_| Vec::new());
    for _ in 0..arguments.runs.max(1) {
        for (reader, runs) in READERS.iter().zip(&mut runs) {
            let program = if reader.program == "lastmile" {
                lastmile.as_path()
            } else {
                Path::new(reader.program)
            };
            match read(program, reader, &capture) {
                Ok(run) => runs.push(run),
                Err(error) if reader.program == "lastmile" => return Err(error),
                Err(_) => {}
            }
        }
    }
    for (reader, runs) in READERS.iter().zip(runs) {
        tell(reader.program, megabytes, &runs);
    }
    Ok(())
}

/// A line for people, and one for machines.
fn tell(program: &str, megabytes: f64, runs: &[Run]) {
    let rates = runs.iter().map(|run| megabytes / run.took.as_secs_f64()).collect();
    let Some(Spread { min, median, max, .. }) = Spread::of(rates) else {
        println!("{program:<10} not installed, or it could not read the capture");
        return;
    };
    let memory = runs.iter().filter_map(|run| run.memory).max();
    let memory_text = memory.map_or_else(|| "unknown".to_owned(), |bytes| format!("{:.0} MB", bytes as f64 / 1e6));
    println!("{program:<10} {median:.0} MB/s ({min:.0} to {max:.0}), at most {memory_text} of memory");
    let memory = memory.map_or_else(|| "null".to_owned(), |bytes| bytes.to_string());
    println!(
        r#"{{"bench": "inspect_speed", "program": "{program}", "capture_megabytes": {megabytes:.0}, "megabytes_per_second": {median:.1}, "memory_bytes": {memory}}}"#
    );
}

fn read(program: &Path, reader: &Reader, capture: &Path) -> Result<Run> {
    let mut command = Command::new(program);
    command.args(reader.before).arg(capture).args(reader.after);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let mut child = command.spawn().with_context(|| program.display().to_string())?;
    let mut memory = None;
    let status = loop {
        // The high-water mark is read while the process lives, since it ends with it; memory allocated in its last 5 ms is not seen.
        memory = high_water_mark(child.id()).or(memory);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let took = begun.elapsed();
    ensure!(status.success(), "{} ended with {status}", program.display());
    Ok(Run { took, memory })
}

/// `VmHWM` of Linux's `/proc`.
fn high_water_mark(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Captures a download at its server: 1 Gbit/s, a round trip of 20 ms, one packet in 10,000 lost.
fn download(capture: &Path, bytes: u64) -> Result<()> {
    let world = World::new(Seed::new(1));
    let (client, server) = (world.host(HostSpec::default()), world.host(HostSpec::default()));
    let direction = DirectionSpec {
        capacity: Capacity::Rate("1 Gbit/s".parse()?),
        one_way_delay: Duration::from_millis(10),
        queue: Queue::Packets(1000),
        loss: Loss::Bernoulli(Probability::new(1e-4).context("a probability lies between 0 and 1")?),
        ..DirectionSpec::IDEAL
    };
    world.link(&direction, &direction, &[&client], &[&server]);
    world.capture(&server, Box::new(BufWriter::new(File::create(capture)?)))?;
    let mut listener = server.listen(80)?;
    let address = server.address(80);
    world.spawn(async move {
        let mut stream = listener.accept().await.expect("the client connects");
        let chunk = vec![7; 65_536];
        let mut left = bytes as usize;
        while left > 0 {
            let portion = &chunk[..left.min(chunk.len())];
            left -= stream.write(portion).await.expect("the client reads");
        }
    });
    let program = async move {
        let mut stream = client.connect(address).await.expect("the server listens");
        let mut buffer = vec![0; 65_536];
        while stream.read(&mut buffer).await.expect("the server writes") > 0 {}
    };
    world.run(program)?;
    match world.capture_error() {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}
