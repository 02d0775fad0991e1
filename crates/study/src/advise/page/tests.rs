//! Claims about what waits for what.

use super::*;
use crate::advise::tests::{response, text, traffic};

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn recorded(media_type: &str, origin: Origin, started: u64, total: u64, wait: u64) -> Response {
    let mut response = response("/", media_type, origin, Body::Present(text(10)));
    (response.started, response.total, response.wait) = (ms(started), Some(ms(total)), Some(ms(wait)));
    response
}

#[test]
fn a_request_waits_for_the_last_response_before_it_that_can_lead_to_one() {
    let page = Page::of(&traffic(vec![
        recorded("text/html", Origin::Dynamic, 0, 100, 50),
        recorded("image/png", Origin::Static, 110, 10, 5),
        recorded("text/javascript", Origin::Static, 125, 200, 5),
        recorded("application/json", Origin::Dynamic, 400, 50, 45),
        recorded("text/css", Origin::Static, 40, 20, 5),
    ]));
    let waits: Vec<_> = page
        .items
        .iter()
        .map(|item| (item.response, item.trigger, item.gap))
        .collect();
    assert_eq!(
        waits,
        [
            (0, None, ms(0)),
            (4, None, ms(40)),
            (1, Some(0), ms(10)),
            // The image had finished last, but leads to nothing.
            (2, Some(0), ms(25)),
            (3, Some(3), ms(75)),
        ]
    );
}

#[test]
fn a_server_thinks_for_what_a_dynamic_wait_exceeds_the_least_of_its_host() {
    let page = Page::of(&traffic(vec![
        recorded("text/html", Origin::Dynamic, 0, 100, 50),
        recorded("text/css", Origin::Static, 10, 90, 60),
        recorded("text/javascript", Origin::Static, 20, 30, 15),
    ]));
    let thinks: Vec<_> = page.items.iter().map(|item| item.think).collect();
    assert_eq!(thinks, [ms(35), ms(0), ms(0)]);
    let alone = Page::of(&traffic(vec![recorded("text/html", Origin::Dynamic, 0, 100, 50)]));
    assert_eq!(alone.items[0].think, ms(50));
}

#[test]
fn http_and_https_are_hosts_of_their_own() {
    let mut plain = recorded("text/html", Origin::Dynamic, 0, 10, 5);
    plain.scheme = "http".to_owned();
    let page = Page::of(&traffic(vec![plain, recorded("text/html", Origin::Dynamic, 20, 10, 5)]));
    assert_eq!((page.hosts, page.items[0].host, page.items[1].host), (2, 0, 1));
}
