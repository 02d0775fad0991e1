//! Tests of `lastmile load`: real sockets against servers of these tests, and the simulated world.

mod http2;
mod truth;

use crate::sandbox::{Ended, Sandbox, parsed};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// A server that answers each request with two bytes; its URL.
fn server() -> String {
    serve(|_| response("200 OK", b"ok"))
}

/// A server that answers each request as `reply` says, which is given its number; its URL.
fn serve(reply: impl Fn(u64) -> Vec<u8> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (requests, reply) = (Arc::new(AtomicU64::new(0)), Arc::new(reply));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let (requests, reply) = (Arc::clone(&requests), Arc::clone(&reply));
            stream.set_nodelay(true).unwrap();
            thread::spawn(move || {
                while read_request(&mut stream) {
                    let number = requests.fetch_add(1, Ordering::Relaxed);
                    if stream.write_all(&reply(number)).is_err() {
                        return;
                    }
                }
            });
        }
    });
    url
}

/// Reads a request; false at the end of the connection.
fn read_request(stream: &mut TcpStream) -> bool {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return false,
        }
    }
    true
}

fn response(status: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[test]
fn a_real_server_is_loaded_and_the_run_checks_itself() {
    let sandbox = Sandbox::new();
    let url = server();
    let ended = sandbox.run(&[
        "load",
        &url,
        "--rate",
        "50",
        "--duration",
        "500ms",
        "--format",
        "json",
        "--report",
        "load.html",
        "--hdr",
        "log.hlog",
    ]);
    let record = parsed(&ended.stdout);
    let run = &record["runs"][0];
    assert_eq!(
        (record["schema"].as_str(), run["world"].as_str()),
        (Some("lastmile/load/1"), Some("machine"))
    );
    assert_eq!(
        (
            run["intended"].as_u64(),
            run["completed"].as_u64(),
            run["failed"].as_u64()
        ),
        (Some(25), Some(25), Some(0))
    );
    for times in [
        "response",
        "service",
        "lateness",
        "connect",
        "first_byte",
        "transfer",
        "connection_duration",
        "round_trip",
    ] {
        assert!(run["times"][times]["n"].as_u64() > Some(0), "{times}");
    }
    assert!(run["self_check"]["cpu_s"].as_f64() > Some(0.0));
    // A busy machine may make the sender late, and the run invalid: the code says which.
    assert_eq!(
        ended.code,
        Some(if run["valid"] == true { 0 } else { 99 }),
        "{}",
        ended.stderr
    );
    assert!(sandbox.read("load.html").contains("Distribution of response times"));
    assert!(
        sandbox
            .read("log.hlog")
            .contains("#[Histogram log format version 1.3]\n")
    );
    assert!(sandbox.read("log.hlog").contains("\nTag=machine-50,0.000,0.500,"));
}

#[test]
fn a_sweep_in_virtual_time_has_a_knee_and_is_the_same_every_time() {
    let sandbox = Sandbox::new();
    let words = [
        "load",
        "http://server/",
        "--world",
        "sim",
        "--workers",
        "4",
        "--service-time",
        "20ms",
        "--arrivals",
        "poisson",
        "--sweep",
        "50..250/50",
        "--repeats",
        "2",
        "--format",
        "json",
    ];
    let first = sandbox.data(&words);
    let record = parsed(&first);
    assert_eq!(record["runs"].as_array().unwrap().len(), 10);
    let knee = record["knees"][0]["rate"].as_f64().unwrap();
    assert!(
        (100.0..=150.0).contains(&knee),
        "the power of M/D/4 is greatest at about three quarters of 200/s: {knee}"
    );
    assert_eq!(record["knees"][0]["carried_rate_max"], 200.0);
    assert_eq!(first, sandbox.data(&words));
    // The table, CSV and Markdown are made from the same record.
    for format in ["table", "csv", "md"] {
        let mut words = words.to_vec();
        *words.last_mut().unwrap() = format;
        assert!(sandbox.data(&words).contains("sim"), "{format}");
    }
}

#[test]
fn the_highest_rate_within_a_limit_is_found_with_an_interval() {
    let sandbox = Sandbox::new();
    let record = sandbox.json(&[
        "load",
        "http://server/",
        "--world",
        "sim",
        "--service-time",
        "10ms",
        "--slo",
        "p99<20ms,errors<1%",
        "--duration",
        "20s",
        "--resolution",
        "1%",
        "--format",
        "json",
    ]);
    let limit = &record["limits"][0];
    let rate = limit["rate"].as_f64().unwrap();
    assert!(
        (99.0..=101.0).contains(&rate),
        "constant arrivals wait only above 100/s: {rate}"
    );
    assert_eq!(
        (limit["broken_by"].as_str(), limit["repeats"].as_array().unwrap().len()),
        (Some("p99<20ms"), 3)
    );
    let none = sandbox.run(&[
        "load",
        "http://server/",
        "--world",
        "sim",
        "--service-time",
        "10ms",
        "--slo",
        "p99<5ms",
        "--duration",
        "1s",
    ]);
    assert_eq!(none.code, Some(99));
    assert!(none.stdout.contains("even the lowest rate breaks the limit"));
}

#[test]
fn sizes_are_swept() {
    let sandbox = Sandbox::new();
    let words = [
        "load",
        "http://server/",
        "--world",
        "sim",
        "--sizes",
        "1kB..4kB",
        "--link",
        "published/dialup-56k",
        "--rate",
        "1",
        "--format",
        "json",
    ];
    let record = sandbox.json(&words);
    let runs = record["runs"].as_array().unwrap();
    let sizes: Vec<_> = runs.iter().map(|run| run["size"].as_u64().unwrap()).collect();
    let times: Vec<_> = runs
        .iter()
        .map(|run| run["times"]["response"]["p50"].as_f64().unwrap())
        .collect();
    assert_eq!(sizes, [1_000, 2_000, 4_000]);
    // Each kilobyte takes 8,000 bits / 56 kbit/s, and its headers.
    assert!(
        (0.14..0.18).contains(&(times[1] - times[0])) && times.is_sorted(),
        "{times:?}"
    );
    let refused = sandbox.run(&["load", "http://127.0.0.1:1/", "--sizes", "1kB"]);
    assert!(
        refused.code == Some(2) && refused.stderr.contains("{size} in the URL"),
        "{}",
        refused.stderr
    );
}

#[test]
fn two_loads_are_compared() {
    let sandbox = Sandbox::new();
    for (name, time) in [("before", "10ms"), ("after", "12ms")] {
        let words = [
            "load",
            "http://server/",
            "--world",
            "sim",
            "--service-time",
            time,
            "--arrivals",
            "poisson",
            "--repeats",
            "3",
            "--format",
            "json",
        ];
        let record = sandbox.data(&words);
        sandbox.file(&format!("{name}.json"), record);
    }
    let ended = sandbox.run(&[
        "compare",
        "before.json",
        "after.json",
        "--fail-on",
        "mean(response_time)>+5%",
        "--format",
        "json",
    ]);
    assert_eq!(ended.code, Some(99), "{}", ended.stderr);
    let change = &parsed(&ended.stdout)["cells"][0]["changes"]["response_time"];
    assert_eq!(change["verdict"], "worse");
}

#[test]
fn what_may_not_be_loaded_is_refused_with_the_remedy() {
    let sandbox = Sandbox::new();
    let refused = |words: &[&str], remedy: &str| {
        let ended = sandbox.run(words);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(remedy), "{}", ended.stderr);
    };
    refused(&["load", "http://8.8.8.8/"], "--i-may-load-this");
    refused(&["load", "https://127.0.0.1/", "--ca", "missing.pem"], "missing.pem");
    refused(&["load", "ftp://127.0.0.1/"], "http");
    refused(&["load", "http://127.0.0.1/", "--rate", "0"], "requests per second");
    refused(&["load", "http://127.0.0.1/", "--slo", "p99>1s"], "upper bound");
    refused(
        &["load", "http://127.0.0.1/", "--sweep", "10..5/1"],
        "it ends below its beginning",
    );
    refused(
        &["load", "http://127.0.0.1/", "--warm-up", "20s"],
        "shorter than --duration",
    );
    refused(&["load", "http://10.0.0.1/", "--link", "wpt/3g"], "loopback");
    refused(&["load", "http://127.0.0.1/", "--link", "wpt/5g"], "wpt/");
    sandbox.file("times", "0\n2\n1\n");
    refused(&["load", "http://127.0.0.1/", "--schedule", "times"], "line 3");
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let sandbox = Sandbox::new();
    let url = server();
    let words = [
        "load",
        &url,
        "--rate",
        "50",
        "--duration",
        "1h",
        "--format",
        "json",
        "--report",
        "load.html",
    ];
    let mut command = sandbox.command(&words);
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    let interrupted = std::process::Command::new("kill")
        .args(["-INT", &running.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupted.success());
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let record = parsed(&String::from_utf8(output.stdout).unwrap());
    let run = &record["runs"][0];
    assert!(run["completed"].as_u64() > Some(10) && run["valid"] == false);
    assert_eq!(record["doubts"][0]["kind"], "interrupted");
    let page = sandbox.read("load.html");
    assert!(page.contains("INVALID: the figures do not count: the run was stopped before its end"));
    assert!(
        page.contains("constant arrivals for 3600 s per run (stopped after "),
        "{page}"
    );
}

/// A server with so many workers, each of which serves a request for so long; its URL.
fn workers(count: u32, service: Duration) -> String {
    let free = (Mutex::new(count), Condvar::new());
    serve(move |_| {
        let (count, freed) = &free;
        let mut left = freed.wait_while(count.lock().unwrap(), |count| *count == 0).unwrap();
        *left -= 1;
        drop(left);
        thread::sleep(service);
        *count.lock().unwrap() += 1;
        freed.notify_one();
        response("200 OK", &[b'x'; 1_000])
    })
}

/// The record of a load; none where this machine cannot make namespaces.
fn measured(ended: &Ended) -> Option<Value> {
    if ended.code == Some(3) {
        eprintln!("skipped: {}", ended.stderr);
        return None;
    }
    assert!(matches!(ended.code, Some(0 | 99)), "{}", ended.stderr);
    Some(parsed(&ended.stdout))
}

#[test]
fn a_load_takes_as_long_over_real_kernels_as_over_the_simulated_link() {
    let sandbox = Sandbox::new();
    let url = workers(2, Duration::from_millis(20));
    let ended = sandbox.run(&[
        "load",
        &url,
        "--world",
        "sim,emu",
        "--link",
        "t+rate=2Mbit/s+one_way_delay=20ms",
        "--workers",
        "2",
        "--service-time",
        "20ms",
        "--rate",
        "70",
        "--arrivals",
        "poisson",
        "--duration",
        "3s",
        "--requests-per-connection",
        "1",
        "--capture",
        "load.pcap",
        "--format",
        "json",
    ]);
    let Some(record) = measured(&ended) else { return };
    let runs = record["runs"].as_array().unwrap();
    let [simulated, real] = ["sim", "emu"].map(|world| runs.iter().find(|run| run["world"] == world).unwrap());
    assert_eq!(simulated["intended"], real["intended"]);
    assert_eq!(simulated["failed"], 0);
    assert!(std::fs::metadata(sandbox.path().join("load.pcap")).unwrap().len() > 10_000);
    // What was disturbed by other work says nothing about the models, and is marked as such.
    if real["valid"] == true {
        assert_eq!(real["failed"], 0, "{real}");
        let used = [simulated, real].map(|run| run["link"]["down"]["utilisation"].as_f64().unwrap());
        assert!((used[0] - used[1]).abs() < 0.1 && used[0] > 0.2, "{used:?}");
        // The capture has each request.
        assert_eq!(
            real["self_check"]["capture"]["requests"], real["sent"],
            "{}",
            ended.stderr
        );
        for (times, statistic) in [("connect", "mean"), ("response", "mean"), ("response", "p95")] {
            let [one, other] = [simulated, real].map(|run| run["times"][times][statistic].as_f64().unwrap());
            assert!(
                (one / other - 1.0).abs() < 0.15,
                "{times} {statistic}: {one} s and {other} s"
            );
        }
    }
}

#[test]
fn a_modelled_server_is_loaded_over_tls() {
    let sandbox = Sandbox::new();
    let record = sandbox.json(&[
        "load",
        "https://server/",
        "--world",
        "sim",
        "--rate",
        "10",
        "--format",
        "json",
    ]);
    let run = &record["runs"][0];
    assert_eq!(run["completed"], 100);
    assert_eq!(run["times"]["tls"]["n"], run["connections"]);
}

#[test]
fn a_modelled_server_is_loaded_over_http_2() {
    let sandbox = Sandbox::new();
    let record = sandbox.json(&[
        "load",
        "https://server/",
        "--http2",
        "--world",
        "sim",
        "--rate",
        "50",
        "--link",
        "wpt/3g",
        "--format",
        "json",
    ]);
    let run = &record["runs"][0];
    assert_eq!(
        (&run["completed"], &run["connections"]),
        (&500.into(), &1.into()),
        "{run}"
    );
    assert!(record["model"].as_str().unwrap().contains("HTTP/2"), "{record}");
    sandbox
        .run(&["load", "http://server/", "--world", "sim", "--streams", "5"])
        .refused(2, &["--http2"]);
}

#[test]
fn a_full_backlog_drops_connections_and_they_are_counted() {
    let sandbox = Sandbox::new();
    let words = [
        "load",
        "http://server/",
        "--world",
        "sim",
        "--service-time",
        "100ms",
        "--rate",
        "20",
        "--requests-per-connection",
        "1",
        "--backlog",
        "2",
        "--format",
        "json",
    ];
    let record = sandbox.json(&words);
    let run = &record["runs"][0];
    assert!(run["listen_drops"].as_u64() > Some(20), "{run}");
    assert!(run["errors"]["syn-lost"].as_u64() > Some(0), "{run}");
}
