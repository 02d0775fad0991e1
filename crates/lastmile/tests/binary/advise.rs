//! `lastmile advise`: the answer, its report, and what is said of traffic and links that cannot be used.

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
        "wpt/3g,seeds/dialup-56k",
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
    assert_eq!(links, ["wpt/3g", "seeds/dialup-56k"]);
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
            .contains("lastmile advise site --link wpt/3g,seeds/dialup-56k --repeats 2")
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

#[test]
fn every_flag_is_in_the_record() {
    let place = Place::new();
    let all = "--protocol h2 --no-tls --warm --repeats 1 --seed 7 --cpu free --slow-client 2 --threads 1 --no-report";
    let words = ["advise", site(&place), "--link", "wpt/cable", "--format", "json"];
    let advice = place.json(&[&words[..], &all.split(' ').collect::<Vec<_>>()].concat());
    let options = serde_json::json!({
        "protocol": "h2", "connections_per_host": 1, "tls": false, "connections": "warm", "repeats": 1, "slow_client": 2.0
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
        "protocol": "http/1.1", "connections_per_host": 6, "tls": true, "connections": "cold", "repeats": 7, "slow_client": 4.0
    });
    assert_eq!(advice["options"], options);
    assert_eq!((&advice["seed"], &advice["cpu"]), (&1.into(), &"reference".into()));
    let help = place.data(&["advise", "-h"]);
    for default in [
        "from 1 [default: 7]",
        "[default: 4, a telephone]",
        "[default: http/1.1]",
    ] {
        assert!(
            help.split_whitespace().collect::<Vec<_>>().join(" ").contains(default),
            "{default}: {help}"
        );
    }
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
    place.run(&["advise", site]).refused(2, &["--link"]);
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
