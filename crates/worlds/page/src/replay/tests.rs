//! Tests of single replays, by arithmetic.

use super::*;
use crate::dependencies::{Extent, Prerequisite, Priority};
use crate::playback::compressed_uniformly;
use crate::request_timing::critical_path;
use crate::scripted_response::{ExchangeCost, ScriptedResponse};
use crate::testing::{response, text, traffic};
use lastmile_codec::content::{CodecSpec, Coding};
use lastmile_link::{Capacity, DirectionSpec};
use lastmile_testbed::http::Version;
use lastmile_traffic::responses::{Body, Origin, Traffic};

const MS: Duration = Duration::from_millis(1);

/// An order of one byte, on the first host.
fn order() -> ScriptedResponse {
    ScriptedResponse {
        host: 0,
        is_anonymous: false,
        gap: Duration::ZERO,
        server_think_time: Duration::ZERO,
        request_head: ByteCount::new(200),
        response_head: ByteCount::new(200),
        size: ByteCount::new(1),
        plain: ByteCount::new(1),
        coding: Coding::Identity,
        encoding: Duration::ZERO,
        decoding: Duration::ZERO,
        exchange: ExchangeCost::FREE,
        prerequisites: Vec::new(),
        priority: Priority::High,
        is_throttled: false,
        commit: Duration::ZERO,
    }
}

const WHOLE_FIRST: Prerequisite = Prerequisite {
    item: 0,
    extent: Extent::Whole,
};

fn options(protocol: Version, tls: bool, connections: Connections) -> LoadOptions {
    let server = ServerSpec {
        cores: 1,
        slow_down: 1.0,
        load: 0.5,
    };
    LoadOptions {
        protocol: Some(protocol),
        tls,
        connections,
        slow_client: 4.0,
        server,
    }
}

fn cold() -> LoadOptions {
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

fn transfer_times(load: &PageLoad) -> Vec<Duration> {
    load.requests.iter().map(RequestTiming::transfer_time).collect()
}

/// When each request had a connection.
fn request_times(load: &PageLoad) -> Vec<Duration> {
    load.requests.iter().map(|request| request.connected).collect()
}

fn served(options: &LoadOptions, version: Version) -> ServedHost {
    ServedHost {
        version,
        is_encrypted: options.tls,
    }
}

fn replayed(options: &LoadOptions, rate: Option<&str>, orders: Vec<ScriptedResponse>) -> PageLoad {
    let hosts = 1 + orders.iter().map(|order| order.host).max().unwrap();
    run(
        options,
        &link(rate),
        &vec![served(options, options.protocol.unwrap()); hosts],
        orders.into(),
        HandshakeCost::default(),
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
    assert_eq!(transfer_times(&replayed(&cold(), None, vec![order()])), [100 * MS]);
}

#[test]
fn computing_is_slowed_on_either_side() {
    let coded = ScriptedResponse {
        coding: Coding::Gzip,
        encoding: 30 * MS,
        decoding: 10 * MS,
        server_think_time: 7 * MS,
        ..order()
    };
    // 7 ms of think time; 30 ms of compression on a half busy core; 10 ms of decompression on a core four times slower.
    assert_eq!(
        transfer_times(&replayed(&cold(), None, vec![coded])),
        [(100 + 7 + 60 + 40) * MS]
    );
}

#[test]
fn an_exchange_and_a_handshake_cost_both_sides_what_they_are_told_to() {
    let exchange = ExchangeCost {
        serving: 3 * MS,
        fetching: 2 * MS,
        sealing: 5 * MS,
        opening: MS,
    };
    // The server's 3 and 5 ms on a half busy core, the client's 2 and 1 ms on a core four times slower.
    let costly = ScriptedResponse { exchange, ..order() };
    assert_eq!(
        transfer_times(&replayed(&cold(), None, vec![costly])),
        [(100 + 6 + 10 + 8 + 4) * MS]
    );
    let encrypted = options(Version::Http11, true, Connections::Cold);
    let page = |handshakes| {
        run(
            &encrypted,
            &link(None),
            &[served(&encrypted, Version::Http11)],
            vec![order()].into(),
            handshakes,
            Seed::new(1),
        )
        .unwrap()
        .page_time
    };
    // The client's 2 ms before its first request; the server's 1 ms while that is on its way.
    let handshakes = HandshakeCost {
        accept: MS,
        connect: 2 * MS,
    };
    assert_eq!(page(handshakes) - page(HandshakeCost::default()), 8 * MS);
}

#[test]
fn a_long_body_is_sent_while_the_rest_of_it_is_coded() {
    let size = ByteCount::new(10 * origin_server::PIECE);
    let coded = ScriptedResponse {
        coding: Coding::Gzip,
        size,
        plain: size,
        encoding: 500 * MS,
        ..order()
    };
    let rate = "1310720 bit/s";
    let carried = size / rate.parse::<BitRate>().unwrap();
    assert_eq!(carried, 1000 * MS);
    let time = transfer_times(&replayed(&cold(), Some(rate), vec![coded]))[0];
    // Compression takes a second on the half busy core, as long as the transfer: one after the other they would take two.
    assert!(time >= 100 * MS + carried, "{time:?}");
    assert!(time < 1500 * MS, "{time:?}");
}

#[test]
fn a_page_takes_no_less_than_its_bytes_and_round_trips() {
    let size = ByteCount::new(100_000);
    let page = replayed(
        &cold(),
        Some("1 Mbit/s"),
        vec![ScriptedResponse {
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
fn each_host_speaks_its_own_version_and_has_its_connections() {
    let order_from = |host| ScriptedResponse { host, ..order() };
    let orders: Vec<_> = [0, 1].into_iter().flat_map(|host| vec![order_from(host); 7]).collect();
    let options = LoadOptions {
        protocol: None,
        ..options(Version::Http11, true, Connections::Cold)
    };
    let hosts = [Version::Http11, Version::H2].map(|version| served(&options, version));
    let loaded = run(
        &options,
        &link(None),
        &hosts,
        orders.into(),
        HandshakeCost::default(),
        Seed::new(1),
    )
    .unwrap();
    let times = request_times(&loaded);
    let (over_1, over_2) = times.split_at(7);
    // TCP and TLS take a round trip each; the seventh request over HTTP/1.1 waits for one of six connections.
    assert_eq!((&over_1[..6], over_1[6]), (&[200 * MS; 6][..], 300 * MS));
    assert_eq!(over_2, [200 * MS; 7]);
}

#[test]
fn each_host_has_connections_of_its_own() {
    let orders = (0..7)
        .map(|index| ScriptedResponse {
            host: index / 4,
            ..order()
        })
        .collect();
    assert_eq!(replayed(&cold(), None, orders).page_time, 200 * MS);
}

#[test]
fn requests_without_cookies_have_connections_of_their_own() {
    let after = |is_anonymous| ScriptedResponse {
        is_anonymous,
        prerequisites: vec![WHOLE_FIRST],
        ..order()
    };
    for protocol in [Version::Http11, Version::H2] {
        let options = options(protocol, true, Connections::Cold);
        let page = |second| replayed(&options, None, vec![order(), after(second)]).page_time;
        assert_eq!(page(false), 400 * MS, "{protocol:?}");
        assert_eq!(page(true), 600 * MS, "{protocol:?}: it pays for TCP and TLS again");
    }
}

#[test]
fn what_waits_for_another_is_asked_for_after_its_end_and_its_gap() {
    let first = ScriptedResponse {
        decoding: 5 * MS,
        coding: Coding::Gzip,
        ..order()
    };
    let second = ScriptedResponse {
        gap: 30 * MS,
        prerequisites: vec![WHOLE_FIRST],
        ..order()
    };
    // Connect, first, its decompression on the slow client, the gap, and the second over the open connection.
    assert_eq!(
        replayed(&cold(), None, vec![first, second]).page_time,
        (200 + 20 + 30 + 100) * MS
    );
}

#[test]
fn an_empty_body_and_a_long_head_are_carried() {
    let head = ByteCount::new(9_000);
    let empty = ScriptedResponse {
        size: ByteCount::ZERO,
        plain: ByteCount::ZERO,
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

#[test]
fn what_the_beginning_of_a_document_names_is_asked_for_while_the_rest_arrives() {
    let size = ByteCount::new(125_000);
    let document = ScriptedResponse {
        size,
        plain: size,
        ..order()
    };
    let named = |extent| ScriptedResponse {
        prerequisites: vec![Prerequisite { item: 0, extent }],
        ..order()
    };
    let page = |extent| replayed(&cold(), Some("1 Mbit/s"), vec![document.clone(), named(extent)]).page_time;
    let (early, late) = (page(Extent::Beginning(ByteCount::new(1_000))), page(Extent::Whole));
    // The document alone takes a second and the two round trips; then a new connection would be ready, and the old one is used.
    assert!(early < 1300 * MS, "{early:?}");
    let alone = replayed(&cold(), Some("1 Mbit/s"), vec![document.clone()]).page_time;
    // A round trip, and the time to carry two short messages.
    assert!(late - alone > 100 * MS && late - alone < 110 * MS, "{late:?} {alone:?}");
}

/// A document of 290 kB with 16 style sheets and scripts in its head, as it was recorded over a fast link: each of them was asked for
/// after the document had ended, within milliseconds.
fn document_with_a_long_head() -> Traffic {
    let is_style = |file: &usize| file.is_multiple_of(2);
    let head: String = (0..16)
        .map(|file| match is_style(&file) {
            true => format!("<link rel=stylesheet href=/{file}.css>"),
            false => format!("<script src=/{file}.js></script>"),
        })
        .collect();
    let mut document = format!("<!doctype html><html><head>{head}</head><body>").into_bytes();
    document.extend_from_slice(&text(290_000 - document.len()));
    let mut responses = vec![response(
        "/",
        "text/html",
        Origin::Static,
        Body::Present(document.into()),
    )];
    responses[0].total = Some(5 * MS);
    for file in 0..16 {
        let (path, media_type) = match is_style(&file) {
            true => (format!("/{file}.css"), "text/css"),
            false => (format!("/{file}.js"), "text/javascript"),
        };
        let mut resource = response(&path, media_type, Origin::Static, Body::Present(text(20_000)));
        (resource.started, resource.total) = ((6 + file as u32) * MS, Some(2 * MS));
        responses.push(resource);
    }
    traffic(responses)
}

/// The time of a page of which every resource is asked for when the whole document has arrived.
fn replayed_waiting(page: &Page, options: &LoadOptions, sent: &[EncodedResponse], link: &LinkSpec) -> Duration {
    let mut items = page.items.clone();
    for item in &mut items[1..] {
        item.prerequisites = vec![WHOLE_FIRST];
    }
    let waiting = Page {
        items,
        hosts: page.hosts.clone(),
        body_begins: Vec::new(),
        dom_content_loaded: Vec::new(),
        load_event: Vec::new(),
        left_out: Vec::new(),
    };
    let scene = ReplayContext {
        page: &waiting,
        options,
        costs: &CostTable::free(),
    };
    replay(&scene, link, sent, Seed::new(1)).unwrap().page_time
}

#[test]
fn a_long_document_does_not_hold_back_what_its_head_names() {
    let traffic = document_with_a_long_head();
    let page = Page::from_traffic(&traffic);
    let plain = compressed_uniformly(&page, &traffic, CodecSpec::IDENTITY);
    let link = lastmile_link::resolve("wpt/3g").unwrap();
    let costs = CostTable::free();
    // Over HTTP/1.1 five connections are free beside the document's; over HTTP/2 one carries everything.
    for (protocol, expected) in [(Version::Http11, 5), (Version::H2, 16)] {
        let options = LoadOptions::beside_browser(Some(protocol), true, 1.0);
        let scene = ReplayContext {
            page: &page,
            options: &options,
            costs: &costs,
        };
        let loaded = replay(&scene, &link, &plain, Seed::new(1)).unwrap();
        let (arrived, times) = (loaded.requests[0].decoded, request_times(&loaded));
        let early = times[1..].iter().filter(|time| **time < arrived);
        assert!(early.count() >= expected, "{protocol:?}: {times:?}, {arrived:?}");
        // A browser that waited for the whole document would leave the link idle while it opens connections and asks.
        let waiting = replayed_waiting(&page, &options, &plain, &link);
        let gained = waiting - loaded.page_time;
        assert!(gained > link.round_trip(), "{protocol:?}: {gained:?} of {waiting:?}");
    }
}

#[test]
fn a_slow_first_connection_gets_a_second_that_later_requests_find_open() {
    let far = {
        let direction = DirectionSpec {
            capacity: Capacity::Unlimited,
            one_way_delay: 150 * MS,
            ..DirectionSpec::IDEAL
        };
        LinkSpec::new("far", direction.clone(), direction).unwrap()
    };
    let after = ScriptedResponse {
        prerequisites: vec![WHOLE_FIRST],
        ..order()
    };
    let script = vec![order(), after.clone(), after];
    let loaded = run(
        &cold(),
        &far,
        &[served(&cold(), Version::Http11)],
        script.into(),
        HandshakeCost::default(),
        Seed::new(1),
    )
    .unwrap();
    // Connect and fetch, and the two others at once, over the first connection and the second.
    assert_eq!(loaded.page_time, 900 * MS);
}

/// A document, a script that it leads to, data that the script asks for, and an image beside the script.
fn chain() -> Vec<ScriptedResponse> {
    let after = |item, gap| ScriptedResponse {
        gap,
        prerequisites: vec![Prerequisite {
            item,
            extent: Extent::Whole,
        }],
        ..order()
    };
    let data = ScriptedResponse {
        server_think_time: 40 * MS,
        ..after(1, 30 * MS)
    };
    vec![order(), after(0, 10 * MS), data, after(0, Duration::ZERO)]
}

#[test]
fn the_page_ends_with_the_chain_of_requests_that_waited_for_each_other() {
    let loaded = replayed(&options(Version::Http11, true, Connections::Cold), None, chain());
    assert_eq!(critical_path(&loaded.requests), [0, 1, 2]);
    let waited_for: Vec<_> = loaded.requests.iter().map(|request| request.waited_for).collect();
    assert_eq!(waited_for, [None, Some(0), Some(1), Some(0)]);
    // TCP and TLS take a round trip each, and so does every exchange; gaps, the server's think time, and a wait for the connection come between.
    assert_eq!(loaded.page_time, (300 + 10 + 90 + 100 + 30 + 140) * MS);
    let [document, script, data, image] = [0, 1, 2, 3].map(|request| loaded.requests[request]);
    let zero = Duration::ZERO;
    assert_eq!(
        document.phases(),
        [zero, 100 * MS, 100 * MS, zero, 100 * MS, zero, zero]
    );
    assert_eq!((document.opens_connection, document.connection), (true, 0));
    // The image takes the document's connection at once; the script waits for it, since that takes less than to open another.
    assert_eq!(
        (image.start, image.connection, image.opens_connection),
        (300 * MS, 0, false)
    );
    assert_eq!(
        (script.start, script.connection, script.opens_connection),
        (310 * MS, 0, false)
    );
    assert_eq!(script.phases(), [90 * MS, zero, zero, zero, 100 * MS, zero, zero]);
    assert_eq!((data.start, data.decoded), (530 * MS, 670 * MS));
}

#[test]
fn phases_add_up_and_the_last_one_ends_with_the_page() {
    for (protocol, connections) in [
        (Version::Http11, Connections::Cold),
        (Version::H2, Connections::Cold),
        (Version::Http11, Connections::Warm),
    ] {
        let orders = (0..20).map(|index| ScriptedResponse {
            size: ByteCount::new(2_000 * index),
            plain: ByteCount::new(2_000 * index),
            decoding: MS,
            prerequisites: if index < 8 { Vec::new() } else { vec![WHOLE_FIRST] },
            ..order()
        });
        let loaded = replayed(
            &options(protocol, true, connections),
            Some("1 Mbit/s"),
            orders.collect(),
        );
        for request in &loaded.requests {
            assert_eq!(
                request.start + request.phases().iter().sum::<Duration>(),
                request.decoded
            );
        }
        let last = critical_path(&loaded.requests).pop().unwrap();
        assert_eq!(loaded.requests[last].decoded, loaded.page_time, "{protocol:?}");
        let opened = loaded
            .requests
            .iter()
            .filter(|request| request.opens_connection)
            .count();
        let expected = match (protocol, connections) {
            (_, Connections::Warm) => 0,
            (Version::Http11, _) => 6,
            (Version::H2, _) => 1,
        };
        assert_eq!(opened, expected, "{protocol:?}, {connections:?}");
    }
}
