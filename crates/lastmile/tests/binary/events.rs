//! Events end to end: programs emit, a sensor and a monitor keep, a query and a page show.
//!
//! What needs a Chromium or OpenTelemetry's SDK is skipped by name where it is missing (`make peers` installs them).

#[cfg(target_os = "linux")]
mod answers;
#[cfg(target_os = "linux")]
mod flipped_bits;
mod patience;
#[cfg(target_os = "linux")]
mod slow_link;
#[cfg(unix)]
mod spool;

use crate::browser::chromium;
use crate::sandbox::Sandbox;
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// A monitor or a sensor that runs until it is dropped.
struct Running {
    child: Child,
    /// What it says first, one line for each thing that it listens at.
    notes: Vec<String>,
}

impl Running {
    fn start(sandbox: &Sandbox, words: &[&str], notes: usize) -> Self {
        let mut child = sandbox.command(words).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let notes: Vec<String> = stderr.lines().take(notes).map(Result::unwrap).collect();
        Self { child, notes }
    }

    fn monitor(sandbox: &Sandbox, more: &[&str]) -> Self {
        let words = [&["monitor", "kept", "--listen", "127.0.0.1:0"], more].concat();
        Self::start(sandbox, &words, 1)
    }

    /// Ends it in good order.
    #[cfg(unix)]
    fn terminate(mut self) {
        let process = nix::unistd::Pid::from_raw(self.child.id() as i32);
        nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGTERM).unwrap();
        self.child.wait().unwrap();
    }

    /// The web address that a note ends with.
    fn url(&self) -> String {
        let address = |note: &String| note.find("http://").map(|at| note[at..].to_owned());
        self.notes
            .iter()
            .find_map(address)
            .unwrap_or_else(|| panic!("{:?}", self.notes))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks until so many events are there; fails where they do not come.
fn events(sandbox: &Sandbox, url: &str, subject: &str, count: usize) -> Vec<Value> {
    for _ in 0..200 {
        let ended = sandbox.run(&["query", subject, "--monitor", url]);
        ended.succeeded();
        let lines = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        let events: Vec<Value> = lines.filter(|line: &Value| line.get("subject").is_some()).collect();
        if events.len() >= count {
            return events;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("{count} events with the subject {subject} did not come");
}

/// A page as Chromium has it once its scripts have run for a while: again until it has what is awaited, since a busy machine may be late.
fn dom(chromium: &str, sandbox: &Sandbox, url: &str, awaited: &str) -> String {
    let mut page = String::new();
    for _ in 0..10 {
        let output = Command::new(chromium)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--virtual-time-budget=4000",
                "--dump-dom",
            ])
            .arg(format!("--user-data-dir={}", sandbox.path().join("chromium").display()))
            .arg(url)
            .stderr(Stdio::null())
            .output()
            .unwrap();
        page = String::from_utf8(output.stdout).unwrap();
        if page.contains(awaited) {
            break;
        }
    }
    page
}

const HOSTILE: &str = "<img src=x onerror=\"document.title='hacked'\"></td><script>document.title='hacked'</script>";

#[test]
fn the_live_page_draws_events_and_shows_hostile_texts_as_text() {
    let Some(chromium) = chromium() else {
        return eprintln!("skipped: no Chromium is installed (make peers installs it)");
    };
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &[]);
    let url = monitor.url();
    let hostile = format!("text={HOSTILE}");
    for rate in ["rate=1.5", "rate=7.25"] {
        let emitted = sandbox.run(&[
            "emit",
            "load.second",
            rate,
            "unit.rate=1/s",
            &hostile,
            "--monitor",
            &url,
        ]);
        emitted.succeeded();
    }
    let dom = dom(chromium, &sandbox, &url, "<polyline");
    assert!(dom.contains("<title>Live events</title>"), "{dom}");
    assert!(dom.contains(r#"role="status">live</p>"#), "{dom}");
    assert!(
        dom.contains(r#"aria-label="load.second rate: now 7.25 1/s, from 0 to 7.25 1/s"#),
        "{dom}"
    );
    assert!(dom.contains("<polyline points="), "{dom}");
    assert!(
        dom.contains("<td class=\"\">load.second</td><td class=\"number\">2</td>"),
        "{dom}"
    );
    assert!(dom.contains("&lt;img src=x onerror="), "{dom}");
    // The page has one script, its own, and no picture that a text could have brought.
    assert_eq!(
        (dom.matches("<script").count(), dom.matches("<img").count()),
        (1, 0),
        "{dom}"
    );
    assert!(dom.contains(r#"<form id="ask" hidden="">"#), "{dom}");
}

#[test]
fn a_monitor_that_others_can_reach_needs_a_token_and_its_page_asks_for_it() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&["monitor", "open", "--listen", "0.0.0.0:0"])
        .refused(2, &["--listen 0.0.0.0:0", "--token-file"]);
    sandbox
        .run(&["run", "bulk", "--live", "0.0.0.0:0", "--repeats", "1"])
        .refused(2, &["--live 0.0.0.0:0", "--token-file"]);
    sandbox.file("token", "a-token-of-this-test\n");
    let may = |mode| fs::set_permissions(sandbox.path().join("token"), fs::Permissions::from_mode(mode)).unwrap();
    may(0o644);
    sandbox
        .run(&["monitor", "kept", "--listen", "127.0.0.1:0", "--token-file", "token"])
        .refused(
            2,
            &[
                "--token-file token",
                "others can read this file (mode 0644)",
                "chmod 600 token",
            ],
        );
    may(0o600);
    let monitor = Running::monitor(&sandbox, &["--token-file", "token"]);
    let url = monitor.url();
    let without = sandbox.run(&["query", "--monitor", &url]);
    assert!(without.stderr.contains("token"), "{}", without.stderr);
    assert_ne!(without.code, Some(0));
    let with = ["query", "--monitor", &url, "--token-file", "token"];
    sandbox.run(&with).succeeded();
    let Some(chromium) = chromium() else {
        return eprintln!("skipped: no Chromium is installed (make peers installs it)");
    };
    let dom = dom(chromium, &sandbox, &url, ">a token is needed</p>");
    assert!(
        dom.contains(r#"<form id="ask">"#) && dom.contains(">a token is needed</p>"),
        "{dom}"
    );
}

#[test]
fn a_run_shows_itself_live_and_keeps_its_events() {
    let sandbox = Sandbox::new();
    let live = [
        "run",
        "bulk",
        "--repeats",
        "2",
        "--no-report",
        "--format",
        "json",
        "--out",
        "run",
    ];
    let shown = sandbox.run(&[&live[..], &["--live"]].concat());
    shown.succeeded();
    assert!(
        shown.stderr.contains("live page: http://127.0.0.1:"),
        "{}",
        shown.stderr
    );
    assert!(shown.stderr.contains("observing the run took"), "{}", shown.stderr);
    let plain = sandbox.run(&[&live[..8], &["other"]].concat());
    let cells = |text: &str| serde_json::from_str::<Value>(text).unwrap()["cells"].clone();
    assert_eq!(cells(&shown.stdout), cells(&plain.stdout), "observing moved a figure");

    let monitor = Running::start(&sandbox, &["monitor", "run/events", "--listen", "127.0.0.1:0"], 1);
    let url = monitor.url();
    // Eight cells of two repeats each.
    let repeats = events(&sandbox, &url, "run.repeat", 16);
    assert_eq!(repeats.len(), 16);
    assert!(
        repeats
            .iter()
            .all(|repeat| repeat["fields"]["transfer_time"].as_f64().unwrap() > 0.0)
    );
    // Of worlds that run side by side one is on view.
    let world = events(&sandbox, &url, "run.world.link-down", 1);
    assert!(
        world
            .iter()
            .any(|event| event["fields"]["rate"].as_f64().unwrap() > 0.0)
    );
    assert_eq!(world[0]["fields"]["unit.queue"], "packets");
    let progress = events(&sandbox, &url, "run.progress", 8);
    let last = progress.last().unwrap();
    assert_eq!(
        (&last["fields"]["done"], &last["fields"]["total"]),
        (&16.into(), &16.into())
    );
    assert_eq!(events(&sandbox, &url, "run.end", 1).len(), 1);
    let Some(chromium) = chromium() else {
        return eprintln!("skipped: no Chromium is installed (make peers installs it)");
    };
    let dom = dom(chromium, &sandbox, &url, "run.world.link-down queue");
    assert!(dom.contains(r#"<h1 id="title">bulk</h1>"#), "{dom}");
    assert!(dom.contains(r#"<span id="count">16 of 16 repeats.</span>"#), "{dom}");
    assert!(dom.contains(r#"aria-label="run.repeat transfer_time: now "#), "{dom}");
    assert!(dom.contains(r#"aria-label="run.world.link-down queue: now "#), "{dom}");
}

#[test]
fn logs_of_opentelemetrys_sdk_reach_the_sensor_and_are_found_by_query() {
    let peer: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/opentelemetry-python");
    if !peer.join("target/lib/opentelemetry/sdk/version/__init__.py").exists() {
        return eprintln!("skipped: opentelemetry-python is not installed (make peers installs it)");
    }
    let sandbox = Sandbox::new();
    let monitor = Running::monitor(&sandbox, &[]);
    let url = monitor.url();
    let words = [
        "sensor",
        "spool",
        "--monitor",
        &url,
        "--socket",
        "socket",
        "--otlp",
        "127.0.0.1:0",
    ];
    let sensor = Running::start(&sandbox, &words, 2);
    let otlp = sensor.url();
    let (host, port) = otlp.trim_start_matches("http://").split_once(':').unwrap();
    let output = Command::new("python3")
        .arg(peer.join("client.py"))
        .envs([
            ("LASTMILE_HOST", host),
            ("LASTMILE_PORT", port),
            ("LASTMILE_CALLS", "600"),
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let logs = events(&sandbox, &url, "log", 600);
    assert_eq!(logs.len(), 600);
    for (number, log) in logs.iter().enumerate() {
        let fields = &log["fields"];
        assert_eq!(fields["body"], format!("order {number} is late"));
        assert_eq!(
            (&fields["order"], &fields["late"], &fields["severity"]),
            (&number.into(), &true.into(), &"WARN".into())
        );
        assert_eq!(fields["resource.service.name"], "peer");
    }
    let late = sandbox.data(&["query", "log", "--where", "order >= 590", "--monitor", &url]);
    assert_eq!(late.lines().count(), 11, "ten events and the end: {late}");
}

#[test]
fn what_a_sensor_costs_its_program_is_measured_in_pairs() {
    let sandbox = Sandbox::new();
    let program = Path::new(crate::sandbox::LASTMILE).with_file_name("examples/observed_work");
    let program = program.to_str().unwrap();
    let record = sandbox.json(&["perturb", "--pairs", "3", "--format", "json", "--", program, "200"]);
    // Each run with the sensor emits an event a round, and its end.
    assert_eq!((&record["pairs"], &record["events"]), (&3.into(), &201.0.into()));
    let effects = record["effects"].as_array().unwrap();
    let names: Vec<&str> = effects.iter().map(|effect| effect["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["cpu_time", "run_time"]);
    for effect in effects {
        assert!(effect["without"]["mean"].as_f64().unwrap() > 0.0, "{effect}");
        assert_eq!(effect["with"]["n"], 3);
    }
    let silent = sandbox.data(&["perturb", "--pairs", "1", "--", "true"]);
    assert!(silent.contains("The program emitted no event"), "{silent}");
    sandbox
        .run(&["perturb", "--", "false"])
        .refused(2, &["false ended with exit status: 1"]);
}
