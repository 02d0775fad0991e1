//! Tests of `lastmile tune`: the answer, every point, its report, rules, and the errors on unusable transcripts.

pub(crate) mod capture;
mod log;

use crate::sandbox::{Sandbox, parsed};
use serde_json::Value;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Text that repeats from message to message, but not within a message.
fn chat(messages: usize) -> String {
    let line = |n: usize| {
        format!(
            "{{\"from\":\"user{}\",\"room\":\"lobby\",\"text\":\"message number {n}\"}}\n",
            n % 7
        )
    };
    (0..messages).map(line).collect()
}

/// Options for a short tuning: only the grid, and as little timing as possible.
const SHORT: [&str; 3] = ["--deflate-only", "--timing", "0s"];

fn words<'a>(transcript: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["tune", transcript][..], &SHORT, more].concat()
}

fn points<'a>(tuning: &'a Value, direction: &str) -> Vec<&'a Value> {
    let all = tuning["points"].as_array().unwrap();
    all.iter().filter(|point| point["direction"] == direction).collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[test]
fn a_transcript_gets_every_point_with_exact_sizes_and_memory() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.file("chat.txt", chat(60));
    let tuning = sandbox.json(&words(transcript, &["--no-report", "--format", "json"]));
    assert!(sandbox.runs().is_empty(), "--no-report");
    let bytes = chat(60).len() as u64 - 60;
    assert_eq!(tuning["transcript"]["messages"], 60);
    assert_eq!(tuning["transcript"]["format"], "text");
    assert_eq!(
        (&tuning["directions"][0]["bytes"], &tuning["directions"][1]),
        (&bytes.into(), &Value::Null)
    );
    let points = points(&tuning, "sent");
    assert_eq!(points.len(), 1_440);
    for point in &points {
        let [window_bits, runs_as, level, mem_level] =
            ["window_bits", "runs_as_window_bits", "level", "mem_level"].map(|name| number(&point[name]));
        assert_eq!(runs_as, window_bits.max(9));
        // zconf.h's formula, and zlib's five further allocations on 64 bits.
        assert_eq!(
            number(&point["memory_bytes"]),
            (1 << (runs_as + 2)) + (1 << (mem_level + 9)) + 5_968
        );
        let ratio = number(&point["compressed_bytes"]) as f64 / bytes as f64;
        assert!((point["ratio"].as_f64().unwrap() - ratio).abs() < 1e-12);
        assert_eq!((&point["exact"], &point["ratio_ci95"]), (&true.into(), &Value::Null));
        if level == 0 {
            assert!(ratio > 1.0, "what is stored is not smaller");
        }
    }
    let at = |takeover: bool, window_bits: u64| {
        let found = points.iter().find(|point| {
            point["takeover"] == takeover
                && point["window_bits"] == window_bits
                && point["level"] == 6
                && point["mem_level"] == 8
        });
        number(&found.unwrap()["compressed_bytes"])
    };
    assert_eq!(at(true, 8), at(true, 9), "8 window bits run as 9");
    assert!(
        at(true, 15) < at(true, 9) && at(true, 9) < at(false, 15),
        "what went before helps"
    );
    assert!(points.iter().any(|point| point["frontier"] == true));
    assert_eq!(tuning["answer"]["choices"][0]["scope"], "permessage-deflate");
    let implementations: Vec<_> = tuning["snippets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["implementation"].clone())
        .collect();
    assert_eq!(implementations, ["ws", "uwebsockets", "python-websockets", "jetty"]);
}

#[test]
fn a_terminal_gets_the_frontier_and_csv_gets_every_point() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.file("chat.txt", chat(60));
    sandbox.data(&words(transcript, &["--report", "chat.html"]));
    let resumed = |more: &[&str]| sandbox.data(&words(transcript, &[&["--resume"], more].concat()));
    let table = resumed(&["--details"]);
    assert!(table.lines().count() < 150, "{table}");
    for said in ["zlib's default", "no takeover", "uWebSockets", "--all"] {
        assert!(table.contains(said), "{said}: {table}");
    }
    assert!(
        resumed(&["--all"])
            .lines()
            .filter(|line| line.starts_with("deflate:"))
            .count()
            >= 1_440
    );
    let csv = resumed(&["--format", "csv"]);
    assert_eq!(csv.lines().filter(|line| line.starts_with("sent,grid,")).count(), 1_440);
    assert!(resumed(&["--format", "md"]).contains("| deflate:6/w15/m8 |"));
    let page = sandbox.read("chat.html");
    assert!(page.contains("Ratio by window and mem level") && page.contains("lastmile tune chat.txt"));
}

#[test]
fn every_form_of_transcript_is_recognised() {
    let sandbox = Sandbox::new();
    let read = |name: &str| {
        let tuning = sandbox.json(&words(name, &["--no-report", "--format", "json"]));
        let transcript = &tuning["transcript"];
        let directions = tuning["directions"].as_array().unwrap().iter();
        let messages = directions.map(|stream| number(&stream["messages"])).collect::<Vec<_>>();
        (transcript["format"].as_str().unwrap().to_owned(), messages)
    };
    let lines: String = (0..20)
        .map(|n| {
            let direction = if n % 4 == 0 { "received" } else { "sent" };
            format!("{{\"direction\":\"{direction}\",\"payload\":\"message number {n} of twenty\"}}\n")
        })
        .collect();
    sandbox.file("chat.jsonl", lines);
    assert_eq!(read("chat.jsonl"), ("jsonl".to_owned(), vec![15, 5]));
    let framed = |n: u32| {
        let payload = format!("reading {n} of the meter");
        [&(payload.len() as u32).to_be_bytes()[..], payload.as_bytes()].concat()
    };
    sandbox.file("telemetry.bin", (0..20).flat_map(framed).collect::<Vec<u8>>());
    assert_eq!(read("telemetry.bin"), ("binary".to_owned(), vec![20]));
    let messages: Vec<Value> = (0..20)
        .map(|n| {
            let kind = if n % 2 == 0 { "send" } else { "receive" };
            serde_json::json!({"type": kind, "time": 1_700_000_000.0 + f64::from(n), "opcode": 1, "data": format!("message {n}")})
        })
        .collect();
    let entry = serde_json::json!({
        "startedDateTime": "2026-01-31T14:23:59Z", "time": 1.0, "_resourceType": "websocket", "_webSocketMessages": messages,
        "request": {"method": "GET", "url": "wss://example.org/chat", "httpVersion": "HTTP/1.1", "headers": [], "queryString": [],
            "cookies": [], "headersSize": -1, "bodySize": 0},
        "response": {"status": 101, "statusText": "Switching Protocols", "httpVersion": "HTTP/1.1", "headers": [], "cookies": [],
            "content": {"size": 0, "mimeType": ""}, "redirectURL": "", "headersSize": -1, "bodySize": 0},
    });
    let har = serde_json::json!({"log": {"version": "1.2", "creator": {"name": "a browser", "version": "1"}, "entries": [entry]}});
    sandbox.file("page.har", har.to_string());
    assert_eq!(read("page.har"), ("har".to_owned(), vec![10, 10]));
    sandbox.file("chat.pcap", capture::of_messages(12));
    assert_eq!(read("chat.pcap"), ("pcap".to_owned(), vec![12, 12]));
}

#[test]
fn what_of_a_capture_is_not_in_the_messages_is_said() {
    let sandbox = Sandbox::new();
    let notes = |name: &str, file: Vec<u8>| {
        sandbox.file(name, file);
        let tuning = sandbox.json(&words(name, &["--no-report", "--format", "json"]));
        tuning["transcript"]["notes"].clone()
    };
    assert_eq!(notes("whole.pcap", capture::of_messages(12)), serde_json::json!([]));
    assert_eq!(
        notes("hole.pcap", capture::without_question(12, Some(4))),
        serde_json::json!([
            "messages from the client of connection 0 (10.0.0.1:40000 to 10.0.0.2:80) are read up to message 4 and no further: packets are \
             missing after it"
        ])
    );
}

#[test]
fn a_rule_that_is_broken_ends_with_99_and_one_that_holds_with_0() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.file("chat.txt", chat(60));
    let ended = sandbox.run(&words(
        transcript,
        &["--no-report", "--format", "json", "--fail-on", "ratio>0.01"],
    ));
    assert_eq!(ended.code, Some(99), "{}", ended.stderr);
    assert!(ended.stderr.contains("broken: ratio <= 0.01: 0."), "{}", ended.stderr);
    let tuning = parsed(&ended.stdout);
    assert_eq!(
        (&tuning["thresholds"][0]["held"], &tuning["thresholds"][0]["rule"]),
        (&false.into(), &"ratio <= 0.01".into())
    );
    let screen = sandbox.run(&words(transcript, &["--no-report", "--fail-on", "ratio>0.01"]));
    assert!(screen.stdout.contains("\nBROKEN: ratio <= 0.01. "), "{}", screen.stdout);
    let rules = ["--fail-on", "ratio>99%", "--fail-on", "memory(deflate:6/w15/m8)>262KiB"];
    let ended = sandbox.run(&words(transcript, &[&["--no-report"], &rules[..]].concat()));
    ended.succeeded();
    assert!(!ended.stdout.contains("BROKEN"), "{}", ended.stdout);
    let ended = sandbox.run(&words(
        transcript,
        &["--no-report", "--fail-on", "mean(delivery_time)>1s"],
    ));
    assert_eq!(
        ended.code,
        Some(99),
        "no link was asked for: a rule that checks nothing does not hold"
    );
    assert!(
        ended.stderr.contains("nothing here has that figure") && ended.stderr.contains("give --link"),
        "{}",
        ended.stderr
    );
}

#[test]
fn memory_that_is_short_makes_the_answer_smaller() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.file("chat.txt", chat(200));
    let total = |memory: &[&str]| {
        let more = [&["--no-report", "--format", "json", "--connections", "50000"], memory].concat();
        let tuning = sandbox.json(&words(transcript, &more));
        assert_eq!(tuning["options"]["connections"], 50_000);
        number(&tuning["answer"]["choices"][0]["memory_total_bytes"])
    };
    assert!(total(&["--memory", "2GiB"]) <= 2 << 30);
}

#[test]
fn what_may_be_left_and_computed_bounds_the_answer_and_what_goes_to_many_is_in_it() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.file("chat.txt", chat(200));
    let tuned = |more: &[&str]| {
        sandbox.json(&words(
            transcript,
            &[&["--no-report", "--format", "json"], more].concat(),
        ))
    };
    let bounded = tuned(&["--ratio", "50%", "--cpu", "1s"]);
    assert_eq!(
        (&bounded["options"]["ratio"], &bounded["options"]["cpu_seconds"]),
        (&0.5.into(), &1.0.into())
    );
    let choice = &bounded["answer"]["choices"][0];
    assert!(
        choice["ratio"].as_f64().unwrap() <= 0.5 && choice["fits"] == true,
        "{choice}"
    );
    let impossible = tuned(&["--ratio", "0.01"]);
    let answer = impossible["answer"]["text"].as_str().unwrap();
    assert_eq!(impossible["answer"]["choices"][0]["fits"], false);
    assert!(answer.contains("(limit 1 %, exceeded by "), "{answer}");
    let shared = tuned(&["--connections", "50", "--receivers", "40"]);
    assert_eq!(shared["options"]["receivers"], 40);
    let codecs = shared["codecs"].as_array().unwrap();
    assert!(
        codecs
            .iter()
            .any(|codec| codec["policy"] == "compressed once per broadcast")
    );
}

#[test]
fn links_are_delivered_over() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.file("chat.txt", chat(40));
    let links = [
        "--link",
        "wpt/3g,published/dialup-56k",
        "--no-report",
        "--format",
        "json",
    ];
    let tuning = sandbox.json(&words(transcript, &links));
    let links = tuning["links"].as_array().unwrap();
    assert_eq!(links.len(), 2);
    for link in links {
        let outcomes = link["outcomes"].as_array().unwrap();
        assert!(outcomes.iter().any(|outcome| outcome["setting"] == "identity"));
        assert!(
            outcomes
                .iter()
                .all(|outcome| outcome["delivery_time"]["mean"].as_f64().unwrap() > 0.0)
        );
    }
}

#[test]
fn a_rate_gets_bits_and_memory_that_add_up() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.file("chat.txt", "x".repeat(99) + "\n");
    let screen = sandbox.data(&words(
        transcript,
        &["--no-report", "--connections", "1000", "--rate", "10"],
    ));
    // 10,000 messages a second of 99 bytes.
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        screen.contains("At 10 messages a second on each of 1000 connections, deflate:")
            && screen.contains("(7.92 Mbit/s not compressed)"),
        "{screen}"
    );
    sandbox
        .run(&words(transcript, &["--rate", "0"]))
        .refused(2, &["--rate", "above 0"]);
}

#[test]
fn what_was_measured_is_not_measured_again() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.file("chat.txt", chat(60));
    let first = sandbox.data(&words(transcript, &["--format", "json"]));
    let runs = sandbox.runs();
    let [folder] = runs.as_slice() else { panic!("{runs:?}") };
    let journal = sandbox.read(folder.join("journal.jsonl"));
    assert!(folder.join("report.html").is_file());
    let again = sandbox.data(&words(transcript, &["--format", "json", "--resume"]));
    assert_eq!(again, first, "times are from the journal too");
    assert_eq!(sandbox.read(folder.join("journal.jsonl")), journal);
    // Cut off in the middle of a line.
    std::fs::write(folder.join("journal.jsonl"), &journal[..journal.len() / 2]).unwrap();
    let folder_name = folder.to_str().unwrap();
    let resumed = parsed(&sandbox.data(&words(transcript, &["--format", "json", "--resume", folder_name])));
    let sizes = |tuning: &Value| {
        points(tuning, "sent")
            .iter()
            .map(|p| p["compressed_bytes"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(sizes(&resumed), sizes(&parsed(&first)));
    assert_eq!(sandbox.runs().len(), 1, "no other folder was made");
}

/// Needs `kill`, and a tuning that does not end by itself while it is being stopped: some seconds of work remain after the first stored part.
#[cfg(unix)]
#[test]
fn ctrl_c_stops_in_good_order_and_what_was_done_is_gone_on_with() {
    let sandbox = Sandbox::new();
    sandbox.file("chat.txt", chat(600));
    let mut command = sandbox.command(&["tune", "chat.txt", "--timing", "600s"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = |journal: &Path| std::fs::read_to_string(journal).unwrap_or_default().lines().count();
    while sandbox
        .runs()
        .first()
        .is_none_or(|folder| lines(&folder.join("journal.jsonl")) == 0)
    {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was stopped");
        std::thread::yield_now();
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(ended.stdout.is_empty(), "no record of a part");
    let go_on = "go on with: lastmile tune chat.txt --timing 600s --resume runs/tune-";
    assert!(said.contains(go_on), "{said}");
    let journal = sandbox.runs()[0].join("journal.jsonl");
    let before = sandbox.read(&journal);
    assert!(before.ends_with('\n'), "its last line is whole");
    sandbox.data(&words("chat.txt", &["--resume"]));
    assert!(sandbox.read(&journal).starts_with(&before), "what was there stays");
    assert_eq!(sandbox.runs().len(), 1);
}

#[test]
fn a_transcript_that_cannot_be_read_is_refused_with_file_place_and_remedy() {
    let sandbox = Sandbox::new();
    let refused = |name: &str, content: &[u8], more: &[&str], said: &[&str]| {
        sandbox.file(name, content);
        sandbox.run(&words(name, more)).refused(2, &[&[name], said].concat());
        assert!(sandbox.runs().is_empty(), "{name}: no folder is made for it");
    };
    sandbox
        .run(&words("nowhere.txt", &[]))
        .refused(2, &["nowhere.txt", "cannot be read", "give a file"]);
    std::fs::create_dir(sandbox.path().join("folder")).unwrap();
    sandbox.run(&words("folder", &[])).refused(2, &["folder is a folder"]);
    refused("empty.txt", b"", &[], &["empty"]);
    let lines = b"{\"direction\":\"sent\",\"payload\":\"a\"}\n{\"direction\":\"sideways\",\"payload\":\"b\"}\n";
    refused("broken.jsonl", lines, &[], &["line 2", "sideways"]);
    refused(
        "cut.bin",
        b"\0\0\0\x05hello\0\0\0\x09cut",
        &["--input", "binary"],
        &["byte"],
    );
    refused(
        "no.har",
        b"{\"log\":{\"version\":\"1.2\",\"entries\":[]}}",
        &[],
        &["message"],
    );
    refused("no-web-sockets.pcap", &capture::empty(), &[], &["no-web-sockets.pcap"]);
    refused("latin.txt", b"caf\xe9\n", &["--input", "jsonl"], &["line 1"]);
    refused("zip.txt", b"PK\x03\x04 and so on", &[], &["zip"]);
}

#[test]
fn a_transcript_comes_from_standard_input_too() {
    let sandbox = Sandbox::new();
    let words = words("-", &["--no-report", "--format", "json"]);
    for (written, format) in [(chat(20).into_bytes(), "text"), (capture::of_messages(12), "pcap")] {
        let tuning = parsed(&sandbox.piped(&words, &written).stdout);
        assert_eq!(tuning["transcript"]["source"], "standard input");
        assert_eq!(tuning["transcript"]["format"], format);
    }
    sandbox.run(&words).refused(2, &["standard input", "empty"]);
}

#[test]
fn a_strategy_that_is_named_twice_is_tried_once() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.file("chat.txt", chat(20));
    let more = ["--strategy", "rle,fixed,rle", "--no-report", "--format", "json"];
    assert_eq!(
        points(&sandbox.json(&words(transcript, &more)), "sent").len(),
        2 * 1_440
    );
}

/// Needs Linux's /proc, in which no user can make a file.
#[cfg(target_os = "linux")]
#[test]
fn figures_are_printed_where_their_page_cannot_be_written() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.file("chat.txt", chat(20));
    let ended = sandbox.run(&words(
        transcript,
        &["--report", "/proc/report.html", "--format", "json"],
    ));
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("/proc/report.html"), "{}", ended.stderr);
    assert_eq!(points(&parsed(&ended.stdout), "sent").len(), 1_440);
}

#[test]
fn messages_without_payload_leave_nothing_to_compress_and_no_folder() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.file("silent.txt", "\n\n\n");
    sandbox
        .run(&words(transcript, &[]))
        .refused(2, &["silent.txt", "nothing to compress"]);
    assert!(sandbox.runs().is_empty());
}

#[test]
fn an_option_that_is_not_understood_is_refused_before_anything_is_read() {
    let sandbox = Sandbox::new();
    let refused = |more: &[&str], said: &[&str]| sandbox.run(&words("nowhere.txt", more)).refused(2, said);
    refused(&["--memory", "8"], &["--memory", "unit"]);
    refused(
        &["--connections", "0"],
        &["--connections", "a whole number from 1 to 1000000000"],
    );
    refused(&["--connections", "1e9"], &["--connections", "50_000 or 50k"]);
    refused(&["--cores", "70000"], &["a whole number from 1 to 65535"]);
    refused(&["--repeats", "0"], &["--repeats", "a whole number from 1,"]);
    refused(&["--ratio", "0"], &["--ratio", "0.35 or 35%"]);
    refused(&["--cpu", "20"], &["--cpu", "unit"]);
    refused(&["--pace", "fast"], &["one-by-one or 10/s"]);
    refused(&["--world", "emu"], &["--link"]);
    refused(&["--link", "wpt/3g", "--world", "real"], &["sim, emu"]);
    refused(
        &["--fail-on", "ration>0.3"],
        &["there is no figure \"ration\"", "ratio>0.35"],
    );
    refused(
        &["--fail-on", "ratio"],
        &["'ratio' for '--fail-on <RULE>': it has neither > nor <"],
    );
    refused(&["--link", "wpt/3gg"], &["did you mean wpt/3g?"]);
    refused(&["--input", "xml"], &["text, jsonl, binary, har, pcap"]);
    let transcript = sandbox.file("chat.txt", chat(3));
    sandbox.run(&words(transcript, &["--receivers", "40"])).refused(
        2,
        &["receivers", "40, of 1 connections", "give at least as many connections"],
    );
    sandbox
        .run(&words(transcript, &["--resume"]))
        .refused(2, &["no tuning is under runs/", "--resume RUN"]);
    sandbox
        .run(&words(transcript, &["--resume", "nowhere"]))
        .refused(2, &["nowhere does not exist"]);
    sandbox
        .run(&words(transcript, &["--report", "."]))
        .refused(2, &["--report", "names no file"]);
}
