//! Builds and runs our program for ns-3: the same clients, server and radio.

use anyhow::{Context as _, Result, ensure};
use lastmile_bench::wireless_web::{OfferedLoad, WirelessRun};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// The program, built for the ns-3 of this machine.
pub(crate) struct Ns3 {
    /// Removed with this.
    _folder: TempDir,
    program: PathBuf,
}

const SOURCE: &str = include_str!("ns3.cc");
/// The libraries of Debian's ns3 package, those that need others first.
const LIBRARIES: [&str; 7] = [
    "wifi",
    "internet",
    "applications",
    "mobility",
    "network",
    "propagation",
    "core",
];
const HEADER: &str = "/usr/include/ns3/wifi-module.h";

impl Ns3 {
    /// Builds it, in half a minute.
    ///
    /// # Errors
    /// What is missing, and how to get it.
    pub(crate) fn build() -> Result<Self> {
        ensure!(
            Path::new(HEADER).exists(),
            "there is no {HEADER}; install Debian's ns3 and libns3-dev (300 MB), and a C++ compiler"
        );
        let folder = TempDir::new().context("no folder for the program")?;
        let (source, program) = (folder.path().join("ns3.cc"), folder.path().join("ns3"));
        std::fs::write(&source, SOURCE).context("the program's source cannot be written")?;
        let mut compiler = Command::new("c++");
        compiler
            .args(["-O2", "-std=c++17"])
            .arg(&source)
            .arg("-o")
            .arg(&program);
        compiler.args(LIBRARIES.map(|name| format!("-lns3-{name}")));
        let built = compiler
            .output()
            .context("there is no C++ compiler; install Debian's g++")?;
        ensure!(
            built.status.success(),
            "our program for ns-3 does not compile here; it was written for 3.37:\n{}",
            String::from_utf8_lossy(&built.stderr)
        );
        Ok(Self {
            _folder: folder,
            program,
        })
    }

    /// Runs it.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn run(&self, work: OfferedLoad, clients: u32, time: Duration) -> Result<WirelessRun> {
        let work = match work {
            OfferedLoad::Requests(rate) => format!("--rate={rate}"),
            OfferedLoad::Saturating => "--rate=0".to_owned(),
            OfferedLoad::Bulk => "--bulk".to_owned(),
        };
        let mut program = Command::new(&self.program);
        program.arg(work).arg(format!("--clients={clients}"));
        program.arg(format!("--seconds={}", time.as_secs_f64()));
        let ended = program.output().context("our program for ns-3 cannot be run")?;
        let said = String::from_utf8_lossy(&ended.stdout);
        ensure!(
            ended.status.success(),
            "ns-3 failed: {}",
            String::from_utf8_lossy(&ended.stderr)
        );
        let report: Value = serde_json::from_str(&said).with_context(|| format!("ns-3 said {said:?}"))?;
        let number = |key: &str| {
            report[key]
                .as_f64()
                .with_context(|| format!("ns-3 said nothing of {key}"))
        };
        Ok(WirelessRun {
            virtual_time: time,
            wall: Duration::from_secs_f64(number("wall_seconds")?),
            frames: number("frames")? as u64,
            completed: number("completed")? as u64,
            response_time: Duration::from_secs_f64(number("response_seconds")?),
            bulk_bytes: number("bulk_bytes")? as u64,
        })
    }
}
