//! The program that is measured: one run of it, with its CPU time, its duration, and the response times of a load.

use super::Figures;
use crate::cli::perturb::PerturbArgs;
use anyhow::{Context as _, bail};
use lastmile_load::record::Load;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::Read as _;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A command, and how it finds its sensor.
pub(super) struct Program<'a> {
    args: &'a PerturbArgs,
    environment: Vec<(&'static str, String)>,
}

/// How long a server may take until it answers, and after SIGTERM until it ends: our own choice.
const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(5);

impl<'a> Program<'a> {
    pub(super) fn new(args: &'a PerturbArgs, environment: Vec<(&'static str, String)>) -> Self {
        Self { args, environment }
    }

    /// Runs it once, with its sensor or without.
    pub(super) fn run(&self, observed: bool) -> anyhow::Result<Figures> {
        let name = self.args.command[0].as_str();
        let mut command = Command::new(name);
        command
            .args(&self.args.command[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        for (variable, value) in &self.environment {
            if observed {
                command.env(variable, value);
            } else {
                command.env_remove(variable);
            }
        }
        if observed {
            command.env_remove("OTEL_SDK_DISABLED");
        } else {
            command.env("OTEL_SDK_DISABLED", "true");
        }
        let began = Instant::now();
        let child = command.spawn().with_context(|| format!("{name} cannot be run"))?;
        match &self.args.load {
            None => Self::measure_to_end(child, name, began),
            Some(url) => self.measure_under_load(child, url),
        }
    }

    fn measure_to_end(mut child: Child, name: &str, began: Instant) -> anyhow::Result<Figures> {
        let before = cpu_of_ended_children()?;
        let mut said = String::new();
        if let Some(mut stderr) = child.stderr.take() {
            let _ = stderr.read_to_string(&mut said);
        }
        let status = child.wait()?;
        let run_time = began.elapsed();
        if !status.success() {
            bail!("{name} ended with {status}: {}", last_line(&said));
        }
        let cpu = cpu_of_ended_children()?.saturating_sub(before);
        Ok(Figures::from([
            ("cpu_time", cpu.as_secs_f64()),
            ("run_time", run_time.as_secs_f64()),
        ]))
    }

    fn measure_under_load(&self, mut child: Child, url: &str) -> anyhow::Result<Figures> {
        // What it says must not fill the pipe, which would stop it.
        let stderr = child.stderr.take();
        let reader = thread::spawn(move || {
            let mut said = String::new();
            if let Some(mut stderr) = stderr {
                let _ = stderr.read_to_string(&mut said);
            }
            said
        });
        let answered = wait_for_server(&mut child, url).and_then(|()| self.load(url));
        let before = cpu_of_ended_children()?;
        let ended = end(&mut child);
        let cpu = cpu_of_ended_children()?.saturating_sub(before);
        let said = reader.join().unwrap_or_default();
        let load = answered.with_context(|| format!("{}: {}", self.args.command[0], last_line(&said)))?;
        ended?;
        let run = load.runs.first().context("the load has no run")?;
        let response = run.times.get("response").context("no request was completed")?;
        Ok(Figures::from([
            ("cpu_time", cpu.as_secs_f64()),
            ("response_time_median", response.p50),
            ("response_time_p99", response.p99),
        ]))
    }

    /// Loads the server by this binary, whose CPU time is then that of a process of its own.
    fn load(&self, url: &str) -> anyhow::Result<Load> {
        let output = Command::new(std::env::current_exe()?)
            .args(["load", url, "--format", "json", "--seed", "1"])
            .args(["--rate", &self.args.rate.per_second().to_string()])
            .args(["--duration", &format!("{}ms", self.args.duration.as_millis())])
            .output()?;
        serde_json::from_slice(&output.stdout).with_context(|| {
            format!(
                "lastmile load {url}: {}",
                last_line(&String::from_utf8_lossy(&output.stderr))
            )
        })
    }
}

/// Waits until the server's port accepts a connection.
fn wait_for_server(child: &mut Child, url: &str) -> anyhow::Result<()> {
    let uri: http::Uri = url.parse().with_context(|| format!("--load {url}"))?;
    let host = uri.host().with_context(|| format!("--load {url}: it names no host"))?;
    let port = uri
        .port_u16()
        .unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    let began = Instant::now();
    while TcpStream::connect((host, port)).is_err() {
        if let Some(status) = child.try_wait()? {
            bail!("it ended with {status} before it answered at {url}");
        }
        if began.elapsed() > PATIENCE {
            bail!("it did not answer at {url} within {} s", PATIENCE.as_secs());
        }
        thread::sleep(POLL);
    }
    Ok(())
}

/// Ends a server by SIGTERM, and by SIGKILL where it does not heed that.
fn end(child: &mut Child) -> anyhow::Result<()> {
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    kill(pid, Signal::SIGTERM)?;
    let began = Instant::now();
    while child.try_wait()?.is_none() {
        if began.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            bail!("the server did not end {} s after SIGTERM", PATIENCE.as_secs());
        }
        thread::sleep(POLL);
    }
    Ok(())
}

/// The CPU time of the children that have ended, and of theirs (getrusage(2), RUSAGE_CHILDREN).
fn cpu_of_ended_children() -> anyhow::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let times = [usage.user_time(), usage.system_time()];
    let microseconds = times
        .iter()
        .map(|time| time.tv_sec() * 1_000_000 + time.tv_usec())
        .sum::<i64>();
    Ok(Duration::from_micros(u64::try_from(microseconds).unwrap_or_default()))
}

fn last_line(text: &str) -> &str {
    text.lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or("it said nothing")
}
