//! The load generators that are compared: the command of each, and the number of requests that its output gives.

use super::connections::Connections::{self, Http2, KeepAlive, PerRequest};
use anyhow::{Context as _, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use std::process::{Command, Stdio};

/// The connections of each.
pub(crate) const CONNECTIONS: u32 = 50;

/// The concurrent streams of each connection of HTTP/2.
const STREAMS: u32 = 10;

/// A generator that sends as fast as the server answers.
pub(crate) struct Generator {
    pub(crate) name: &'static str,
    command: String,
    /// Its output's number of requests.
    requests: fn(&str) -> Option<u64>,
}

/// How it connects, and its command for a shell.
type KnownCommand = (Connections, &'static str);

const KNOWN: [KnownCommand; 13] = [
    (KeepAlive, "wrk -t1 -c{connections} -d{seconds} {url}"),
    (
        PerRequest,
        "wrk -t1 -c{connections} -d{seconds} -H 'Connection: close' {url}",
    ),
    // None with a connection per request: it counts no request whose server closes the connection.
    (KeepAlive, "h2load --h1 -c{connections} -t1 -D{seconds} {url}"),
    (Http2, "h2load -c{http2_connections} -m{streams} -t1 -D{seconds} {url}"),
    (KeepAlive, "oha --no-tui -c{connections} -z{seconds}s {url}"),
    (
        PerRequest,
        "oha --no-tui -c{connections} -z{seconds}s --disable-keepalive {url}",
    ),
    (
        Http2,
        "oha --no-tui --http2 -c{http2_connections} -p{streams} -z{seconds}s {url}",
    ),
    (KeepAlive, "ab -c{connections} -t{seconds} -n100000000 -q -k {url}"),
    (PerRequest, "ab -c{connections} -t{seconds} -n100000000 -q {url}"),
    (
        KeepAlive,
        "httperf {server} --num-conns=$((5 * {seconds})) --num-calls=1000 --hog --timeout=2",
    ),
    (
        PerRequest,
        "httperf {server} --num-conns=$((3000 * {seconds})) --num-calls=1 --hog --timeout=2",
    ),
    (
        KeepAlive,
        "echo GET {url} | vegeta attack -rate=0 -max-workers={connections} -duration={seconds}s | vegeta report",
    ),
    (
        PerRequest,
        "echo GET {url} | vegeta attack -rate=0 -max-workers={connections} -duration={seconds}s -keepalive=false | vegeta report",
    ),
];

/// Generators that send at a rate. wrk and ab have none.
const PACED: [KnownCommand; 6] = [
    (
        KeepAlive,
        "echo GET {url} | vegeta attack -rate={rate} -duration={seconds}s | vegeta report",
    ),
    (
        PerRequest,
        "echo GET {url} | vegeta attack -rate={rate} -duration={seconds}s -keepalive=false | vegeta report",
    ),
    (
        KeepAlive,
        "oha --no-tui -c{connections} -q{rate} -z{seconds}s --latency-correction {url}",
    ),
    (
        PerRequest,
        "oha --no-tui -c{connections} -q{rate} -z{seconds}s --latency-correction --disable-keepalive {url}",
    ),
    // Its rate is that of each connection.
    (
        KeepAlive,
        "h2load --h1 -t1 -c{connections} --rps=$(({rate} / {connections})) -D{seconds} {url}",
    ),
    (
        PerRequest,
        "httperf {server} --rate={rate} --num-conns=$(({rate} * {seconds})) --hog --timeout=2",
    ),
];

const OURS: &str = "load {url} --closed={connections} --duration={seconds}s --threads=1 --format=json";

/// The name of a command's program.
fn name(command: &'static str) -> &'static str {
    command
        .trim_start_matches("echo GET {url} | ")
        .split(' ')
        .next()
        .unwrap_or(command)
}

/// The number of requests in a generator's output.
fn requests(name: &str) -> fn(&str) -> Option<u64> {
    match name {
        "wrk" => |output| word_before(output, "requests in"),
        "h2load" => |output| word_before(output, "done,"),
        "oha" => |output| word_before(output, "responses"),
        "ab" => |output| number_after(output, "Complete requests:"),
        "httperf" => |output| number_after(output, "replies "),
        // Requests [total, rate, throughput] 1000, ...
        _ => |output| {
            let line = output.lines().find(|line| line.starts_with("Requests"))?;
            line.split_whitespace().nth(4)?.trim_end_matches(',').parse().ok()
        },
    }
}

/// A generator that sends at a rate.
pub(crate) struct Paced {
    /// With how it connects.
    pub(crate) name: String,
    command: &'static str,
}

/// Those on this machine's path.
pub(crate) fn paced(is_persistent: bool) -> Vec<Paced> {
    let kind = if is_persistent { KeepAlive } else { PerRequest };
    let known = PACED.into_iter().filter(|(connections, _)| *connections == kind);
    let there = known.filter(|(_, command)| is_installed(name(command)));
    there
        .map(|(_, command)| Paced {
            name: if is_persistent {
                name(command).to_owned()
            } else {
                format!("{}, a connection per request", name(command))
            },
            command,
        })
        .collect()
}

impl Paced {
    /// Runs it at a rate; returns what it prints.
    pub(crate) fn run_at(&self, url: &str, rate: u32, seconds: u32) -> Result<String> {
        output(&self.command.replace("{rate}", &rate.to_string()), url, seconds)
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

/// What a generator's command prints. One that hangs, as some do when connections are refused, is ended. `timeout` is of GNU coreutils.
fn output(command: &str, url: &str, seconds: u32) -> Result<String> {
    let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap_or((url, ""));
    let (host, port) = host.split_once(':').unwrap_or((host, "80"));
    let values = [
        ("{server}", format!("--server={host} --port={port} --uri=/{path}")),
        ("{url}", url.to_owned()),
        ("{seconds}", seconds.to_string()),
        ("{connections}", CONNECTIONS.to_string()),
        ("{http2_connections}", (CONNECTIONS / STREAMS).to_string()),
        ("{streams}", STREAMS.to_string()),
    ];
    let filled = values.iter().fold(command.to_owned(), |command, (name, value)| {
        command.replace(name, value)
    });
    // The shell becomes the program, ours and others alike, in place of a process that waits for it. A pipeline needs it.
    let filled = if filled.contains('|') {
        filled
    } else {
        format!("exec {filled}")
    };
    let output = Command::new("timeout")
        .args([&(10 * seconds + 10).to_string(), "sh", "-c", &filled])
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
    let more = match kind {
        KeepAlive => String::new(),
        PerRequest => " --requests-per-connection=1".to_owned(),
        Http2 => format!(" --http2 --streams={STREAMS}"),
    };
    let mut found = vec![Generator {
        name: "lastmile",
        command: format!("'{}' {OURS}{more}", ours.display()),
        requests: |output| number_after(output, "\"completed\":"),
    }];
    for (_, command) in KNOWN.into_iter().filter(|(connections, _)| *connections == kind) {
        let name = name(command);
        if is_installed(name) {
            found.push(Generator {
                name,
                command: command.to_owned(),
                requests: requests(name),
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
        let text = output(&self.command, url, seconds)?;
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
