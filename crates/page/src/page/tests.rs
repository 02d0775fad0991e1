//! Tests of the dependencies between responses.

use super::*;
use crate::testing::{response, text, traffic};

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

#[test]
fn http_and_https_are_hosts_of_their_own() {
    let mut plain = recorded("text/html", Origin::Dynamic, 0, 10, 5);
    plain.scheme = "http".to_owned();
    let page = Page::from_traffic(&traffic(vec![plain, recorded("text/html", Origin::Dynamic, 20, 10, 5)]));
    assert_eq!((page.hosts, page.items[0].host, page.items[1].host), (2, 0, 1));
}
