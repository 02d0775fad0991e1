//! Tests of `lastmile advise`: the answer, its report, and the errors on unusable traffic and links.

use crate::sandbox::{Sandbox, parsed};

/// A page of three small files.
fn page_folder(sandbox: &Sandbox) -> &'static str {
    std::fs::create_dir(sandbox.path().join("site")).unwrap();
    let lines = |line: &str, n: usize| (0..n).map(|i| line.replace('N', &i.to_string())).collect::<String>();
    sandbox.file(
        "site/index.html",
        lines("<p class='item'>Number N of the list</p>\n", 120),
    );
    sandbox.file("site/app.js", lines("export const fN = (a, b) => a * N + b;\n", 200));
    sandbox.file(
        "site/data.json",
        format!("[{}0]", lines("{\"id\":N,\"name\":\"nameN\"},", 150)),
    );
    "site"
}

#[test]
fn a_folder_gets_an_answer_for_each_link_and_a_report_that_is_named() {
    let sandbox = Sandbox::new();
    let words = [
        "advise",
        page_folder(&sandbox),
        "--link",
        "wpt/3g,published/dialup-56k",
        "--repeats",
        "2",
        "--format",
        "json",
    ];
    let ended = sandbox.run(&words);
    ended.succeeded();
    let advice = parsed(&ended.stdout);
    let links: Vec<_> = advice["links"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| link["name"].clone())
        .collect();
    assert_eq!(links, ["wpt/3g", "published/dialup-56k"]);
    assert_eq!(advice["traffic"]["responses"], 3);
    assert_ne!(
        advice["links"][1]["kinds"][0]["recommended"]["setting"], "identity",
        "text shrinks"
    );
    let runs = sandbox.runs();
    let [folder] = runs.as_slice() else { panic!("{runs:?}") };
    let page = folder.strip_prefix(sandbox.path()).unwrap().join("report.html");
    assert_eq!(ended.stderr, format!("report: {}\n", page.display()));
    assert!(
        sandbox
            .read(&page)
            .contains("lastmile advise site --link wpt/3g,published/dialup-56k --repeats 2")
    );
    assert_eq!(sandbox.data(&words), ended.stdout, "the same every time");
}

#[test]
fn the_example_gets_an_answer_in_a_terminal_too() {
    let sandbox = Sandbox::new();
    let har = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop.har");
    let text = sandbox.data(&[
        "advise",
        "--details",
        har,
        "--link",
        "wpt/3g",
        "--repeats",
        "1",
        "--report",
        "shop.html",
        "--har",
        "loads",
    ]);
    for load in ["today", "recommended"] {
        let archive = sandbox.read(format!("loads/wpt-3g-{load}.har"));
        let archive: serde_json::Value = serde_json::from_str(&archive).unwrap();
        assert_eq!(archive["log"]["entries"].as_array().unwrap().len(), 70, "{load}");
    }
    for words in ["wpt/3g", "nginx", "Apache", "Caddy"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(
        sandbox.read("shop.html").starts_with("<!doctype html>")
            || sandbox.read("shop.html").starts_with("<!DOCTYPE html>")
    );
    assert!(
        sandbox.runs().is_empty(),
        "the report is where it was asked for, and nothing is anywhere else"
    );
}

/// The hosts of the record of a folder.
fn hosts(protocol: &str, connections: u64) -> serde_json::Value {
    serde_json::json!([{
        "host": "https://localhost", "responses": 3, "recorded": null, "protocol": protocol, "connections": connections
    }])
}

#[test]
fn each_host_of_a_har_is_replayed_over_its_recorded_protocol_and_that_is_said() {
    let sandbox = Sandbox::new();
    let entry = |url: &str, version: &str| {
        let text = "some text of a page, ".repeat(500);
        serde_json::json!({
            "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 10,
            "request": { "method": "GET", "url": url, "httpVersion": version, "headers": [] },
            "response": {
                "status": 200, "httpVersion": version, "headers": [],
                "content": { "size": text.len(), "mimeType": "text/html", "text": text }
            },
            "timings": { "send": 0, "wait": 5, "receive": 5 }
        })
    };
    let har = serde_json::json!({ "log": {
        "version": "1.2", "creator": { "name": "test", "version": "1" },
        "entries": [
            entry("https://old.example/", "HTTP/1.1"),
            entry("https://new.example/", "http/2.0"),
            entry("https://new.example/b", "http/2.0"),
            entry("https://newest.example/", "h3")
        ]
    }});
    sandbox.file("mixed.har", har.to_string());
    let words = [
        "advise",
        "mixed.har",
        "--link",
        "wpt/cable",
        "--encodings",
        "gzip",
        "--repeats",
        "2",
        "--no-report",
    ];
    let asked = |more: &[&str]| sandbox.json(&[&words[..], &["--format", "json"], more].concat());
    let replayed = |advice: &serde_json::Value| -> Vec<serde_json::Value> {
        let hosts = advice["options"]["hosts"].as_array().unwrap();
        hosts.iter().map(|host| host["protocol"].clone()).collect()
    };
    let (as_recorded, over_1) = (asked(&[]), asked(&["--protocol", "http/1.1"]));
    assert_eq!(replayed(&as_recorded), ["http/1.1", "h2", "h2"]);
    assert_eq!(replayed(&over_1), ["http/1.1"; 3]);
    assert_ne!(as_recorded["links"][0]["page"], over_1["links"][0]["page"]);
    let text = sandbox.data(&[&words[..], &["--details"]].concat());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "HTTP/2 over 1 connection per host for 2 hosts, and HTTP/1.1 over up to 6 connections per host for old.example, as recorded",
        "1 of 3 hosts were recorded over HTTP/3 and are replayed over HTTP/2",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn every_flag_is_in_the_record() {
    let sandbox = Sandbox::new();
    let all = "--protocol h2 --no-tls --warm --repeats 1 --seed 7 --cpu free --slow-client 2 --threads 1 --no-report --server nginx --encodings br,gzip";
    let words = [
        "advise",
        page_folder(&sandbox),
        "--link",
        "wpt/cable",
        "--format",
        "json",
    ];
    let advice = sandbox.json(&[&words[..], &all.split(' ').collect::<Vec<_>>()].concat());
    let options = serde_json::json!({
        "protocol": "h2", "hosts": hosts("h2", 1), "tls": false, "connections": "warm", "repeats": 1, "repeats_max": 1,
        "encodings": ["gzip", "br"], "server": "nginx", "slow_client": 2.0
    });
    assert_eq!(advice["options"], options);
    assert_eq!((&advice["seed"], &advice["cpu"]), (&7.into(), &"free".into()));
    assert!(sandbox.runs().is_empty(), "--no-report");
    for format in ["table", "csv", "md"] {
        let words = [
            "advise",
            "site",
            "--link",
            "wpt/cable",
            "--repeats",
            "1",
            "--no-report",
            "--format",
            format,
        ];
        assert!(sandbox.data(&words).contains("wpt/cable"), "{format}");
    }
}

#[test]
fn what_is_not_said_is_as_the_help_states() {
    let sandbox = Sandbox::new();
    let advice = sandbox.json(&[
        "advise",
        page_folder(&sandbox),
        "--link",
        "wpt/cable",
        "--no-report",
        "--format",
        "json",
    ]);
    let options = serde_json::json!({
        "protocol": null, "hosts": hosts("http/1.1", 6), "tls": true, "connections": "cold", "repeats": 7, "repeats_max": 28,
        "encodings": ["gzip", "br", "zstd"], "server": null, "slow_client": 4.0
    });
    assert_eq!(advice["options"], options);
    assert_eq!((&advice["seed"], &advice["cpu"]), (&1.into(), &"reference".into()));
    let help = sandbox.data(&["advise", "-h"]);
    for default in [
        "[default: 7, and up to 28 where that does not decide]",
        "[default: 4, a phone]",
        "[default: each host's recorded one, or HTTP/1.1 where the traffic does not say]",
        "[default: wpt/3g,wpt/4g,wpt/cable]",
        "[default: gzip,br,zstd]",
    ] {
        assert!(
            help.split_whitespace().collect::<Vec<_>>().join(" ").contains(default),
            "{default}: {help}"
        );
    }
}

#[test]
fn without_a_link_three_are_used_and_that_is_said() {
    let sandbox = Sandbox::new();
    let words = [
        "advise",
        page_folder(&sandbox),
        "--repeats",
        "1",
        "--no-report",
        "--format",
        "json",
    ];
    let ended = sandbox.run(&words);
    ended.succeeded();
    let links = parsed(&ended.stdout)["links"].clone();
    let names: Vec<&str> = links
        .as_array()
        .unwrap()
        .iter()
        .map(|link| link["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["wpt/3g", "wpt/4g", "wpt/cable"]);
    assert!(
        ended
            .stderr
            .starts_with("links: wpt/3g,wpt/4g,wpt/cable; name your users' with --link"),
        "{}",
        ended.stderr
    );
}

/// A page of which the archive has no body, and one of which it lacks the larger ones.
#[test]
fn a_har_without_most_bodies_is_refused_and_a_partial_answer_says_so_first() {
    let sandbox = Sandbox::new();
    let entry = |path: &str, media_type: &str, size: usize, text: &str| {
        serde_json::json!({
            "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 10,
            "request": {"method": "GET", "url": format!("https://a.example{path}"), "headers": []},
            "response": {"status": 200, "headers": [], "bodySize": size, "content": if text.is_empty() {
                serde_json::json!({"size": size, "mimeType": media_type})
            } else {
                serde_json::json!({"size": size, "mimeType": media_type, "text": text})
            }}
        })
    };
    let har = |entries: Vec<serde_json::Value>| {
        serde_json::json!({"log": {"version": "1.2", "entries": entries}}).to_string()
    };
    let script = entry("/a.js", "text/javascript", 90_000, "");
    let nobody = har(vec![entry("/", "text/html", 5_000, ""), script.clone()]);
    sandbox
        .run(&["advise", sandbox.file("nobody.har", nobody), "--link", "wpt/cable"])
        .refused(
            2,
            &[
                "nobody.har: none of 2 responses has its body",
                "Save all as HAR with content",
            ],
        );
    assert!(sandbox.runs().is_empty());
    let document = "<p>A paragraph of the page.</p>\n".repeat(200);
    let few = har(vec![entry("/", "text/html", document.len(), &document), script]);
    let file = sandbox.file("few.har", few);
    let refused = sandbox.run(&["advise", file, "--link", "wpt/cable"]);
    refused.refused(2, &["90 kB of the 96.4 kB that could be compressed", "use --partial"]);
    assert!(sandbox.runs().is_empty());
    for format in ["table", "md"] {
        let words = [
            "advise",
            file,
            "--partial",
            "--link",
            "wpt/cable",
            "--repeats",
            "1",
            "--report",
            "few.html",
            "--format",
            format,
        ];
        let text = sandbox.data(&words);
        let (doubt, answer) = (text.find("most-bodies-missing"), text.find("On wpt/cable"));
        assert!(doubt.is_some() && doubt < answer, "{text}");
    }
    let page = sandbox.read("few.html");
    assert!(
        page.find("most-bodies-missing") < page.find("On wpt/cable: "),
        "and in the report"
    );
}

#[test]
fn traffic_that_cannot_be_read_is_refused_with_the_place_and_no_folder_is_made() {
    let sandbox = Sandbox::new();
    let advise = |traffic: &str| sandbox.run(&["advise", traffic, "--link", "wpt/3g"]);
    advise("nowhere.har").refused(2, &["nowhere.har", "no such file"]);
    advise(sandbox.file("empty.har", "")).refused(2, &["empty.har", "empty"]);
    advise(sandbox.file("binary.har", b"\x7fELF\x02\x01\xff\xfe\x00\x00")).refused(2, &["binary.har"]);
    let har = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop.har")).unwrap();
    advise(sandbox.file("cut.har", &har[..har.len() / 2])).refused(2, &["cut.har", "line ", "cut off"]);
    advise(sandbox.file("other.har", "{\"log\": 3}")).refused(2, &["other.har", "line 1"]);
    std::fs::create_dir(sandbox.path().join("nothing")).unwrap();
    advise("nothing").refused(2, &["nothing"]);
    assert!(sandbox.runs().is_empty());
}

#[test]
fn traffic_comes_packed_and_from_standard_input_which_no_next_step_names() {
    let sandbox = Sandbox::new();
    let line = |path: &str| serde_json::json!({"url": format!("https://localhost/{path}"), "content_type": "text/html", "body": "<p>text</p>".repeat(2000)});
    let lines = format!("{}\n{}\n", line("a"), line("b"));
    let plain = sandbox.path().join(sandbox.file("traffic.jsonl", lines));
    let gzip = std::process::Command::new("gzip")
        .arg("-c")
        .arg(&plain)
        .output()
        .unwrap();
    sandbox.file("packed", &gzip.stdout);
    let more = [
        "--link",
        "wpt/cable",
        "--encodings",
        "gzip",
        "--repeats",
        "1",
        "--no-report",
    ];
    let words = |traffic, format| [&["advise", traffic, "--format", format], &more[..]].concat();
    let screen = sandbox.data(&words("packed", "screen"));
    assert!(
        screen.contains("next: lastmile advise packed --link wpt/cable --server nginx"),
        "{screen}"
    );
    let piped = sandbox.piped(&words("-", "screen"), &gzip.stdout);
    piped.succeeded();
    assert!(!piped.stdout.contains("next:"), "{}", piped.stdout);
    let mut record = crate::sandbox::parsed(&sandbox.piped(&words("-", "json"), &gzip.stdout).stdout);
    assert_eq!(record["traffic"]["source"], "standard input");
    record["traffic"]["source"] = "traffic.jsonl".into();
    assert_eq!(record, sandbox.json(&words("traffic.jsonl", "json")));
    sandbox
        .piped(&words("-", "screen"), "")
        .refused(2, &["standard input: the file is empty"]);
}

#[test]
fn a_link_or_an_option_that_cannot_be_used_is_refused() {
    let sandbox = Sandbox::new();
    let page_folder = page_folder(&sandbox);
    let link = |link| sandbox.run(&["advise", page_folder, "--link", link]);
    link("wpt/3g,wpt/cabel").refused(
        2,
        &["\"wpt/cabel\"", "did you mean wpt/cable?", "lastmile profiles list"],
    );
    link("wpt/3g+los=1%").refused(2, &["wpt/3g+los=1%", "los", "loss"]);
    link("wpt/3g+loss=1").refused(2, &["loss"]);
    link("").refused(2, &["lastmile profiles list"]);
    sandbox
        .run(&["advise", page_folder, "--server", "iis"])
        .refused(2, &["iis", "nginx"]);
    sandbox
        .run(&["advise", "https://shop.example/"])
        .refused(2, &["https://shop.example/", "Save all as HAR with content"]);
    sandbox
        .run(&["advise", page_folder, "--link", "wpt/3g", "--slow-client", "0"])
        .refused(2, &["slow-down is 0", "above 0"]);
    sandbox
        .run(&["advise", page_folder, "--link", "wpt/3g", "--protocol", "h3"])
        .refused(2, &["h3", "h2"]);
    sandbox
        .run(&["advise", page_folder, "--link", "wpt/3g", "--report", "."])
        .refused(2, &["--report .", "names no file"]);
    assert!(
        sandbox.runs().is_empty(),
        "a folder made for a report that does not come goes again"
    );
}

/// A HAR of three texts, of which so many have their bodies, and the others 16 bytes in their place.
fn recording(bodies: usize) -> String {
    let entry = |number: usize| {
        let whole = "some text of a page, ".repeat(500);
        let text = if number < bodies { &*whole } else { "MANUALLY REMOVED" };
        serde_json::json!({
            "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 10,
            "request": { "method": "GET", "url": format!("https://a.example/{number}"), "headers": [] },
            "response": {
                "status": 200, "headers": [], "content": { "size": whole.len(), "mimeType": "text/html", "text": text }
            },
            "timings": { "send": 0, "wait": 5, "receive": 5 }
        })
    };
    serde_json::json!({ "log": { "entries": (0..3).map(entry).collect::<Vec<_>>() } }).to_string()
}

#[test]
fn no_answer_is_given_where_bodies_were_cut_off_or_the_server_can_do_nothing_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.file("cut.har", recording(1));
    sandbox.file("whole.har", recording(3));
    let run = |har: &str, more: &[&str]| {
        let words = ["advise", har, "--link", "wpt/cable", "--repeats", "1", "--no-report"];
        let ended = sandbox.run(&[&words[..], more].concat());
        (ended.code, ended.stderr + &ended.stdout)
    };
    let (code, said) = run("cut.har", &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("21 kB of the 31.5 kB that could be compressed are not in it"),
        "{said}"
    );
    let (code, said) = run("cut.har", &["--partial"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("doubt most-bodies-missing"), "{said}");
    let (code, said) = run("whole.har", &["--encodings", "zstd", "--server", "nginx"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("nginx can do gzip and br"), "{said}");
    assert_eq!(
        run("whole.har", &["--encodings", "gzip,zstd", "--server", "nginx"]).0,
        Some(0)
    );
}

fn read_har(file: &str) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// What Chromium recorded, with what its server was asked for beside it (`record.mjs` there makes them).
fn recorded(name: &str) -> (String, serde_json::Value) {
    let file = format!(
        "{}/../content/traffic/tests/recorded/{name}.har",
        env!("CARGO_MANIFEST_DIR")
    );
    let log = read_har(&file)["log"].clone();
    (file, log)
}

#[test]
fn of_a_recording_by_chromium_exactly_what_its_server_was_asked_for_is_replayed_and_the_rest_is_told() {
    let sandbox = Sandbox::new();
    for (name, beginning) in [
        ("disk-cache", "1 not replayed: the browser answered"),
        ("memory-cache", "2 not replayed: the browser answered"),
        ("service-worker", "2 not replayed: the browser answered"),
        ("redirect", ""),
        ("not-modified", "1 were answered by 304"),
        ("preload", ""),
        ("in-page", "2 are data: or blob: URLs"),
    ] {
        let (file, log) = recorded(name);
        let mut words = vec!["advise", &file, "--link", "wpt/cable", "--encodings", "gzip"];
        words.extend(["--repeats", "1", "--no-report", "--format", "json"]);
        let traffic = sandbox.json(&words)["traffic"].clone();
        let served = log["_served"].as_array().unwrap();
        let bytes: u64 = served.iter().map(|body| body["bytes"].as_u64().unwrap()).sum();
        assert_eq!(
            (
                &traffic["responses"],
                &traffic["today_bytes"],
                &traffic["identity_bytes"]
            ),
            (&served.len().into(), &bytes.into(), &bytes.into()),
            "{name}: {traffic}"
        );
        let notes = traffic["notes"].as_array().unwrap();
        let is_told = |note: &serde_json::Value| note.as_str().unwrap().starts_with(beginning);
        assert!(notes.iter().any(is_told) || beginning.is_empty(), "{name}: {traffic}");
        let left_out = log["entries"].as_array().unwrap().len() - served.len();
        assert_eq!(
            left_out > 0,
            beginning.contains("not replayed") || beginning.contains("data:"),
            "{name}"
        );
    }
}

/// Every kind of an advice over its first link.
fn kinds(advice: &serde_json::Value) -> &Vec<serde_json::Value> {
    advice["links"][0]["kinds"].as_array().unwrap()
}

#[test]
fn a_setting_saves_what_the_page_takes_longer_without_it_and_files_have_one_quality() {
    let sandbox = Sandbox::new();
    let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop.har");
    // The same recording without the bodies of its icons: they are replayed as recorded, uncompressed, whatever is recommended.
    let mut har = read_har(shop);
    for entry in har["log"]["entries"].as_array_mut().unwrap() {
        let content = entry["response"]["content"].as_object_mut().unwrap();
        if content["mimeType"].as_str().unwrap().starts_with("image/svg") {
            content.remove("text");
        }
    }
    let advised = |file: &str| {
        let words = "--link wpt/3g --encodings br --repeats 3 --no-report --format json";
        sandbox.json(&[&["advise", file], &words.split(' ').collect::<Vec<_>>()[..]].concat())
    };
    let (advice, without) = (advised(shop), advised(sandbox.file("without.har", har.to_string())));
    for (kind, of) in [&advice, &without]
        .into_iter()
        .flat_map(|advice| kinds(advice).iter().map(move |kind| (kind, advice)))
    {
        let setting = kind["recommended"]["setting"].as_str().unwrap();
        let is_compressed_inside = ["image", "font-woff"].contains(&kind["kind"].as_str().unwrap());
        assert!(
            kind["origin"] != "static" || setting == if is_compressed_inside { "identity" } else { "br:11" },
            "{kind}"
        );
        let saves = kind["recommended"]["page_saves"]["mean_s"].as_f64();
        let is_doubted = kind["doubts"]
            .as_array()
            .unwrap()
            .iter()
            .any(|doubt| doubt["kind"] == "uncertain-saving");
        assert!(saves.is_none_or(|saves| saves > 0.0 || is_doubted), "{kind}");
        assert_eq!(saves.is_none(), setting == "identity", "{kind}, of {}", of["answer"]);
    }
    let icons = kinds(&advice).iter().find(|kind| kind["kind"] == "svg").unwrap();
    let page_time = |advice: &serde_json::Value| advice["links"][0]["page"][0]["page_time"]["mean"].as_f64().unwrap();
    let saves = icons["recommended"]["page_saves"]["mean_s"].as_f64().unwrap();
    let (with, without) = (page_time(&advice), page_time(&without));
    assert!(
        (saves - (without - with)).abs() < 0.001,
        "{saves} s, of {with} s and {without} s without"
    );
    // A font that lost a packet comes a timeout later, in some loads.
    assert!((0.75..1.05).contains(&saves), "{saves}");
    assert!(icons["today_bytes"].as_u64() > icons["recommended"]["compressed_bytes"].as_u64());
}

#[test]
fn a_table_of_an_advice_has_no_interval_without_a_width_and_names_no_report_that_is_not_written() {
    let sandbox = Sandbox::new();
    let words = [
        "advise",
        "--details",
        page_folder(&sandbox),
        "--link",
        "wpt/cable",
        "--repeats",
        "5",
        "--no-report",
    ];
    let text = sandbox.data(&words);
    let mut before: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        // The interval of a mean stands in parentheses.
        if let [.., from, "to"] = before[..]
            && let Some(low) = from.strip_prefix('(')
        {
            assert_ne!(low, word.trim_end_matches(')'), "{text}");
        }
        before.push(word);
    }
    let table = text
        .split("What to use")
        .nth(1)
        .unwrap()
        .split("wpt/cable\n\n")
        .next()
        .unwrap();
    assert!(!table.contains("µs"), "a page takes more than that: {table}");
    assert!(!text.contains('±') && !text.contains("in the report"), "{text}");
}

#[test]
fn a_recording_of_another_tool_is_read_as_that_tool_means_it() {
    let sandbox = Sandbox::new();
    let script = (0..2000)
        .map(|line| format!("export const value{line} = {};\n", line * line % 977))
        .collect::<String>();
    let advised = |har: &serde_json::Value| {
        let words = "--link wpt/cable --encodings gzip,br --repeats 1 --no-report --format json";
        let file = sandbox.file("other.har", har.to_string());
        sandbox.run(&[&["advise", file], &words.split(' ').collect::<Vec<_>>()[..]].concat())
    };
    let entry = |fields: serde_json::Value| {
        let mut entry = serde_json::json!({
            "request": { "method": "GET", "url": "https://a.example/a.js", "httpVersion": "QUIC" },
            "response": {
                "status": 200, "bodySize": script.len(), "content": { "size": script.len(), "mimeType": "text/javascript", "text": script },
                "headers": [{ "name": "content-encoding", "value": "br" }, { "name": "content-length", "value": "5000" }]
            }
        });
        for (path, value) in fields.as_object().unwrap() {
            *entry.pointer_mut(path).unwrap() = value.clone();
        }
        serde_json::json!({ "log": { "entries": [entry] } })
    };
    // The content's size in place of the size on the link, and a name of HTTP/3 that no standard knows.
    let ended = advised(&entry(serde_json::json!({})));
    let advice = parsed(&ended.stdout);
    assert_eq!(
        (
            &advice["traffic"]["today_bytes"],
            &advice["options"]["hosts"][0]["recorded"]
        ),
        (&5000.into(), &"HTTP/3".into())
    );
    // The size on the link in place of the content's, and a body that was cut off.
    let mut cut = entry(serde_json::json!({ "/response/bodySize": 5000, "/response/content/size": 5000 }));
    cut["log"]["entries"][0]["_objectSizeUncompressed"] = (3 * script.len()).into();
    advised(&cut).refused(2, &["none of 1 responses has its body"]);
    // Content without a status is a cache's.
    let cached = advised(&entry(serde_json::json!({ "/response/status": 0 })));
    cached.refused(2, &["nothing to replay: 1 responses came from caches"]);
}

#[cfg(target_os = "linux")]
#[test]
fn where_chromium_loaded_this_page_its_times_are_told_in_place_of_those_of_other_pages() {
    let sandbox = Sandbox::new();
    let entry = |path: &str, media_type: &str, text: &str| {
        serde_json::json!({
            "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 10,
            "request": { "method": "GET", "url": format!("https://a.example/{path}"), "headers": [] },
            "response": { "status": 200, "headers": [], "content": { "size": text.len(), "mimeType": media_type, "text": text } }
        })
    };
    let words = "some text of a page, ".repeat(1000);
    let document = format!("<!doctype html><link rel=icon href='data:,'><script src=/a.js></script><p>{words}");
    let script = format!("var a = 1; // {words}");
    let entries = [
        entry("", "text/html", &document),
        entry("a.js", "text/javascript", &script),
    ];
    let har = serde_json::json!({ "log": { "entries": entries } }).to_string();
    let ended = sandbox.run(
        &[
            &[
                "advise",
                sandbox.file("page.har", har),
                "--link",
                "wpt/cable",
                "--encodings",
                "gzip",
            ][..],
            &[
                "--repeats",
                "1",
                "--browser-repeats",
                "1",
                "--world",
                "sim,emu",
                "--no-report",
                "--format",
                "json",
            ],
        ]
        .concat(),
    );
    if ended.code == Some(3) {
        return eprintln!("skipped: {}", ended.stderr);
    }
    ended.succeeded();
    let outcome = &parsed(&ended.stdout)["links"][0]["browser"]["outcomes"][0];
    assert!(outcome["requests_within_10_percent"].is_f64(), "{outcome}");
    let answer = parsed(&ended.stdout)["answer"].as_str().unwrap().to_owned();
    assert!(
        answer.contains("On wpt/cable, Chrom") && answer.contains("for this page as recommended"),
        "{answer}"
    );
    assert!(
        answer.contains("its simulated times are") && !answer.contains("other pages"),
        "{answer}"
    );
}
