//! Tests of studies over real kernels and with real servers. Where this machine has no network namespaces for this user, or lacks a server,
//! they are skipped with a note.

use crate::sandbox::{Ended, Sandbox, parsed};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How long servers may take to start or to end.
const PATIENCE: Duration = Duration::from_secs(30);

const STUDY: &str = r#"
name = "both-worlds"
question = "Is a transfer the same in both worlds?"
repeats = 2
fresh = "repeat"

[fixed]
delivery = "tcp"

[factors]
world = ["emu", "sim"]
workload = [
    { name = "bulk", kind = "bulk", bytes = "50 kB" },
    { name = "exchanges", kind = "request-response", requests = 3, request = "100 B", response = "2 kB" },
]
link = [{ name = "slow", rate = "1 Mbit/s", one_way_delay = "25 ms", queue = "50 packets" }]

[measure]
figures = ["transfer_time", "retransmissions", "queue_drops"]

[[ratio]]
name = "sim_over_emu"
title = "Simulated over emulated"
figure = "transfer_time"
form = "quotient"
factor = "world"
base = "emu"
treated = "sim"
"#;

/// One small response from each server.
const SERVERS: &str = r#"
name = "servers"
question = "Does every server deliver the objects?"
repeats = 2
world = "emu"

[fixed]
link = "published/intranet-100m"
case = { name = "G", kind = "test-executions", case = "G" }

[factors]
server = ["lastmile", "nginx", "apache", "tomcat", "jetty"]
codec = ["identity", "gzip:6"]

[measure]
figures = ["response_bytes", "extract_time", "server_cpu_time"]
"#;

/// Messages both ways, over three connections.
const MESSAGES: &str = r#"
name = "messages"
question = "Are messages there at the same times in both worlds?"
repeats = 2

[fixed]
delivery = "websocket"
workload = { kind = "chat", messages = 25, speakers = 3 }
message_interval = "100 ms"
link = { name = "slow", rate = "64 kbit/s", one_way_delay = "100 ms", queue = "100 packets" }

[factors]
world = ["emu", "sim"]
context_takeover = ["on", "off"]

[measure]
figures = ["delivery_time", "transfer_time", "compressed_bytes", "link_bytes"]
"#;

/// Messages that the application compresses, each sent when the one before has been decompressed. The link is so slow that a program that
/// waits some milliseconds for a core changes little.
const CODED_BY_APPLICATION: &str = r#"
name = "coded-by-application"
question = "Do codecs that WebSocket has not deliver in both worlds?"
repeats = 1

[fixed]
delivery = "websocket"
workload = { kind = "chat", messages = 10, speakers = 2 }
message_interval = "one-by-one"
link = { name = "slow", rate = "64 kbit/s", one_way_delay = "100 ms", queue = "100 packets" }

[factors]
world = ["emu", "sim"]
message_codec = ["zstd:3/w17", "brotli:5/w16/no-takeover", "lz4:1", "zlib-rs:6/w15/m8"]

[measure]
figures = ["delivery_time", "compressed_bytes", "link_bytes"]
"#;

/// The same messages from each server, with the settings that it supports.
const MESSAGE_SERVERS: &str = r#"
name = "message-servers"
question = "Does every server deliver the messages?"
repeats = 1
world = "emu"

[fixed]
delivery = "websocket"
workload = { kind = "chat", messages = 60 }
message_interval = "0 s"
link = "published/intranet-100m"

[factors]
server = ["lastmile", "python-websockets", "node-ws"]
message_codec = ["identity", "deflate:6/w15/m8", "deflate:1/w9/m4", "deflate:9/w12/m9/no-takeover"]

[measure]
figures = ["messages", "message_bytes", "compressed_bytes", "delivery_time", "server_cpu_time"]
"#;

/// Requests over a radio, far below its capacity.
const LOAD: &str = r#"
name = "load"
question = "Does a load over a radio take as long over real kernels?"
repeats = 1

[fixed]
delivery = "load"
radio = "802.11b"
transfer_size = "1 kB"
load_time = "2 s"
clients = 2

[factors]
world = ["emu", "sim"]
rate = [20]

[measure]
figures = ["response_time", "transaction_rate", "error_rate", "client_queue_drops", "airtime_share"]
"#;

/// The output of a run; none where this machine cannot run it.
fn ran(ended: &Ended) -> Option<Value> {
    if ended.code == Some(3) {
        eprintln!("skipped: {}", ended.stderr);
        return None;
    }
    ended.succeeded();
    Some(parsed(&ended.stdout))
}

fn figure(cell: &Value, name: &str) -> f64 {
    cell["figures"][name]["mean"]
        .as_f64()
        .unwrap_or_else(|| panic!("{name} of {cell}"))
}

#[test]
fn one_study_runs_in_both_worlds_and_they_agree() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("both.toml", STUDY);
    let Some(run) = ran(&sandbox.run(&["run", study, "--format", "json", "--capture"])) else {
        return;
    };
    let cells = run["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    for cell in cells {
        assert_eq!(
            (cell["repeats"].as_u64(), cell["failed"].as_u64()),
            (Some(2), Some(0)),
            "{cell}"
        );
        let real = cell["levels"]["world"] == "emu";
        let varied = cell["figures"]["transfer_time"]["varied"].as_array().unwrap();
        assert_eq!(varied.iter().any(|source| source == "machine"), real, "{cell}");
        // A busy machine makes a kernel late, and never early.
        if cell["levels"]["workload"] == "bulk" {
            assert!(
                figure(cell, "transfer_time") > 50e3 * 8.0 / 1e6,
                "faster than the link: {cell}"
            );
        }
    }
    let ratios = run["ratios"].as_array().unwrap();
    assert_eq!(ratios.len(), 2);
    for ratio in ratios {
        let of_ratio = |cell: &&Value| cell["levels"]["workload"] == ratio["levels"]["workload"];
        // What was disturbed by other work says nothing about the model, and is marked as such.
        if cells.iter().filter(of_ratio).all(|cell| cell["valid"] == true) {
            let mean = ratio["mean"].as_f64().unwrap();
            assert!((mean - 1.0).abs() < 0.05, "{ratio}");
        }
    }
    let captures = std::fs::read_dir(sandbox.runs()[0].join("captures")).unwrap().count();
    assert_eq!(captures, 4 * 2 * 3, "client, server and drops of each repeat");
}

#[test]
fn a_load_over_a_radio_is_alike_in_both_worlds() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("load.toml", LOAD);
    let Some(run) = ran(&sandbox.run(&["run", study, "--format", "json"])) else {
        return;
    };
    let cells = run["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    for cell in cells {
        assert_eq!(cell["failed"], 0, "{cell}");
        assert_eq!(cell["figures"]["response_time"]["n"], 40, "{cell}");
        assert_eq!(figure(cell, "error_rate"), 0.0, "{cell}");
        assert_eq!(figure(cell, "client_queue_drops"), 0.0, "{cell}");
        assert!(figure(cell, "airtime_share") > 0.05, "{cell}");
    }
    let [one, other] = ["emu", "sim"].map(|world| {
        let of_world = cells.iter().find(|cell| cell["levels"]["world"] == world);
        figure(of_world.unwrap(), "response_time")
    });
    // What was disturbed by other work says nothing about the model, and is marked as such.
    if cells.iter().all(|cell| cell["valid"] == true) {
        assert!((one / other - 1.0).abs() < 0.5, "{one} s and {other} s");
    }
}

/// The same load, by each generator that is installed.
#[test]
fn a_real_generator_measures_what_ours_does() {
    let sandbox = Sandbox::new();
    let text = LOAD.replace("world = [\"emu\", \"sim\"]", "generator = [\"lastmile\", \"httperf\"]");
    let study = sandbox.file(
        "generators.toml",
        // One client: two programs that start together would send at the same instants, and wait for each other on the radio.
        text.replace("clients = 2", "clients = 1\nworld = \"emu\""),
    );
    let ended = sandbox.run(&["run", study, "--format", "json"]);
    let Some(run) = ran(&ended) else { return };
    let cells = run["cells"].as_array().unwrap();
    let of = |name: &str| cells.iter().find(|cell| cell["levels"]["generator"] == name);
    let (Some(ours), Some(real)) = (of("lastmile"), of("httperf")) else {
        let line = ended.stderr.lines().find(|line| line.contains("httperf"));
        return eprintln!("skipped: {}", line.expect("what is left out is named"));
    };
    for cell in [ours, real] {
        assert_eq!(cell["failed"], 0, "{cell}");
        assert_eq!(figure(cell, "error_rate"), 0.0, "{cell}");
        // Both ask 40 times in 2 s; what is late at the end of so short a load is some per cent.
        assert!((figure(cell, "transaction_rate") / 20.0 - 1.0).abs() < 0.1, "{cell}");
    }
    if cells.iter().all(|cell| cell["valid"] == true) {
        let ratio = figure(real, "response_time") / figure(ours, "response_time");
        assert!((ratio - 1.0).abs() < 0.5, "{ratio}: {real}");
    }
}

#[test]
fn every_server_that_is_installed_delivers_the_objects_and_its_cpu_time_is_known() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("servers.toml", SERVERS);
    let ended = sandbox.run(&["run", study, "--format", "json"]);
    let Some(run) = ran(&ended) else { return };
    let cells = run["cells"].as_array().unwrap();
    for server in ["lastmile", "nginx", "apache", "tomcat", "jetty"] {
        let of_server = |codec: &str| {
            cells
                .iter()
                .find(|cell| cell["levels"]["server"] == server && cell["levels"]["codec"] == codec)
        };
        let (Some(plain), Some(gzip)) = (of_server("identity"), of_server("gzip:6")) else {
            let line = ended.stderr.lines().find(|line| line.contains(server));
            eprintln!(
                "skipped: {}",
                line.unwrap_or_else(|| panic!("{server} is neither run nor named: {}", ended.stderr))
            );
            continue;
        };
        assert!(
            figure(gzip, "response_bytes") < 0.5 * figure(plain, "response_bytes"),
            "{server}"
        );
        for cell in [plain, gzip] {
            assert_eq!(cell["failed"], 0, "{cell}");
            assert!(figure(cell, "server_cpu_time") > 0.0, "{cell}");
        }
    }
}

#[test]
fn a_study_that_is_killed_leaves_no_server_running() {
    let sandbox = Sandbox::new();
    // So slow that servers are always at work.
    let study = sandbox.file(
        "servers.toml",
        SERVERS.replace("published/intranet-100m", "published/dialup-56k"),
    );
    let mut command = sandbox.command(&["run", study, "--no-report"]);
    // The folder of the servers' state, by which their processes are recognised.
    command.env("TMPDIR", sandbox.path()).stderr(Stdio::piped());
    let mut lastmile = command.spawn().unwrap();
    let began = Instant::now();
    while servers(sandbox.path()) == 0 {
        assert!(began.elapsed() < PATIENCE, "no server was started");
        if lastmile.try_wait().unwrap().is_some() {
            // Without a world or a server, no process can be left.
            let ended = Ended::of(lastmile.wait_with_output().unwrap());
            return eprintln!("skipped: {}", ended.stderr);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    lastmile.kill().unwrap();
    lastmile.wait().unwrap();
    let killed = Instant::now();
    while servers(sandbox.path()) > 0 {
        assert!(killed.elapsed() < PATIENCE, "a server outlived the study");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How many processes have their state below a folder.
fn servers(folder: &Path) -> usize {
    let state = format!("LASTMILE_STATE={}", folder.display());
    let is_told = |process: &fs::DirEntry| {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        let mut variables = environment.split(|&byte| byte == 0);
        variables.any(|variable| variable.starts_with(state.as_bytes()))
    };
    fs::read_dir("/proc").unwrap().flatten().filter(is_told).count()
}

#[test]
fn messages_are_there_at_the_same_times_in_both_worlds() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("messages.toml", MESSAGES);
    let Some(run) = ran(&sandbox.run(&["run", study, "--format", "json"])) else {
        return;
    };
    let cells = run["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    for cell in cells {
        assert_eq!(cell["failed"], 0, "{cell}");
    }
    for takeover in ["on", "off"] {
        let of_world = |world: &str| {
            let of_both =
                |cell: &&Value| cell["levels"]["world"] == world && cell["levels"]["context_takeover"] == takeover;
            cells.iter().find(of_both).unwrap()
        };
        let (real, simulated) = (of_world("emu"), of_world("sim"));
        assert_eq!(figure(real, "compressed_bytes"), figure(simulated, "compressed_bytes"));
        // What was disturbed by other work says nothing about the model, and is marked as such.
        if real["valid"] == true {
            for name in ["delivery_time", "transfer_time", "link_bytes"] {
                let ratio = median(simulated, name) / median(real, name);
                assert!((ratio - 1.0).abs() < 0.05, "{name}: {ratio} of {real}");
            }
        }
    }
}

/// The figure of a cell's messages; a program that waits for a core makes single messages late.
fn median(cell: &Value, figure: &str) -> f64 {
    cell["figures"][figure]["quantiles"]["0.5"].as_f64().unwrap()
}

#[test]
fn what_the_application_codes_is_delivered_in_both_worlds() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("coded.toml", CODED_BY_APPLICATION);
    let Some(run) = ran(&sandbox.run(&["run", study, "--format", "json"])) else {
        return;
    };
    let cells = run["cells"].as_array().unwrap();
    let (real, simulated): (Vec<&Value>, _) = cells.iter().partition(|cell| cell["levels"]["world"] == "emu");
    assert_eq!((real.len(), simulated.len()), (4, 4));
    for (real, simulated) in real.into_iter().zip(simulated) {
        assert_eq!(
            (&real["failed"], &simulated["failed"]),
            (&0.into(), &0.into()),
            "{real}"
        );
        assert_eq!(figure(real, "compressed_bytes"), figure(simulated, "compressed_bytes"));
        // What was disturbed by other work says nothing about the model, and is marked as such.
        let ratio = median(simulated, "delivery_time") / median(real, "delivery_time");
        assert!(real["valid"] == false || (ratio - 1.0).abs() < 0.05, "{ratio}: {real}");
    }
}

#[test]
fn a_tuning_delivers_at_the_same_times_in_both_worlds() {
    let sandbox = Sandbox::new();
    let line = |n: usize| {
        format!(
            "{{\"from\":\"user{}\",\"room\":\"lobby\",\"text\":\"message number {n}\"}}\n",
            n % 7
        )
    };
    let chat = sandbox.file("chat.txt", (0..25).map(line).collect::<String>());
    let words = [
        &[
            "tune",
            chat,
            "--deflate-only",
            "--timing",
            "0s",
            "--no-report",
            "--format",
            "json",
        ][..],
        &["--link", "t+rate=80kbit/s+one_way_delay=50ms", "--world", "sim,emu"],
        &["--pace", "one-by-one", "--slow-client", "1", "--repeats", "2"],
        &["--fail-on", "p95(delivery_time)>10s"],
    ];
    let Some(tuning) = ran(&sandbox.run(&words.concat())) else {
        return;
    };
    let [simulated, real] = &tuning["links"].as_array().unwrap()[..] else {
        panic!("{tuning}")
    };
    assert_eq!((&simulated["world"], &real["world"]), (&"sim".into(), &"emu".into()));
    let summary = real["summary"].as_str().unwrap();
    assert!(summary.starts_with("On t, emulated, messages sent take"), "{summary}");
    let line: Vec<&Value> = tuning["thresholds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|threshold| &threshold["levels"]["world"])
        .collect();
    assert_eq!(line, ["sim", "emu"], "a rule says which world it was held against");
    let outcomes = |link: &Value| link["outcomes"].as_array().unwrap().clone();
    assert_eq!(outcomes(simulated).len(), outcomes(real).len());
    // What was disturbed by other work says nothing about the model, and is marked as such.
    let doubts = real["doubts"].as_array().unwrap();
    if doubts.iter().any(|doubt| doubt["kind"] == "disturbed") {
        return eprintln!("not compared: {doubts:?}");
    }
    for (simulated, real) in outcomes(simulated).iter().zip(outcomes(real)) {
        assert_eq!(simulated["setting"], real["setting"]);
        assert_eq!(real["delivery_time"]["n"], 2 * 25, "each message, each time");
        let median = |outcome: &Value| outcome["delivery_time"]["quantiles"]["0.5"].as_f64().unwrap();
        // On a quiet machine they are within 1 %; a program that waits for a core makes messages late, which no doubt reports.
        let ratio = median(simulated) / median(&real);
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}: {simulated} {real}");
        let ratio = simulated["link_bytes"]["mean"].as_f64().unwrap() / real["link_bytes"]["mean"].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}: {simulated} {real}");
    }
}

#[test]
fn every_server_of_messages_that_is_installed_delivers_them_as_it_is_set() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("message-servers.toml", MESSAGE_SERVERS);
    let ended = sandbox.run(&["run", study, "--format", "json"]);
    let Some(run) = ran(&ended) else { return };
    let cells = run["cells"].as_array().unwrap();
    let of_server = |server: &str| -> Vec<&Value> {
        let cells = cells.iter().filter(|cell| cell["levels"]["server"] == server);
        cells.collect()
    };
    let ours = of_server("lastmile");
    for server in ["python-websockets", "node-ws"] {
        let theirs = of_server(server);
        if theirs.is_empty() {
            let line = ended.stderr.lines().find(|line| line.contains(server));
            eprintln!(
                "skipped: {}",
                line.unwrap_or_else(|| panic!("{server} is neither run nor named: {}", ended.stderr))
            );
            continue;
        }
        assert_eq!(theirs.len(), ours.len());
        for (ours, theirs) in ours.iter().zip(theirs) {
            assert_eq!(theirs["failed"], 0, "{theirs}");
            assert_eq!(figure(ours, "message_bytes"), figure(theirs, "message_bytes"));
            assert!(figure(theirs, "server_cpu_time") > 0.0, "{theirs}");
            // Builds of zlib differ by a byte or two per message.
            let more = figure(theirs, "compressed_bytes") - figure(ours, "compressed_bytes");
            assert!(more.abs() <= 2.0 * figure(theirs, "messages"), "{ours} {theirs}");
        }
    }
}
