//! Claims about the page load of a fictitious shop, which is committed under `examples/` as data.

use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

/// The factor by which gzip at level 6 reduces `body`.
fn ratio(body: &[u8]) -> f64 {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(body).unwrap();
    body.len() as f64 / encoder.finish().unwrap().len() as f64
}

fn example(path: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../examples")
        .join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn bodies_shrink_about_as_their_kinds_do_on_real_sites() {
    // Typical ranges of gzip on such files; they have no single source.
    for (path, range) in [
        ("responses/index.html", 4.0..6.0),
        ("responses/app.js", 3.0..4.0),
        ("responses/base.css", 4.0..6.0),
        ("responses/products.json", 5.0..10.0),
        ("responses/terms.txt", 2.0..3.0),
        ("responses/map.svg", 2.0..3.0),
        ("responses/photo.webp", 0.99..1.0),
    ] {
        let found = ratio(&example(path));
        assert!(range.contains(&found), "{path}: {found:.2}, expected {range:?}");
    }
}

fn archive() -> Value {
    serde_json::from_slice(&example("shop.har")).unwrap()
}

fn url(entry: &Value) -> &str {
    entry["request"]["url"].as_str().unwrap()
}

/// The URL of the text that led to an entry.
fn initiator(entry: &Value) -> Option<&str> {
    let initiator = &entry["_initiator"];
    let url = initiator
        .get("url")
        .or_else(|| initiator.pointer("/stack/callFrames/0/url"))?;
    url.as_str()
}

/// A document, a style sheet or a script.
fn can_name_files(entry: &Value) -> bool {
    let kind = entry["response"]["content"]["mimeType"].as_str().unwrap();
    ["text/html", "text/css", "text/javascript"]
        .iter()
        .any(|essence| kind.starts_with(essence))
}

fn text(entry: &Value) -> &str {
    entry["response"]["content"]["text"].as_str().unwrap_or_default()
}

/// When an entry began, in milliseconds; it lasts less than a minute.
fn started(entry: &Value) -> f64 {
    let time = entry["startedDateTime"].as_str().unwrap();
    time[17..].trim_end_matches('Z').parse::<f64>().unwrap() * 1000.0
}

#[test]
fn each_response_is_named_by_the_text_that_its_initiator_says() {
    let archive = archive();
    let entries = archive["log"]["entries"].as_array().unwrap();
    let find = |wanted: &str| entries.iter().find(|entry| url(entry) == wanted).unwrap();
    // The first is the redirect to the document.
    for entry in &entries[2..] {
        let holder = find(initiator(entry).unwrap_or_else(|| panic!("{} has no initiator", url(entry))));
        assert!(
            can_name_files(holder) && started(holder) < started(entry),
            "{}",
            url(entry)
        );
        let is_image = entry["response"]["content"]["mimeType"]
            .as_str()
            .unwrap()
            .starts_with("image/");
        if entry["_initiator"]["type"] == "script" && is_image {
            let attribute = format!("data-src=\"{}\"", url(entry));
            assert!(text(&entries[1]).contains(&attribute) && text(holder).contains("img[data-src]"));
        } else {
            let name = url(entry).rsplit("shop.example/").next().unwrap();
            assert!(text(holder).contains(name), "{}", url(entry));
        }
    }
}

#[test]
fn every_file_that_the_page_names_is_recorded() {
    let archive = archive();
    let entries = archive["log"]["entries"].as_array().unwrap();
    let urls: BTreeSet<&str> = entries.iter().map(url).collect();
    let mut named = BTreeSet::new();
    for entry in entries.iter().filter(|entry| can_name_files(entry)) {
        let text = text(entry).replace("url(..", "url(https://static.shop.example");
        for begin in ["https://static.", "https://api."] {
            for (at, _) in text.match_indices(begin) {
                let end = text[at..].find(['"', ')']).unwrap();
                named.insert(text[at..at + end].to_owned());
            }
        }
    }
    let unknown: Vec<_> = named.iter().filter(|name| !urls.contains(&***name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert_eq!(
        named.len(),
        urls.len() - 3,
        "all but the document, its redirect and a part of the page"
    );
}

#[test]
fn the_load_event_is_fired_when_all_before_it_has_arrived() {
    let archive = archive();
    let load = archive["log"]["pages"][0]["pageTimings"]["onLoad"].as_f64().unwrap();
    let entries = archive["log"]["entries"].as_array().unwrap();
    let (before, after): (Vec<&Value>, Vec<&Value>) = entries.iter().partition(|entry| started(entry) < load);
    let end = |entry: &&Value| started(entry) + entry["time"].as_f64().unwrap();
    let last = before.iter().map(end).fold(0.0, f64::max);
    assert!((load - 10.0..=load).contains(&last), "{last}");
    assert_eq!((before.len(), after.len()), (46, 24));
    assert!(after.iter().all(|entry| entry["_initiator"]["type"] == "script"));
}

#[test]
fn the_archive_is_a_page_load_of_ordinary_size() {
    let archive = archive();
    let entries = archive["log"]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 70);
    assert!(example("shop.har").len() < 3_000_000);
    let hosts: BTreeSet<_> = entries
        .iter()
        .map(|entry| url(entry).split('/').nth(2).unwrap())
        .collect();
    assert_eq!(
        hosts.into_iter().collect::<Vec<_>>(),
        ["api.shop.example", "static.shop.example", "www.shop.example"]
    );
    let started: Vec<_> = entries
        .iter()
        .map(|entry| entry["startedDateTime"].as_str().unwrap())
        .collect();
    assert!(started.is_sorted());
}
