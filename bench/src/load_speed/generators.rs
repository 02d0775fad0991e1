//! The load generators that are compared: the command of each, and the number of requests that its output gives.

use anyhow::{Context as _, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use std::process::{Command, Stdio};

/// The connections of each.
pub(crate) const CONNECTIONS: u32 = 50;

/// A generator.
pub(crate) struct Generator {
    pub(crate) name: &'static str,
    /// The program.
    program: String,
    /// Its arguments for a URL and a number of seconds.
    arguments: fn(&str, u32, bool) -> Vec<String>,
    /// Its output's number of requests.
    requests: fn(&str) -> Option<u64>,
    is_persistent: bool,
}

/// A name, the arguments for a URL, seconds and persistence, and how the number of requests is read.
type Known = (
    &'static str,
    fn(&str, u32, bool) -> Vec<String>,
    fn(&str) -> Option<u64>,
);

const KNOWN: [Known; 6] = [
    (
        "wrk",
        |url, seconds, is_persistent| {
            let mut words = vec!["-t1".to_owned(), format!("-c{CONNECTIONS}"), format!("-d{seconds}")];
            if !is_persistent {
                words.extend(["-H".to_owned(), "Connection: close".to_owned()]);
            }
            words.push(url.to_owned());
            words
        },
        |output| word_before(output, "requests in"),
    ),
    (
        "h2load",
        |url, seconds, is_persistent| {
            let mut words = vec![
                "--h1".to_owned(),
                format!("-c{CONNECTIONS}"),
                "-t1".to_owned(),
                format!("-D{seconds}"),
            ];
            if !is_persistent {
                words.extend(["-H".to_owned(), "Connection: close".to_owned()]);
            }
            words.push(url.to_owned());
            words
        },
        |output| word_before(output, "done,"),
    ),
    (
        "oha",
        |url, seconds, is_persistent| {
            let mut words = vec![
                "--no-tui".to_owned(),
                format!("-c{CONNECTIONS}"),
                format!("-z{seconds}s"),
            ];
            if !is_persistent {
                words.push("--disable-keepalive".to_owned());
            }
            words.push(url.to_owned());
            words
        },
        |output| word_before(output, "responses"),
    ),
    (
        "ab",
        |url, seconds, is_persistent| {
            let mut words = vec![
                format!("-c{CONNECTIONS}"),
                format!("-t{seconds}"),
                "-n100000000".to_owned(),
                "-q".to_owned(),
            ];
            if is_persistent {
                words.push("-k".to_owned());
            }
            words.push(url.to_owned());
            words
        },
        |output| number_after(output, "Complete requests:"),
    ),
    (
        "httperf",
        |url, seconds, is_persistent| {
            let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap_or((url, ""));
            let (host, port) = host.split_once(':').unwrap_or((host, "80"));
            let calls = if is_persistent { 1_000 } else { 1 };
            let connections = if is_persistent { 5 * seconds } else { 3_000 * seconds };
            [
                format!("--server={host}"),
                format!("--port={port}"),
                format!("--uri=/{path}"),
                format!("--num-conns={connections}"),
                format!("--num-calls={calls}"),
                "--hog".to_owned(),
                "--timeout=2".to_owned(),
            ]
            .into()
        },
        |output| number_after(output, "replies "),
    ),
    (
        "vegeta",
        |url, seconds, is_persistent| {
            let attack = format!(
                "echo GET {url} | vegeta attack -rate=0 -max-workers={CONNECTIONS} -duration={seconds}s -keepalive={is_persistent} | vegeta report"
            );
            vec!["-c".to_owned(), attack]
        },
        |output| {
            output
                .lines()
                .find(|line| line.starts_with("Requests"))?
                .split_whitespace()
                .nth(4)?
                .trim_end_matches(',')
                .parse()
                .ok()
        },
    ),
];

/// Those on this machine's path; ours first.
pub(crate) fn installed(is_persistent: bool) -> Result<Vec<Generator>> {
    let ours = std::env::current_exe()?.with_file_name("lastmile");
    ensure!(
        ours.is_file(),
        "{} is missing; build it with `cargo build`",
        ours.display()
    );
    let mut found = vec![Generator {
        name: "lastmile",
        program: ours.display().to_string(),
        arguments: |url, seconds, is_persistent| {
            let mut words = vec![
                "load".to_owned(),
                url.to_owned(),
                format!("--closed={CONNECTIONS}"),
                format!("--duration={seconds}s"),
            ];
            words.extend(["--threads=1", "--format=json"].map(str::to_owned));
            if !is_persistent {
                words.push("--requests-per-connection=1".to_owned());
            }
            words
        },
        requests: |output| number_after(output, "\"completed\":"),
        is_persistent,
    }];
    for (name, arguments, requests) in KNOWN {
        // It counts no request whose server closes the connection.
        if name == "h2load" && !is_persistent {
            continue;
        }
        let is_there = Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok();
        if is_there {
            found.push(Generator {
                name,
                program: if name == "vegeta" { "sh" } else { name }.to_owned(),
                arguments,
                requests,
                is_persistent,
            });
        } else {
            println!("  skipped: {name} is not installed");
        }
    }
    Ok(found)
}

impl Generator {
    /// The CPU time of its process per request, in seconds.
    pub(crate) fn cpu_per_request(&self, url: &str, seconds: u32) -> Result<f64> {
        let before = children_cpu_seconds()?;
        // A generator that hangs, as some do when connections are refused, is ended. `timeout` is of GNU coreutils.
        let output = Command::new("timeout")
            .arg((10 * seconds + 10).to_string())
            .arg(&self.program)
            .args((self.arguments)(url, seconds, self.is_persistent))
            .stderr(Stdio::null())
            .output()?;
        let used = children_cpu_seconds()? - before;
        let text = String::from_utf8_lossy(&output.stdout);
        let requests = (self.requests)(&text).filter(|requests| *requests > 0);
        let requests = requests.context("its output has no number of requests")?;
        Ok(used / requests as f64)
    }
}

/// The CPU time of the processes that have ended, user and system.
fn children_cpu_seconds() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6)
}

/// The number right before a phrase.
fn word_before(text: &str, phrase: &str) -> Option<u64> {
    let before = text.split(phrase).next().filter(|before| before.len() < text.len())?;
    before.split_whitespace().next_back()?.parse().ok()
}

/// The number right behind a phrase.
fn number_after(text: &str, phrase: &str) -> Option<u64> {
    let digits: String = text
        .split_once(phrase)?
        .1
        .trim_start()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}
