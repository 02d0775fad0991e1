//! Tests of `lastmile advise`: the answer, its report, and the errors on unusable traffic and links.

use crate::place::{Place, parsed};

/// A page of three small files.
fn site(place: &Place) -> &'static str {
    std::fs::create_dir(place.path().join("site")).unwrap();
    let lines = |line: &str, n: usize| (0..n).map(|i| line.replace('N', &i.to_string())).collect::<String>();
    place.file(
        "site/index.html",
        lines("<p class='item'>Number N of the list</p>\n", 120),
    );
    place.file("site/app.js", lines("export const fN = (a, b) => a * N + b;\n", 200));
    place.file(
        "site/data.json",
        format!("[{}0]", lines("{\"id\":N,\"name\":\"nameN\"},", 150)),
    );
    "site"
}

#[test]
fn a_folder_gets_an_answer_for_each_link_and_a_report_that_is_named() {
    let place = Place::new();
    let words = [
        "advise",
        site(&place),
        "--link",
        "wpt/3g,published/dialup-56k",
        "--repeats",
        "2",
        "--format",
        "json",
    ];
    let ended = place.run(&words);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
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
    let runs = place.runs();
    let [folder] = runs.as_slice() else { panic!("{runs:?}") };
    let page = folder.strip_prefix(place.path()).unwrap().join("report.html");
    assert_eq!(ended.stderr, format!("report: {}\n", page.display()));
    assert!(
        place
            .read(&page)
            .contains("lastmile advise site --link wpt/3g,published/dialup-56k --repeats 2")
    );
    assert_eq!(place.data(&words), ended.stdout, "the same every time");
}

#[test]
fn the_example_gets_an_answer_in_a_terminal_too() {
    let place = Place::new();
    let har = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop.har");
    let text = place.data(&[
        "advise",
        har,
        "--link",
        "wpt/3g",
        "--repeats",
        "1",
        "--report",
        "shop.html",
    ]);
    for words in ["wpt/3g", "nginx", "Apache", "Caddy"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(
        place.read("shop.html").starts_with("<!doctype html>")
            || place.read("shop.html").starts_with("<!DOCTYPE html>")
    );
    assert!(
        place.runs().is_empty(),
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
    let place = Place::new();
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
    place.file("mixed.har", har.to_string());
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
    let asked = |more: &[&str]| place.json(&[&words[..], &["--format", "json"], more].concat());
    let replayed = |advice: &serde_json::Value| -> Vec<serde_json::Value> {
        let hosts = advice["options"]["hosts"].as_array().unwrap();
        hosts.iter().map(|host| host["protocol"].clone()).collect()
    };
    let (as_recorded, over_1) = (asked(&[]), asked(&["--protocol", "http/1.1"]));
    assert_eq!(replayed(&as_recorded), ["http/1.1", "h2", "h2"]);
    assert_eq!(replayed(&over_1), ["http/1.1"; 3]);
    assert_ne!(as_recorded["links"][0]["page"], over_1["links"][0]["page"]);
    let text = place.data(&words).split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "HTTP/2 over 1 connection per host for 2 hosts, and HTTP/1.1 over up to 6 connections per host for old.example, as recorded",
        "1 of 3 hosts were recorded over HTTP/3 and are replayed over HTTP/2",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn every_flag_is_in_the_record() {
    let place = Place::new();
    let all = "--protocol h2 --no-tls --warm --repeats 1 --seed 7 --cpu free --slow-client 2 --threads 1 --no-report --server nginx --encodings br,gzip";
    let words = ["advise", site(&place), "--link", "wpt/cable", "--format", "json"];
    let advice = place.json(&[&words[..], &all.split(' ').collect::<Vec<_>>()].concat());
    let options = serde_json::json!({
        "protocol": "h2", "hosts": hosts("h2", 1), "tls": false, "connections": "warm", "repeats": 1, "repeats_max": 1,
        "encodings": ["gzip", "br"], "server": "nginx", "slow_client": 2.0
    });
    assert_eq!(advice["options"], options);
    assert_eq!((&advice["seed"], &advice["cpu"]), (&7.into(), &"free".into()));
    assert!(place.runs().is_empty(), "--no-report");
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
        assert!(place.data(&words).contains("wpt/cable"), "{format}");
    }
}

#[test]
fn what_is_not_said_is_as_the_help_states() {
    let place = Place::new();
    let advice = place.json(&[
        "advise",
        site(&place),
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
    let help = place.data(&["advise", "-h"]);
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
    let place = Place::new();
    let words = [
        "advise",
        site(&place),
        "--repeats",
        "1",
        "--no-report",
        "--format",
        "json",
    ];
    let ended = place.run(&words);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
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
    let place = Place::new();
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
    place
        .run(&["advise", place.file("nobody.har", nobody), "--link", "wpt/cable"])
        .refused(
            2,
            &[
                "nobody.har: none of 2 responses has its body",
                "Save all as HAR with content",
            ],
        );
    assert!(place.runs().is_empty());
    let document = "<p>A paragraph of the page.</p>\n".repeat(200);
    let few = har(vec![entry("/", "text/html", document.len(), &document), script]);
    let file = place.file("few.har", few);
    let refused = place.run(&["advise", file, "--link", "wpt/cable"]);
    refused.refused(2, &["90 kB of the 96.4 kB that could be compressed", "use --partial"]);
    assert!(place.runs().is_empty());
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
        let text = place.data(&words);
        let (doubt, answer) = (text.find("most-bodies-missing"), text.find("On wpt/cable"));
        assert!(doubt.is_some() && doubt < answer, "{text}");
    }
    let page = place.read("few.html");
    assert!(
        page.find("most-bodies-missing") < page.find("On wpt/cable: "),
        "and in the report"
    );
}

#[test]
fn traffic_that_cannot_be_read_is_refused_with_the_place_and_no_folder_is_made() {
    let place = Place::new();
    let advise = |traffic: &str| place.run(&["advise", traffic, "--link", "wpt/3g"]);
    advise("nowhere.har").refused(2, &["nowhere.har", "no such file"]);
    advise(place.file("empty.har", "")).refused(2, &["empty.har", "empty"]);
    advise(place.file("binary.har", b"\x7fELF\x02\x01\xff\xfe\x00\x00")).refused(2, &["binary.har"]);
    let har = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop.har")).unwrap();
    advise(place.file("cut.har", &har[..har.len() / 2])).refused(2, &["cut.har", "line ", "cut off"]);
    advise(place.file("other.har", "{\"log\": 3}")).refused(2, &["other.har", "line 1"]);
    std::fs::create_dir(place.path().join("nothing")).unwrap();
    advise("nothing").refused(2, &["nothing"]);
    assert!(place.runs().is_empty());
}

#[test]
fn a_link_or_an_option_that_cannot_be_used_is_refused() {
    let place = Place::new();
    let site = site(&place);
    let link = |link| place.run(&["advise", site, "--link", link]);
    link("wpt/3g,wpt/cabel").refused(
        2,
        &["\"wpt/cabel\"", "did you mean wpt/cable?", "lastmile profiles list"],
    );
    link("wpt/3g+los=1%").refused(2, &["wpt/3g+los=1%", "los", "loss"]);
    link("wpt/3g+loss=1").refused(2, &["loss"]);
    link("").refused(2, &["lastmile profiles list"]);
    place
        .run(&["advise", site, "--server", "iis"])
        .refused(2, &["iis", "nginx"]);
    place
        .run(&["advise", "https://shop.example/"])
        .refused(2, &["https://shop.example/", "Save all as HAR with content"]);
    place
        .run(&["advise", site, "--link", "wpt/3g", "--slow-client", "0"])
        .refused(2, &["slow-down is 0", "above 0"]);
    place
        .run(&["advise", site, "--link", "wpt/3g", "--protocol", "h3"])
        .refused(2, &["h3", "h2"]);
    place
        .run(&["advise", site, "--link", "wpt/3g", "--report", "."])
        .refused(2, &["--report .", "names no file"]);
    assert!(
        place.runs().is_empty(),
        "a folder made for a report that does not come goes again"
    );
}

/// A HAR of three texts, of which so many have their bodies, and the others 16 octets in their place.
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
    let place = Place::new();
    place.file("cut.har", recording(1));
    place.file("whole.har", recording(3));
    let run = |har: &str, more: &[&str]| {
        let words = ["advise", har, "--link", "wpt/cable", "--repeats", "1", "--no-report"];
        let ended = place.run(&[&words[..], more].concat());
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
