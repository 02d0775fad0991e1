//! Claims about entries that did not cross the network, and about bodies that were not saved whole.

use super::*;
use crate::responses::HttpVersion;
use serde_json::{Value, json};

/// A script of 42 bytes that crossed the network, as a browser writes it, with other fields.
fn entry(url: &str, other: Value) -> Value {
    let mut entry = json!({
        "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 20, "cache": {}, "connection": "443",
        "request": { "method": "GET", "url": format!("https://a.example/{url}"), "headers": [] },
        "response": {
            "status": 200, "headers": [], "headersSize": -1, "bodySize": 42,
            "content": { "size": 42, "mimeType": "text/javascript", "text": "x".repeat(42) }
        },
        "timings": { "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 15, "receive": 5 }
    });
    merge(&mut entry, other);
    entry
}

/// Sets fields within an entry; null removes one.
fn merge(into: &mut Value, from: Value) {
    let Value::Object(from) = from else {
        *into = from;
        return;
    };
    for (key, value) in from {
        let fields = into.as_object_mut().unwrap();
        if value.is_null() {
            fields.remove(&key);
        } else {
            merge(fields.entry(key).or_insert_with(|| json!({})), value);
        }
    }
}

fn read_entries(entries: &[Value]) -> Traffic {
    let har = json!({ "log": { "entries": entries } }).to_string();
    read(har.as_bytes(), "test.har").unwrap()
}

/// Whether the second entry of a page, of the first one's script again, is marked as one that the browser answered.
fn second_is_from_cache(fields: Value) -> bool {
    let traffic = read_entries(&[entry("a.js", json!({})), entry("a.js", fields)]);
    assert!(!traffic.responses[0].from_cache);
    traffic.responses[1].from_cache
}

#[test]
fn each_browsers_sign_of_an_answer_without_a_request_is_known() {
    let after_request: Value = serde_json::from_str(r#"{ "expires": "2027-01-01T00:00:00Z", "hitCount": 3 }"#).unwrap();
    let signs = [
        ("Chromium, memory", json!({ "_fromCache": "memory" })),
        (
            "Chromium, disk",
            json!({ "_fromCache": "disk", "time": 900, "timings": { "wait": 880 } }),
        ),
        (
            "Chromium, a preload's second entry",
            json!({
                "response": { "_transferSize": 0, "bodySize": -219 }, "time": 2, "timings": { "wait": 0.1 }
            }),
        ),
        (
            "Chromium before _fromCache",
            json!({
                "response": { "_transferSize": 0, "bodySize": 0, "httpVersion": "unknown" }, "time": 0,
                "timings": { "send": 0, "wait": 0, "receive": 0 }
            }),
        ),
        (
            "Chromium, a redirect of its own",
            json!({
                "response": { "status": 307, "_transferSize": 0, "bodySize": -1, "content": { "size": 0, "text": null } }
            }),
        ),
        (
            "Chromium, a service worker's store",
            json!({
                "response": { "_fetchedViaServiceWorker": true, "_serviceWorkerResponseSource": "cache-storage" }
            }),
        ),
        (
            "Chromium, a service worker's own answer",
            json!({
                "response": { "_fetchedViaServiceWorker": true, "_serviceWorkerResponseSource": "fallback-code" }
            }),
        ),
        (
            "Chromium, a service worker that does not say",
            json!({ "response": { "_fetchedViaServiceWorker": true } }),
        ),
        (
            "Chromium, a request passed on by a service worker, which is listed too",
            json!({
                "response": { "_fetchedViaServiceWorker": true, "_serviceWorkerResponseSource": "network" }
            }),
        ),
        ("Safari, memory", json!({ "_fetchType": "Memory Cache" })),
        ("Safari, disk", json!({ "_fetchType": "Disk Cache" })),
        ("Safari, a service worker", json!({ "_fetchType": "Service Worker" })),
        (
            "Firefox",
            json!({
                "cache": { "afterRequest": after_request }, "connection": null, "time": 0, "response": { "bodySize": -1 }
            }),
        ),
        (
            "Firefox, content without a status",
            json!({ "connection": null, "response": { "status": 0 }, "timings": { "send": 1 } }),
        ),
        (
            "HTTP Archive 1.2",
            json!({ "connection": null, "time": 1, "response": { "bodySize": 0 } }),
        ),
        (
            "HTTP Archive 1.2, less than no body",
            json!({ "connection": null, "time": 1, "response": { "bodySize": -219 } }),
        ),
    ];
    for (browser, fields) in signs {
        assert!(second_is_from_cache(fields), "{browser}");
    }
    // A null is a sign, too: Firefox writes it where it knows nothing more of the entry.
    let text = json!({ "log": { "entries": [entry("a.js", json!({ "response": { "bodySize": -1 } }))] } }).to_string();
    let text = text.replace(r#""cache":{}"#, r#""cache":{"afterRequest":null}"#);
    assert!(read(text.as_bytes(), "firefox.har").unwrap().responses[0].from_cache);
}

#[test]
fn what_crossed_the_network_is_a_request_though_it_looks_like_an_answer_of_the_browser() {
    let requests = [
        ("a second request", json!({})),
        ("WebPageTest, without a connection", json!({ "connection": null })),
        (
            "sizes that are not counted",
            json!({ "connection": null, "response": { "bodySize": -1 } }),
        ),
        (
            "HTTP/2 with a head that is smaller than its text",
            json!({
                "response": { "_transferSize": 94, "bodySize": -219 }
            }),
        ),
        (
            "a transfer that took time to send, and was not counted",
            json!({
                "response": { "_transferSize": 0, "bodySize": -550 }, "timings": { "send": 0.027 }
            }),
        ),
        ("Safari, the network", json!({ "_fetchType": "Network Load" })),
        (
            "Safari, the network, without sizes",
            json!({ "_fetchType": "Network Load", "response": { "bodySize": -1 } }),
        ),
        (
            "not in the cache before the request, and stored after it",
            json!({
                "cache": { "beforeRequest": {}, "afterRequest": { "hitCount": 0 } }
            }),
        ),
        (
            "an empty body",
            json!({ "connection": null, "response": { "bodySize": 0, "content": { "size": 0, "text": "" } } }),
        ),
        (
            "a redirect by a server",
            json!({
                "response": { "status": 302, "_transferSize": 219, "bodySize": 0, "content": { "size": 0, "text": "" } }
            }),
        ),
    ];
    for (request, fields) in requests {
        assert!(!second_is_from_cache(fields), "{request}");
    }
    // A tool that counts no body at all says nothing with its zeros.
    let uncounted = || entry("b.js", json!({ "connection": null, "response": { "bodySize": 0 } }));
    let traffic = read_entries(&[uncounted(), uncounted()]);
    assert!(traffic.responses.iter().all(|response| !response.from_cache));
    // A request that a service worker passed on is listed once only.
    let passed_on =
        json!({ "response": { "_fetchedViaServiceWorker": true, "_serviceWorkerResponseSource": "network" } });
    let traffic = read_entries(&[entry("a.js", json!({})), entry("b.js", passed_on)]);
    assert!(!traffic.responses[1].from_cache);
}

#[test]
fn what_can_have_no_body_has_none_and_took_no_bytes() {
    let coded = json!([{ "name": "content-encoding", "value": "gzip" }, { "name": "content-length", "value": "5000" }]);
    let of = |fields: Value| {
        let mut traffic = read_entries(&[entry("a.js", fields)]);
        traffic.responses.remove(0)
    };
    for fields in [
        json!({ "response": { "status": 304, "headers": coded, "bodySize": 0 } }),
        json!({ "response": { "status": 304, "headers": coded, "bodySize": 0 }, "_fromCache": "disk" }),
        json!({ "response": { "status": 204, "headers": coded } }),
        json!({ "request": { "method": "HEAD" }, "response": { "headers": coded, "content": { "text": null } } }),
    ] {
        let response = of(fields.clone());
        assert_eq!(
            (response.from_cache, response.body.size(), response.transferred),
            (false, Some(ByteCount::ZERO), Some(ByteCount::ZERO)),
            "{fields}"
        );
    }
}

#[test]
fn a_size_on_the_link_is_not_believed_where_it_is_that_of_the_decoded_content() {
    let of = |body_size: usize, headers: Value| {
        let traffic = read_entries(&[entry(
            "a.js",
            json!({ "response": { "bodySize": body_size, "headers": headers } }),
        )]);
        (
            traffic.responses[0].transferred.map(ByteCount::get),
            traffic.notes.len(),
        )
    };
    let coding = json!({ "name": "Content-Encoding", "value": "br" });
    let length = json!({ "name": "Content-Length", "value": "20" });
    assert_eq!(of(42, json!([coding, length])), (Some(20), 1));
    assert_eq!(of(42, json!([coding])), (None, 1), "nothing states it");
    assert_eq!(of(21, json!([coding])), (Some(21), 0));
    assert_eq!(of(42, json!([])), (Some(42), 0));
}

#[test]
fn a_body_that_webpagetest_cut_off_is_a_missing_one_though_it_is_longer_than_its_size_on_the_link() {
    let body = |uncompressed: usize| {
        let fields = json!({
            "_objectSizeUncompressed": uncompressed, "response": { "bodySize": 12, "content": { "size": 12 } }
        });
        read_entries(&[entry("a.js", fields)]).responses.remove(0).body
    };
    assert_eq!(body(168_705), Body::SizeOnly(ByteCount::new(168_705)));
    assert!(matches!(body(42), Body::Present(_)));
}

#[test]
fn versions_of_http_are_known_by_all_their_names() {
    for (name, version) in [
        ("HTTP/1.1", Some(HttpVersion::Http11)),
        ("spdy/3.1", Some(HttpVersion::Http2)),
        ("h2", Some(HttpVersion::Http2)),
        ("http/2+quic/46", Some(HttpVersion::Http3)),
        ("QUIC", Some(HttpVersion::Http3)),
        ("h3-29", Some(HttpVersion::Http3)),
        ("unknown", None),
    ] {
        assert_eq!(HttpVersion::read(name), version, "{name}");
    }
}

#[test]
fn a_text_shorter_than_its_size_is_a_missing_body() {
    let body = |size: usize, text: &str| {
        let fields = json!({ "response": { "content": { "size": size, "text": text } } });
        let traffic = read_entries(&[entry("a.js", fields)]);
        (traffic.responses[0].body.clone(), traffic.notes)
    };
    let whole = |size: usize, text: &str| matches!(body(size, text).0, Body::Present(bytes) if bytes == text);
    let (missing, notes) = body(269_165, "MANUALLY REMOVED");
    assert_eq!(missing, Body::SizeOnly(ByteCount::new(269_165)));
    assert!(notes[0].what.contains("shorter than its stated size"), "{notes:?}");
    assert_eq!(body(9, "").0, Body::SizeOnly(ByteCount::new(9)));
    for (size, text, why) in [
        (5, "plain", "as long as it was"),
        (8, "plain", "without its byte order mark"),
        (4, "na\u{ef}f", "from ISO 8859-1"),
        (200, &*"x".repeat(100), "from UTF-16"),
        (202, &*"x".repeat(100), "from UTF-16 with a mark"),
        (0, "", "empty"),
    ] {
        assert!(whole(size, text), "{why}");
    }
    for (size, text) in [(9, "plain"), (201, &*"x".repeat(100)), (204, &*"x".repeat(100))] {
        assert!(!whole(size, text), "{size}");
    }
}

#[test]
fn a_browsers_headers_say_whether_a_request_carried_cookies() {
    let header = |name: &str, value: &str| json!({ "name": name, "value": value });
    let from_shop = header("Origin", "https://shop.example");
    let mode = |mode| header("Sec-Fetch-Mode", mode);
    let allowed = header("Access-Control-Allow-Credentials", "true");
    let cases = [
        ("no mode", vec![from_shop.clone()], vec![], None),
        ("an image", vec![mode("no-cors")], vec![], Some(true)),
        ("a font", vec![mode("cors"), from_shop.clone()], vec![], Some(false)),
        (
            "a call with cookies",
            vec![mode("cors"), from_shop],
            vec![allowed],
            Some(true),
        ),
        (
            "a call to its own origin",
            vec![mode("cors"), header("Origin", "https://a.example")],
            vec![],
            Some(true),
        ),
    ];
    for (name, request, response, expected) in cases {
        let fields = json!({ "request": { "headers": request }, "response": { "headers": response } });
        let read = read_entries(&[entry("a", fields)]);
        assert_eq!(read.responses[0].credentials, expected, "{name}");
    }
}

#[test]
fn phases_are_those_of_the_timings_with_the_tls_handshake_beside_connect() {
    let timings = json!({ "blocked": 3, "dns": 4, "connect": 30, "ssl": 18, "send": 1, "wait": 15, "receive": 5 });
    let read = read_entries(&[
        entry("a.js", json!({ "timings": timings })),
        entry("b.js", json!({})),
        entry("c.js", json!({ "timings": null })),
    ]);
    let phases = |response: usize| {
        let phases = read.responses[response].phases;
        phases.map(|phases| phases.map(|phase| phase.as_millis()))
    };
    assert_eq!(phases(0), Some([3, 4, 12, 18, 1, 15, 5]));
    assert_eq!(phases(1), Some([0, 0, 0, 0, 0, 15, 5]), "-1 is no phase");
    assert_eq!(phases(2), None);
}
