//! Tests of reading what the peer reports; `crates/studies/deliveries/tests/peers` runs the peer itself.

use super::*;
use crate::page::Page;
use crate::playback::compressed_uniformly;
use crate::testing::{response, text, traffic};
use lastmile_codec::content::CodecSpec;
use lastmile_traffic::responses::{Body, Origin};

/// A document, a script and an image.
fn playback() -> Playback {
    let of = |path, media_type| response(path, media_type, Origin::Static, Body::Present(text(1_000)));
    let traffic = traffic(vec![
        of("/", "text/html"),
        of("/a.js", "text/javascript"),
        of("/a.png", "image/png"),
    ]);
    let page = Page::from_traffic(&traffic);
    Playback::new(
        &page,
        &traffic,
        &compressed_uniformly(&page, &traffic, CodecSpec::IDENTITY),
    )
}

fn events(lines: &str) -> Vec<Value> {
    lines
        .lines()
        .map(|line| serde_json::from_str(line.trim()).unwrap())
        .collect()
}

fn loads(lines: &str) -> Result<BrowserLoads, Failure> {
    let playback = playback();
    read(&events(lines), &playback, playback.log(), Vec::new())
}

const LOAD: &str = r#"{"event": "hello", "version": "Chromium 1"}
    {"event": "begin", "load": 0}
    {"event": "request", "load": 0, "id": "a", "method": "GET", "url": "https://a.example/", "time": 100.0, "initiator": {"type": "other"}}
    {"event": "response", "load": 0, "id": "a", "status": 200, "protocol": "h2", "connection": 7, "sent": 100.25, "head": 100.5}
    {"event": "request", "load": 0, "id": "b", "method": "GET", "url": "https://a.example/a.js", "time": 100.5, "initiator": {"type": "parser"}}
    {"event": "finished", "load": 0, "id": "a", "time": 100.75, "bytes": 1300}
    {"event": "finished", "load": 0, "id": "b", "time": 101.5, "bytes": 900}
    {"event": "request", "load": 0, "id": "c", "method": "GET", "url": "https://a.example/favicon.ico", "time": 101.5}
    {"event": "finished", "load": 0, "id": "c", "time": 102.0, "bytes": 9}
    {"event": "loaded", "load": 0, "time": 101.75}
    {"event": "complete", "load": 0, "why": "quiet"}
    {"event": "end"}"#;

#[test]
fn a_page_takes_from_its_first_request_to_the_end_of_its_last_recorded_response() {
    let loads = loads(LOAD).unwrap();
    assert_eq!(loads.browser, "Chromium 1");
    let [load] = &loads.loads[..] else {
        panic!("{loads:?}");
    };
    assert_eq!(load.page_time, Duration::from_millis(1500));
    assert_eq!(
        (load.loaded, load.dom_content_loaded),
        (Some(Duration::from_millis(1750)), None)
    );
    assert_eq!(load.not_requested, [2]);
    let first = &load.requests[0];
    assert_eq!(
        (first.item, first.status, first.connection, first.bytes),
        (Some(0), Some(200), Some(7), 1300)
    );
    let times = [first.requested]
        .into_iter()
        .chain([first.sent, first.head, first.ended].into_iter().flatten());
    assert_eq!(
        times.map(|time| time.as_millis()).collect::<Vec<_>>(),
        [0, 250, 500, 750]
    );
    assert_eq!(load.requests[2].item, None, "it was not recorded");
}

#[test]
fn a_response_that_failed_does_not_end_a_page() {
    let failed = r#"{"event": "failed", "load": 0, "id": "b", "time": 101.5, "error": "net::ERR_ABORTED"}"#;
    let finished = r#"{"event": "finished", "load": 0, "id": "b", "time": 101.5, "bytes": 900}"#;
    let loads = loads(&LOAD.replace(finished, failed)).unwrap();
    assert_eq!(loads.loads[0].page_time, Duration::from_millis(750));
    assert_eq!(loads.loads[0].requests[1].error.as_deref(), Some("net::ERR_ABORTED"));
}

#[test]
fn a_response_of_fewer_bytes_than_were_sent_was_cut_short() {
    let mut loads = loads(LOAD).unwrap();
    (loads.log.requests[1], loads.log.body_bytes[1]) = (1, 900);
    assert_eq!(loads.cut_short(), BTreeSet::new());
    loads.log.body_bytes[1] = 901;
    assert_eq!(loads.cut_short(), BTreeSet::from([1]));
}

#[test]
fn a_load_that_was_given_up_is_left_out_and_said() {
    let again = LOAD
        .lines()
        .filter(|line| !line.contains("hello") && !line.contains("end\""))
        .map(|line| line.replace("\"load\": 0", "\"load\": 1").replace("quiet", "stalled"))
        .filter(|line| !line.contains("101.5, \"bytes\""));
    let both = LOAD.lines().map(str::to_owned).take(11).chain(again);
    let loads = loads(&both.collect::<Vec<_>>().join("\n")).unwrap();
    assert_eq!(loads.loads.len(), 1);
    let expected = "the load was given up (stalled): 1 requests were open, of which the first was not answered (https://a.example/a.js)";
    assert_eq!(loads.failed, [expected]);
}

#[test]
fn a_load_without_requests_is_a_failure() {
    let nothing = r#"{"event": "hello", "version": "Chromium 1"}
        {"event": "begin", "load": 0}
        {"event": "complete", "load": 0, "why": "quiet"}
        {"event": "end"}"#;
    assert_eq!(loads(nothing).unwrap_err().reason, "Chromium requested nothing");
}
