//! Tests of the dependencies between responses.

use super::*;
use crate::testing::{response, text, traffic};
use lastmile_traffic::responses::HttpVersion;

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn recorded(media_type: &str, origin: Origin, started: u64, total: u64, wait: u64) -> Response {
    let mut response = response("/", media_type, origin, Body::Present(text(10)));
    (response.started, response.total, response.wait) = (ms(started), Some(ms(total)), Some(ms(wait)));
    response
}

#[test]
fn a_server_thinks_for_what_a_dynamic_wait_exceeds_the_least_of_its_host() {
    let page = Page::from_traffic(&traffic(vec![
        recorded("text/html", Origin::Dynamic, 0, 100, 50),
        recorded("text/css", Origin::Static, 10, 90, 60),
        recorded("text/javascript", Origin::Static, 20, 30, 15),
    ]));
    let thinks: Vec<_> = page.items.iter().map(|item| item.server_think_time).collect();
    assert_eq!(thinks, [ms(35), ms(0), ms(0)]);
    let alone = Page::from_traffic(&traffic(vec![recorded("text/html", Origin::Dynamic, 0, 100, 50)]));
    assert_eq!(alone.items[0].server_think_time, ms(50));
}

/// An archive of these URLs, each with its version of HTTP.
fn archive(entries: &[(&str, &str)]) -> Traffic {
    let entry = |(url, version): &(&str, &str)| {
        format!(
            r#"{{"startedDateTime": "2026-01-01T00:00:00.000Z", "time": 10,
                "request": {{"method": "GET", "url": "{url}", "httpVersion": "{version}", "headers": []}},
                "response": {{"status": 200, "httpVersion": "{version}", "headers": [],
                    "content": {{"size": 6, "mimeType": "text/plain", "text": "a text"}}}},
                "timings": {{"send": 0, "wait": 5, "receive": 5}}}}"#
        )
    };
    let entries: Vec<String> = entries.iter().map(entry).collect();
    let archive = format!(
        r#"{{"log": {{"version": "1.2", "creator": {{"name": "test", "version": "1"}}, "entries": [{}]}}}}"#,
        entries.join(",")
    );
    lastmile_traffic::responses::har::read(archive.as_bytes(), "mixed.har").unwrap()
}

#[test]
fn each_host_of_an_archive_is_replayed_with_the_version_that_the_archive_states() {
    let page = Page::from_traffic(&archive(&[
        ("http://a.example/", "HTTP/1.1"),
        ("https://a.example/", "http/2.0"),
        ("https://b.example/", "h2"),
        ("https://c.example/", "HTTP/2"),
        ("https://d.example/", "h3"),
        ("https://e.example/", "http/1.1"),
        ("https://f.example/", "unknown"),
        ("https://b.example/b", "h2"),
    ]));
    use Version::{H2, Http11};
    let versions = |protocol| {
        let options = LoadOptions {
            protocol,
            ..LoadOptions::default()
        };
        let served = page.served_hosts(&options);
        let encrypted: Vec<bool> = served.iter().map(|host| host.is_encrypted).collect();
        assert_eq!(encrypted, [false, true, true, true, true, true, true]);
        served.iter().map(|host| host.version).collect::<Vec<_>>()
    };
    assert_eq!(versions(None), [Http11, H2, H2, H2, H2, Http11, Http11]);
    assert_eq!(versions(Some(Http11)), [Http11; 7]);
    assert_eq!(versions(Some(H2)), [Http11, H2, H2, H2, H2, H2, H2]);
    let recorded: Vec<_> = page.hosts.iter().map(PageHost::recorded).collect();
    assert_eq!((recorded[4], recorded[6]), (Some(HttpVersion::Http3), None));
}

#[test]
fn http_and_https_are_hosts_of_their_own() {
    let mut plain = recorded("text/html", Origin::Dynamic, 0, 10, 5);
    plain.scheme = "http".to_owned();
    let page = Page::from_traffic(&traffic(vec![plain, recorded("text/html", Origin::Dynamic, 20, 10, 5)]));
    let addresses: Vec<&str> = page.hosts.iter().map(|host| &*host.address).collect();
    assert_eq!(addresses, ["http://a.example", "https://a.example"]);
    assert_eq!((page.items[0].host, page.items[1].host), (0, 1));
}

#[test]
fn every_request_of_the_example_is_explained_by_its_text() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/shop.har");
    let traffic = Traffic::open(example).unwrap();
    let page = Page::from_traffic(&traffic);
    let as_recorded = page.items.iter().filter(|item| item.cause == Cause::Recorded);
    // The document follows its redirect.
    let urls: Vec<&str> = as_recorded.map(|item| &*traffic.responses[item.response].url).collect();
    assert_eq!(urls, ["https://www.shop.example/"]);
    assert_eq!(page.items[1].prerequisites[0].item, 0);
}

#[test]
fn fonts_and_data_of_another_origin_are_asked_for_without_cookies_unless_the_recording_says_otherwise() {
    let page = |host: &str, media_type: &str, credentials| {
        let document = recorded("text/html", Origin::Dynamic, 0, 100, 50);
        let mut resource = recorded(media_type, Origin::Static, 10, 90, 60);
        resource.host = host.to_owned();
        resource.credentials = credentials;
        Page::from_traffic(&traffic(vec![document, resource])).items[1].is_anonymous
    };
    let cases = [
        ("a.example", "font/woff2", None, false),
        ("b.example", "font/woff2", None, true),
        ("b.example", "application/json", None, true),
        ("b.example", "application/json", Some(true), false),
        ("b.example", "text/css", None, false),
        ("b.example", "image/x-icon", None, false),
        ("b.example", "text/css", Some(false), true),
    ];
    for (host, media_type, credentials, expected) in cases {
        assert_eq!(
            page(host, media_type, credentials),
            expected,
            "{host} {media_type} {credentials:?}"
        );
    }
}

#[test]
fn what_a_document_behind_a_redirect_asks_of_its_own_origin_has_cookies() {
    let mut redirect = recorded("text/html", Origin::Dynamic, 0, 10, 5);
    (redirect.scheme, redirect.status) = ("http".to_owned(), 301);
    let document = recorded("text/html", Origin::Dynamic, 20, 10, 5);
    let data = recorded("application/json", Origin::Dynamic, 40, 10, 5);
    let page = Page::from_traffic(&traffic(vec![redirect, document, data]));
    assert!(!page.items[2].is_anonymous);
}
