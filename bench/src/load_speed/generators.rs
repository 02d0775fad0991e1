//! The load generators that are compared: the command of each, and the number of requests that its output gives.

use super::connections::Connections;
use anyhow::{Context as _, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use std::process::{Command, Stdio};

/// The connections of each.
pub(crate) const CONNECTIONS: u32 = 50;

/// The concurrent streams of each connection of HTTP/2.
const STREAMS: u32 = 10;

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
type KnownGenerator = (
    &'static str,
    fn(&str, u32, bool) -> Vec<String>,
    fn(&str) -> Option<u64>,
);

const KNOWN: [KnownGenerator; 6] = [
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

/// Those that speak HTTP/2 over clear text, with as many requests at once.
const KNOWN_HTTP2: [KnownGenerator; 2] = [
    (
        "h2load",
        |url, seconds, _| {
            [
                format!("-c{}", CONNECTIONS / STREAMS),
                format!("-m{STREAMS}"),
                "-t1".to_owned(),
                format!("-D{seconds}"),
                url.to_owned(),
            ]
            .into()
        },
        |output| word_before(output, "done,"),
    ),
    (
        "oha",
        |url, seconds, _| {
            [
                "--no-tui".to_owned(),
                "--http2".to_owned(),
                format!("-c{}", CONNECTIONS / STREAMS),
                format!("-p{STREAMS}"),
                format!("-z{seconds}s"),
                url.to_owned(),
            ]
            .into()
        },
        |output| word_before(output, "responses"),
    ),
];

/// A name, and the arguments for a URL, a rate and seconds; for connections that stay open, or one per request.
type KnownPaced = (&'static str, bool, fn(&str, u32, u32) -> Vec<String>);

/// Generators that send at a rate. wrk and ab have none.
const PACED: [KnownPaced; 6] = [
    ("vegeta", true, |url, rate, seconds| {
        let attack = format!("echo GET {url} | vegeta attack -rate={rate} -duration={seconds}s | vegeta report");
        vec!["-c".to_owned(), attack]
    }),
    ("vegeta", false, |url, rate, seconds| {
        let attack = format!(
            "echo GET {url} | vegeta attack -rate={rate} -duration={seconds}s -keepalive=false | vegeta report"
        );
        vec!["-c".to_owned(), attack]
    }),
    ("oha", true, |url, rate, seconds| {
        [
            "--no-tui",
            &format!("-c{CONNECTIONS}"),
            &format!("-q{rate}"),
            &format!("-z{seconds}s"),
            "--latency-correction",
            url,
        ]
        .map(str::to_owned)
        .into()
    }),
    ("oha", false, |url, rate, seconds| {
        [
            "--no-tui",
            &format!("-c{CONNECTIONS}"),
            &format!("-q{rate}"),
            &format!("-z{seconds}s"),
            "--latency-correction",
            "--disable-keepalive",
            url,
        ]
        .map(str::to_owned)
        .into()
    }),
    // Its rate is that of each connection.
    ("h2load", true, |url, rate, seconds| {
        [
            "--h1",
            "-t1",
            &format!("-c{CONNECTIONS}"),
            &format!("--rps={}", rate / CONNECTIONS),
            &format!("-D{seconds}"),
            url,
        ]
        .map(str::to_owned)
        .into()
    }),
    ("httperf", false, |url, rate, seconds| {
        let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap_or((url, ""));
        let (host, port) = host.split_once(':').unwrap_or((host, "80"));
        [
            format!("--server={host}"),
            format!("--port={port}"),
            format!("--uri=/{path}"),
            format!("--rate={rate}"),
            format!("--num-conns={}", rate * seconds),
            "--hog".to_owned(),
            "--timeout=2".to_owned(),
        ]
        .into()
    }),
];

/// A generator that sends at a rate.
pub(crate) struct Paced {
    /// With how it connects.
    pub(crate) name: String,
    program: &'static str,
    arguments: fn(&str, u32, u32) -> Vec<String>,
}

/// Those on this machine's path.
pub(crate) fn paced(is_persistent: bool) -> Vec<Paced> {
    let known = PACED.iter().filter(|(_, kind, _)| *kind == is_persistent);
    let there = known.filter(|(name, ..)| is_installed(name));
    there
        .map(|(name, _, arguments)| Paced {
            name: if is_persistent {
                (*name).to_owned()
            } else {
                format!("{name}, a connection per request")
            },
            program: if *name == "vegeta" { "sh" } else { name },
            arguments: *arguments,
        })
        .collect()
}

impl Paced {
    /// Runs it at a rate; returns what it prints.
    pub(crate) fn run_at(&self, url: &str, rate: u32, seconds: u32) -> Result<String> {
        output(self.program, &(self.arguments)(url, rate, seconds), seconds)
    }
}

/// What a generator says about response times, in seconds; none of what it does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ReportedTimes {
    pub(crate) mean: Option<f64>,
    pub(crate) p95: Option<f64>,
    pub(crate) p99: Option<f64>,
}

impl ReportedTimes {
    /// Reads the output of any of the generators above.
    pub(crate) fn read(output: &str) -> Self {
        let mut times = Self::default();
        for line in output.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match &words[..] {
                // vegeta: Latencies [min, mean, 50, 90, 95, 99, max] 1ms, 2ms, ...
                [
                    "Latencies",
                    "[min,",
                    "mean,",
                    "50,",
                    "90,",
                    "95,",
                    "99,",
                    "max]",
                    _,
                    mean,
                    _,
                    _,
                    p95,
                    p99,
                    ..,
                ] => {
                    times = Self {
                        mean: seconds(mean),
                        p95: seconds(p95),
                        p99: seconds(p99),
                    };
                }
                // oha: Average: 0.05 sec; 95.00% in 0.5 sec
                ["Average:", value, unit, ..] => times.mean = seconds(&format!("{value}{unit}")),
                ["95.00%", "in", value, unit, ..] => times.p95 = seconds(&format!("{value}{unit}")),
                ["99.00%", "in", value, unit, ..] => times.p99 = seconds(&format!("{value}{unit}")),
                // h2load: time for request: min max mean sd
                ["time", "for", "request:", _, _, mean, ..] => times.mean = seconds(mean),
                // httperf: Connection time [ms]: min 0.1 avg 50.0 ...
                ["Connection", "time", "[ms]:", "min", _, "avg", mean, ..] => {
                    times.mean = seconds(&format!("{mean}ms"));
                }
                _ => {}
            }
        }
        times
    }
}

/// A time such as `1.5ms` or `300us`, in seconds; `1m2.5s` has minutes.
fn seconds(text: &str) -> Option<f64> {
    let text = text.trim_end_matches(',');
    if let Some((minutes, rest)) = text
        .split_once('m')
        .filter(|(_, rest)| rest.starts_with(|first: char| first.is_ascii_digit()))
    {
        return Some(60.0 * minutes.parse::<f64>().ok()? + seconds(rest)?);
    }
    let units = [
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ms", 1e-3),
        ("secs", 1.0),
        ("sec", 1.0),
        ("s", 1.0),
    ];
    units
        .iter()
        .find_map(|(unit, scale)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? * scale))
}

fn is_installed(name: &str) -> bool {
    let asked = Command::new(name)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok()
}

/// What a generator prints. One that hangs, as some do when connections are refused, is ended. `timeout` is of GNU coreutils.
fn output(program: &str, arguments: &[String], seconds: u32) -> Result<String> {
    let output = Command::new("timeout")
        .arg((10 * seconds + 10).to_string())
        .arg(program)
        .args(arguments)
        .stderr(Stdio::null())
        .output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Those on this machine's path; ours first.
pub(crate) fn installed(kind: Connections) -> Result<Vec<Generator>> {
    let ours = std::env::current_exe()?.with_file_name("lastmile");
    ensure!(
        ours.is_file(),
        "{} is missing; build it with `cargo build`",
        ours.display()
    );
    let is_persistent = kind != Connections::PerRequest;
    let mut found = vec![Generator {
        name: "lastmile",
        program: ours.display().to_string(),
        arguments: if kind == Connections::Http2 {
            |url, seconds, _| {
                let mut words = own_words(url, seconds);
                words.extend(["--http2".to_owned(), format!("--streams={STREAMS}")]);
                words
            }
        } else {
            |url, seconds, is_persistent| {
                let mut words = own_words(url, seconds);
                if !is_persistent {
                    words.push("--requests-per-connection=1".to_owned());
                }
                words
            }
        },
        requests: |output| number_after(output, "\"completed\":"),
        is_persistent,
    }];
    let known: &[KnownGenerator] = if kind == Connections::Http2 {
        &KNOWN_HTTP2
    } else {
        &KNOWN
    };
    for (name, arguments, requests) in known {
        // It counts no request whose server closes the connection.
        if *name == "h2load" && !is_persistent {
            continue;
        }
        if is_installed(name) {
            found.push(Generator {
                name,
                program: if *name == "vegeta" { "sh" } else { name }.to_owned(),
                arguments: *arguments,
                requests: *requests,
                is_persistent,
            });
        } else {
            println!("  skipped: {name} is not installed");
        }
    }
    Ok(found)
}

fn own_words(url: &str, seconds: u32) -> Vec<String> {
    [
        "load".to_owned(),
        url.to_owned(),
        format!("--closed={CONNECTIONS}"),
        format!("--duration={seconds}s"),
        "--threads=1".to_owned(),
        "--format=json".to_owned(),
    ]
    .into()
}

impl Generator {
    /// The CPU time of its process per request, in seconds.
    pub(crate) fn cpu_per_request(&self, url: &str, seconds: u32) -> Result<f64> {
        let before = children_cpu_seconds()?;
        let arguments = (self.arguments)(url, seconds, self.is_persistent);
        let text = output(&self.program, &arguments, seconds)?;
        let used = children_cpu_seconds()? - before;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_generators_print_is_read() {
        let vegeta =
            "Latencies     [min, mean, 50, 90, 95, 99, max]  93.4µs, 50.2ms, 301.2µs, 1.1ms, 501.2ms, 1m0.9s, 1s";
        let expected = ReportedTimes {
            mean: Some(50.2 * 1e-3),
            p95: Some(501.2 * 1e-3),
            p99: Some(60.9),
        };
        assert_eq!(ReportedTimes::read(vegeta), expected);
        let oha = "  Average:\t0.0502 sec\n  95.00% in 0.5012 sec\n  99.00% in 900.0000 ms";
        let expected = ReportedTimes {
            mean: Some(0.0502),
            p95: Some(0.5012),
            p99: Some(900.0 * 1e-3),
        };
        assert_eq!(ReportedTimes::read(oha), expected);
        let httperf = "Connection time [ms]: min 0.1 avg 50.5 max 1000.0 median 0.5 stddev 170.1";
        assert_eq!(ReportedTimes::read(httperf).mean, Some(50.5 * 1e-3));
        assert_eq!(ReportedTimes::read("nothing"), ReportedTimes::default());
    }
}
