//! Tests of what leads to each request, on small recordings.

use super::*;
use crate::testing::response;
use lastmile_traffic::responses::Origin;

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// A response of `https://a.example`, recorded from `started` for `total` milliseconds.
fn recorded(path: &str, media_type: &str, body: &str, started: u64, total: u64) -> Response {
    let mut response = response(path, media_type, Origin::Static, Body::Present(body.to_owned().into()));
    (response.started, response.total, response.wait) = (ms(started), Some(ms(total)), Some(Duration::ZERO));
    response
}

fn found(responses: &[Response]) -> Vec<Dependency> {
    find(&responses.iter().collect::<Vec<_>>(), None).of_items
}

fn beginning(item: usize, text: &str, until: &str) -> Prerequisite {
    let end = text.find(until).unwrap() + until.len();
    Prerequisite {
        item,
        extent: Extent::Beginning(ByteCount::from(end)),
    }
}

#[test]
fn the_preload_scanner_asks_for_what_the_bytes_so_far_name() {
    let document =
        "<link rel=stylesheet href=a.css><script src=b.js></script><p><img src=c.png>".to_owned() + &" ".repeat(1000);
    let page = found(&[
        recorded("/", "text/html", &document, 0, 10),
        recorded("/a.css", "text/css", "", 11, 5),
        recorded("/b.js", "text/javascript", "", 11, 5),
        recorded("/c.png", "image/png", "", 11, 5),
    ]);
    assert_eq!(page[0].cause, Cause::Navigation);
    for (item, until) in [(1, "a.css>"), (2, "b.js>"), (3, "c.png>")] {
        assert_eq!(page[item].prerequisites, [beginning(0, &document, until)], "{until}");
        assert_eq!(page[item].cause, Cause::Named);
    }
    let priorities: Vec<_> = page.iter().map(|request| request.priority).collect();
    assert_eq!(
        priorities,
        [Priority::VeryHigh, Priority::VeryHigh, Priority::High, Priority::Medium]
    );
}

#[test]
fn a_frame_waits_for_the_scripts_before_it_and_these_for_the_styles_before_them() {
    let document = "<link rel=stylesheet href=a.css><script src=b.js></script><script async src=c.js></script><iframe src=d.html></iframe>"
        .to_owned()
        + &" ".repeat(1000);
    let page = found(&[
        recorded("/", "text/html", &document, 0, 10),
        recorded("/a.css", "text/css", "@import 'e.css'", 11, 5),
        recorded("/b.js", "text/javascript", "", 11, 5),
        recorded("/c.js", "text/javascript", "", 11, 5),
        recorded("/e.css", "text/css", "", 18, 2),
        recorded("/d.html", "text/html", "", 30, 5),
    ]);
    assert_eq!(page[4].prerequisites, [whole(1)], "an import waits for its sheet");
    assert_eq!(
        page[5].prerequisites,
        [beginning(0, &document, "d.html>"), whole(1), whole(2), whole(4)]
    );
}

#[test]
fn fonts_wait_for_the_layout() {
    let document = "<link rel=stylesheet href=a.css><link rel=stylesheet href=b.css><p>".to_owned() + &" ".repeat(1000);
    let page = found(&[
        recorded("/", "text/html", &document, 0, 10),
        recorded("/a.css", "text/css", "@font-face { src: url(f.woff2) }", 11, 5),
        recorded("/b.css", "text/css", "", 11, 25),
        recorded("/f.woff2", "font/woff2", "", 40, 5),
    ]);
    assert_eq!(
        page[3].prerequisites,
        [beginning(0, &document, "<p>"), whole(1), whole(2)]
    );
    assert_eq!((page[3].gap, page[3].priority), (LAYOUT, Priority::VeryHigh));
}

#[test]
fn what_a_script_asks_for_comes_after_its_run_and_the_gap_recorded() {
    let document = "<script defer src=a.js></script><p>text</p>";
    let mut named = recorded("/data", "application/json", "{}", 60, 5);
    named.initiator = Some("https://a.example/a.js".to_owned());
    let page = found(&[
        recorded("/", "text/html", document, 0, 10),
        recorded("/a.js", "text/javascript", "fetch('/other.json')", 11, 29),
        named,
        recorded("/other.json", "application/json", "{}", 70, 5),
    ]);
    for (item, gap) in [(2, 20), (3, 30)] {
        assert_eq!(page[item].prerequisites, [whole(0), whole(1)]);
        assert_eq!((page[item].cause, page[item].gap), (Cause::Script, ms(gap)));
        assert!(!page[item].is_throttled);
    }
}

#[test]
fn what_the_recording_contradicts_is_not_believed() {
    let document = "<link rel=stylesheet href=a.css><p style='background: url(b.png)'>".to_owned() + &" ".repeat(1000);
    let page = found(&[
        recorded("/", "text/html", &document, 0, 10),
        recorded("/a.css", "text/css", "", 11, 90),
        recorded("/b.png", "image/png", "", 20, 5),
    ]);
    assert_eq!(
        page[2].prerequisites,
        [beginning(0, &document, "<p style='background: url(b.png)'>")]
    );
}

#[test]
fn modules_follow_those_that_import_them() {
    let document = "<script type=module src=a.mjs></script><script type=module>import './c.mjs'</script>";
    let page = found(&[
        recorded("/", "text/html", document, 0, 10),
        recorded("/a.mjs", "text/javascript", "import './b.mjs'", 11, 5),
        recorded("/c.mjs", "text/javascript", "", 11, 5),
        recorded("/b.mjs", "text/javascript", "", 17, 5),
    ]);
    assert_eq!(page[3].prerequisites, [whole(1)]);
    assert_eq!(page[2].prerequisites, [whole(0)]);
}

#[test]
fn an_unexplained_request_waits_for_the_last_response_before_it_that_can_lead_to_one() {
    let page = found(&[
        recorded("/", "text/html", "", 0, 100),
        recorded("/a.css", "text/css", "", 40, 20),
        recorded("/b.png", "image/png", "", 110, 10),
        recorded("/c.js", "text/javascript", "", 125, 200),
        recorded("/d", "application/json", "", 400, 50),
    ]);
    let waits: Vec<_> = page
        .iter()
        .map(|request| (request.prerequisites.clone(), request.gap))
        .collect();
    assert_eq!(
        waits,
        [
            (vec![], ms(0)),
            (vec![], ms(40)),
            (vec![whole(0)], ms(10)),
            // The image finished last, but cannot lead to a request.
            (vec![whole(0)], ms(25)),
            (vec![whole(3)], ms(75)),
        ]
    );
}

#[test]
fn a_page_begins_its_body_when_the_head_has_run() {
    let document = "<head><script src=a.js></script></head><body><p>".to_owned() + &" ".repeat(1000);
    let responses = [
        recorded("/", "text/html", &document, 0, 10),
        recorded("/a.js", "text/javascript", "", 11, 5),
    ];
    let dependencies = find(&responses.iter().collect::<Vec<_>>(), None);
    assert_eq!(dependencies.body_begins, [beginning(0, &document, "<body>"), whole(1)]);
}

#[test]
fn what_is_made_after_the_load_event_waits_for_what_delays_it() {
    let responses = [
        recorded("/", "text/html", "<script src=a.js></script><img src=b.png>", 0, 10),
        recorded("/a.js", "text/javascript", "", 11, 5),
        recorded("/b.png", "image/png", "", 11, 40),
        recorded("/c.json", "application/json", "{}", 20, 25),
        recorded("/late.png", "image/png", "", 60, 5),
    ];
    let prerequisites = |load_event| {
        let found = find(&responses.iter().collect::<Vec<_>>(), load_event);
        found.of_items[4].prerequisites.clone()
    };
    assert_eq!(prerequisites(Some(ms(55))), [whole(0), whole(1), whole(2)]);
    // Without the event, or before it, the response that ended last may have led to the request.
    assert_eq!(prerequisites(None), [whole(3)]);
    assert_eq!(prerequisites(Some(ms(70))), [whole(3)]);
}

#[test]
fn dom_content_loaded_waits_for_deferred_scripts_and_the_load_event_for_images() {
    let document = "<script defer src=a.js></script><script async src=b.js></script><img src=c.png><p>";
    let responses = [
        recorded("/", "text/html", document, 0, 10),
        recorded("/a.js", "text/javascript", "", 11, 5),
        recorded("/b.js", "text/javascript", "", 11, 30),
        recorded("/c.png", "image/png", "", 11, 40),
        recorded("/d.json", "application/json", "{}", 20, 25),
        recorded("/late.png", "image/png", "", 60, 5),
    ];
    let found = |load_event| find(&responses.iter().collect::<Vec<_>>(), load_event);
    assert_eq!(found(None).dom_content_loaded, [0, 1]);
    assert_eq!(found(Some(ms(55))).load_event, [0, 1, 2, 3]);
    // Of a recording that does not say when it was fired, nothing is guessed.
    assert_eq!(found(None).load_event, [0; 0]);
    let image = [recorded("/c.png", "image/png", "", 0, 40)];
    assert_eq!(find(&[&image[0]], None).dom_content_loaded, [0; 0]);
}
