//! Claims about single replays, by arithmetic.

use super::*;
use crate::advise::order::Exchange;
use crate::http::Version;
use lastmile_link::{Capacity, DirectionSpec};
use lastmile_payload::codec::Coding;

const MS: Duration = Duration::from_millis(1);

/// An order of one small octet, on the first host.
fn order() -> Order {
    Order {
        host: 0,
        gap: Duration::ZERO,
        think: Duration::ZERO,
        request_head: Bytes::new(200),
        response_head: Bytes::new(200),
        size: Bytes::new(1),
        plain: Bytes::new(1),
        coding: Coding::Identity,
        encoding: Duration::ZERO,
        decoding: Duration::ZERO,
        exchange: Exchange::FREE,
        dependents: Vec::new(),
    }
}

fn options(protocol: Version, tls: bool, connections: Connections) -> Options {
    let server = ServerSpec {
        cores: 1,
        slow_down: 1.0,
        load: 0.5,
    };
    Options {
        protocol,
        tls,
        connections,
        slow_client: 4.0,
        server,
        ..Options::default()
    }
}

fn cold() -> Options {
    options(Version::Http11, false, Connections::Cold)
}

/// A round trip of 100 ms, at a rate or none.
fn link(rate: Option<&str>) -> LinkSpec {
    let capacity = rate.map_or(Capacity::Unlimited, |rate| {
        Capacity::Rate(rate.parse::<BitRate>().unwrap())
    });
    let direction = DirectionSpec {
        capacity,
        one_way_delay: 50 * MS,
        ..DirectionSpec::IDEAL
    };
    LinkSpec::new("test", direction.clone(), direction).unwrap()
}

fn replayed(options: &Options, rate: Option<&str>, orders: Vec<Order>) -> Replayed {
    let hosts = 1 + orders.iter().map(|order| order.host).max().unwrap();
    run(
        options,
        &link(rate),
        hosts,
        orders.into(),
        Handshakes::default(),
        Seed::new(1),
    )
    .unwrap()
}

#[test]
fn a_cold_page_pays_a_round_trip_for_tcp_one_for_tls_and_one_for_itself() {
    for protocol in [Version::Http11, Version::H2] {
        let page = |tls, connections| replayed(&options(protocol, tls, connections), None, vec![order()]).page_time;
        assert_eq!(page(false, Connections::Cold), 200 * MS, "{protocol:?}");
        assert_eq!(page(true, Connections::Cold), 300 * MS, "{protocol:?}");
        assert_eq!(page(true, Connections::Warm), 100 * MS, "{protocol:?}");
    }
}

#[test]
fn transfer_time_begins_with_the_request() {
    assert_eq!(replayed(&cold(), None, vec![order()]).transfer_times, [100 * MS]);
}

#[test]
fn computing_is_slowed_on_either_side() {
    let coded = Order {
        coding: Coding::Gzip,
        encoding: 30 * MS,
        decoding: 10 * MS,
        think: 7 * MS,
        ..order()
    };
    // 7 ms of thinking; 30 ms of coding on a half busy core; 10 ms of decoding on a core four times slower.
    assert_eq!(
        replayed(&cold(), None, vec![coded]).transfer_times,
        [(100 + 7 + 60 + 40) * MS]
    );
}

#[test]
fn an_exchange_and_a_handshake_cost_both_sides_what_they_are_told_to() {
    let exchange = Exchange {
        serving: 3 * MS,
        fetching: 2 * MS,
        sealing: 5 * MS,
        opening: MS,
    };
    // The server's 3 and 5 ms on a half busy core, the client's 2 and 1 ms on a core four times slower.
    let costly = Order { exchange, ..order() };
    assert_eq!(
        replayed(&cold(), None, vec![costly]).transfer_times,
        [(100 + 6 + 10 + 8 + 4) * MS]
    );
    let encrypted = options(Version::Http11, true, Connections::Cold);
    let page = |handshakes| {
        let orders: Rc<[Order]> = Rc::new([order()]);
        run(&encrypted, &link(None), 1, orders, handshakes, Seed::new(1))
            .unwrap()
            .page_time
    };
    // The client's 2 ms before its first request; the server's 1 ms while that is on its way.
    let handshakes = Handshakes {
        accept: MS,
        connect: 2 * MS,
    };
    assert_eq!(page(handshakes) - page(Handshakes::default()), 8 * MS);
}

#[test]
fn a_long_body_is_sent_while_the_rest_of_it_is_coded() {
    let size = Bytes::new(10 * site::PIECE);
    let coded = Order {
        coding: Coding::Gzip,
        size,
        plain: size,
        encoding: 500 * MS,
        ..order()
    };
    let rate = "1310720 bit/s";
    let carried = size / rate.parse::<BitRate>().unwrap();
    assert_eq!(carried, 1000 * MS);
    let time = replayed(&cold(), Some(rate), vec![coded]).transfer_times[0];
    // Coding takes a second on the half busy core, as long as carrying does: one after the other they would take two.
    assert!(time >= 100 * MS + carried, "{time:?}");
    assert!(time < 1500 * MS, "{time:?}");
}

#[test]
fn a_page_takes_no_less_than_its_octets_and_round_trips() {
    let size = Bytes::new(100_000);
    let page = replayed(
        &cold(),
        Some("1 Mbit/s"),
        vec![Order {
            size,
            plain: size,
            ..order()
        }],
    );
    // 800 ms for the body, and 200 ms for two round trips; headers of 52 B on each of 70 segments, heads and slow start come on top.
    assert!(page.page_time > 1000 * MS, "{:?}", page.page_time);
    assert!(page.page_time < 1200 * MS, "{:?}", page.page_time);
    assert!(
        page.bytes_down.get() > 100_000 + 69 * 52 && page.bytes_down.get() < 105_000,
        "{}",
        page.bytes_down
    );
}

#[test]
fn a_host_has_six_connections_over_http_1_1_and_over_http_2_one_serves_all() {
    let page = |protocol, count| {
        let orders = vec![order(); count];
        replayed(&options(protocol, false, Connections::Cold), None, orders).page_time
    };
    assert_eq!(page(Version::Http11, 6), 200 * MS);
    assert_eq!(page(Version::Http11, 7), 300 * MS, "the seventh waits for a connection");
    assert_eq!(page(Version::H2, 7), 200 * MS);
}

#[test]
fn each_host_has_connections_of_its_own() {
    let orders = (0..7)
        .map(|place| Order {
            host: place / 4,
            ..order()
        })
        .collect();
    assert_eq!(replayed(&cold(), None, orders).page_time, 200 * MS);
}

#[test]
fn what_waits_for_another_is_asked_for_after_its_end_and_its_gap() {
    let first = Order {
        dependents: vec![1],
        decoding: 5 * MS,
        coding: Coding::Gzip,
        ..order()
    };
    let second = Order {
        gap: 30 * MS,
        ..order()
    };
    // Connect, first, its decoding on the slow client, the gap, and the second over the connection that stands.
    assert_eq!(
        replayed(&cold(), None, vec![first, second]).page_time,
        (200 + 20 + 30 + 100) * MS
    );
}

#[test]
fn an_empty_body_and_a_long_head_are_carried() {
    let head = Bytes::new(9_000);
    let empty = Order {
        size: Bytes::ZERO,
        plain: Bytes::ZERO,
        request_head: head,
        response_head: head,
        ..order()
    };
    for protocol in [Version::Http11, Version::H2] {
        let page = replayed(&options(protocol, false, Connections::Cold), None, vec![empty.clone()]);
        assert_eq!(page.page_time, 200 * MS, "{protocol:?}");
    }
    let page = replayed(&cold(), None, vec![empty]);
    // SYN-ACK 60 B, an acknowledgement of each pair of segments at the most, 7 segments of head.
    assert!(page.bytes_down.get() >= 9_000 + 60 + 7 * 52, "{}", page.bytes_down);
}
