//! Tests of single exchanges with a playback in the simulated world.

use super::*;
use crate::testing::{response, text, traffic};
use http_body_util::{BodyExt as _, Empty};
use lastmile_codec::content::decode;
use lastmile_testbed::http::connect;
use lastmile_testbed::http::tls::ClientTls;
use lastmile_traffic::responses::HttpVersion;
use lastmile_units::Seed;
use lastmile_world::sim::{HostSpec, World};

/// A document, a script that is made on request, a redirect, an image of which only the size is known, and the same path on another host.
fn recording() -> Traffic {
    let body = |bytes| Body::Present(text(bytes));
    let mut redirect = response("/old", "text/html", Origin::Static, Body::Present(Bytes::new()));
    redirect.status = 301;
    redirect.fields.insert("location", "https://a.example/".to_owned());
    let mut elsewhere = response("/a.js?v=1", "text/javascript", Origin::Static, body(100));
    elsewhere.host = "b.example:8443".to_owned();
    elsewhere.url = "https://b.example:8443/a.js?v=1".to_owned();
    traffic(vec![
        response("/", "text/html", Origin::Static, body(20_000)),
        response("/a.js?v=1", "text/javascript", Origin::Dynamic, body(50_000)),
        redirect,
        response(
            "/a.png",
            "image/png",
            Origin::Static,
            Body::SizeOnly(ByteCount::new(1_000)),
        ),
        elsewhere,
    ])
}

fn playback(codec: &str) -> (Traffic, Rc<Playback>) {
    let traffic = recording();
    let page = Page::from_traffic(&traffic);
    let deliveries = compressed_uniformly(&page, &traffic, codec.parse().unwrap());
    let playback = Rc::new(Playback::new(&page, &traffic, &deliveries));
    (traffic, playback)
}

/// The response to a request over plain HTTP/1.1, and what the servers counted.
fn ask(playback: &Rc<Playback>, request: http::request::Builder) -> (http::response::Parts, Bytes, PlaybackLog) {
    let world = World::new(Seed::new(1));
    let (client, server) = (world.host(HostSpec::default()), world.host(HostSpec::default()));
    let direction = lastmile_link::DirectionSpec::IDEAL;
    world.link(&direction, &direction, &[&client], &[&server]);
    let log = Rc::new(RefCell::new(playback.log()));
    let (answering, host, counted) = (Rc::clone(playback), server.clone(), Rc::clone(&log));
    let service = service_fn(move |request| {
        let (playback, host, log) = (Rc::clone(&answering), host.clone(), Rc::clone(&counted));
        async move { Ok::<_, Infallible>(playback.answer(0, &host, log, &request).await) }
    });
    serve(&server, 80, Version::Http11, Encryption::None, service).unwrap();
    let request = request.header("host", "a.example").body(Empty::<Bytes>::new()).unwrap();
    let address = server.address(80);
    let (head, body) = world
        .run(async move {
            let mut connection = connect(&client, address, Version::Http11, None).await.unwrap();
            let (head, body) = connection.send(request).await.unwrap().into_parts();
            (head, body.collect().await.unwrap().to_bytes())
        })
        .unwrap();
    let log = log.borrow().clone();
    (head, body, log)
}

fn get(target: &str) -> http::request::Builder {
    Request::get(target).header("accept-encoding", "gzip, deflate, br")
}

fn body(traffic: &Traffic, index: usize) -> &[u8] {
    match &traffic.responses[index].body {
        Body::Present(bytes) => bytes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_recorded_response_comes_back_whole_in_its_coding_and_is_counted() {
    let (traffic, playback) = playback("br:5");
    for (index, target) in [(0, "/"), (1, "/a.js?v=1")] {
        let (head, coded, log) = ask(&playback, get(target));
        assert_eq!(head.status, 200);
        assert_eq!(head.headers["content-encoding"], "br");
        let plain = decode(Coding::Brotli, &coded, ByteCount::new(100_000)).unwrap();
        assert!(plain == body(&traffic, index), "{target}");
        assert_eq!((log.requests[index], log.body_bytes[index]), (1, coded.len() as u64));
        assert_eq!(log.requests.iter().sum::<u64>(), 1);
    }
}

#[test]
fn a_body_has_a_length_unless_it_is_compressed_while_it_is_sent() {
    let (_, playback) = playback("gzip:6");
    assert!(ask(&playback, get("/")).0.headers.contains_key("content-length"));
    assert!(
        !ask(&playback, get("/a.js?v=1"))
            .0
            .headers
            .contains_key("content-length")
    );
}

#[test]
fn no_coding_is_used_that_the_browser_does_not_accept() {
    let (traffic, playback) = playback("zstd:3");
    let (head, plain, _) = ask(&playback, get("/"));
    assert!(!head.headers.contains_key("content-encoding"));
    assert!(plain == body(&traffic, 0));
}

#[test]
fn another_query_gets_the_response_of_its_path_and_an_unknown_path_none() {
    let (traffic, playback) = playback("identity");
    let (head, plain, log) = ask(&playback, get("/a.js?v=2"));
    assert_eq!((head.status.as_u16(), log.other_query, log.requests[1]), (200, 1, 1));
    assert!(plain == body(&traffic, 1));
    let (head, _, log) = ask(&playback, get("/b.js"));
    assert_eq!(head.status, 404);
    assert_eq!(log.not_recorded, ["https://a.example/b.js"]);
}

#[test]
fn a_redirect_leads_where_it_led_and_a_missing_body_is_as_long_as_it_was() {
    let (_, playback) = playback("gzip:6");
    let (head, _, _) = ask(&playback, get("/old"));
    assert_eq!(
        (head.status.as_u16(), &head.headers["location"]),
        (301, &"https://a.example/".parse().unwrap())
    );
    let image = ask(&playback, get("/a.png")).1;
    assert!(image.starts_with(b"GIF89a") && image.len() == 1_000);
}

#[test]
fn a_head_is_as_long_as_it_was_recorded() {
    let (traffic, playback) = playback("identity");
    let (head, _, _) = ask(&playback, get("/"));
    let fields: usize = head
        .headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum();
    let recorded = traffic.responses[0].response_header_bytes.unwrap().get() as usize;
    // The status line and the empty line; and the digits of the length, which are not known when the rest is padded.
    assert!((fields + 17 + 2).abs_diff(recorded) <= 8, "{fields} for {recorded}");
}

#[test]
fn every_origin_may_read_a_response() {
    let (_, playback) = playback("identity");
    let (head, _, _) = ask(&playback, get("/").header("origin", "https://c.example"));
    assert_eq!(head.headers["access-control-allow-origin"], "https://c.example");
    let preflight = Request::options("/").header("origin", "https://c.example");
    let (head, _, _) = ask(&playback, preflight.header("access-control-request-method", "PUT"));
    assert_eq!(
        (head.status.as_u16(), &head.headers["access-control-allow-methods"]),
        (204, &"PUT".parse().unwrap())
    );
}

#[test]
fn a_url_is_found_on_its_own_host_whether_or_not_it_names_the_port() {
    let (_, playback) = playback("identity");
    assert_eq!(playback.find("GET", "https://a.example/a.js?v=1"), Some((1, true)));
    assert_eq!(
        playback.find("GET", "https://a.example:443/a.js?v=9#top"),
        Some((1, false))
    );
    assert_eq!(playback.find("GET", "https://b.example:8443/a.js?v=1"), Some((4, true)));
    assert_eq!(playback.find("GET", "http://a.example/"), None);
    assert_eq!(playback.find("POST", "https://a.example/"), None);
    assert_eq!(playback.document(), Some("https://a.example/"));
    let recorded_hosts: Vec<_> = playback.recorded_hosts().collect();
    assert_eq!(
        recorded_hosts,
        [
            ("https", "a.example:443".to_owned()),
            ("https", "b.example:8443".to_owned())
        ]
    );
}

/// The versions of HTTP for which a host of the recording accepts a connection that offers this one alone.
fn accepted(playback: &Rc<Playback>, recorded_host: usize, asked: Option<Version>) -> Vec<Version> {
    let version = playback.versions(asked)[recorded_host];
    let accepts = |offered: &Version| {
        let offered = *offered;
        let world = World::new(Seed::new(1));
        let (client, server) = (world.host(HostSpec::default()), world.host(HostSpec::default()));
        let direction = lastmile_link::DirectionSpec::IDEAL;
        world.link(&direction, &direction, &[&client], &[&server]);
        let log = Rc::new(RefCell::new(playback.log()));
        let port = playback.serve(recorded_host, &server, version, &log).unwrap();
        let (address, tls) = (server.address(port), ClientTls::like_browsers(offered));
        let connected = async move {
            {
                let connected = connect::<_, Empty<Bytes>>(&client, address, offered, Some(&tls)).await;
                connected.is_ok()
            }
        };
        world.run(connected).unwrap()
    };
    [Version::Http11, Version::H2].into_iter().filter(accepts).collect()
}

#[test]
fn each_host_agrees_by_alpn_to_the_version_that_was_recorded_or_asked_for() {
    let mut traffic = recording();
    traffic.responses[0].http_version = Some(HttpVersion::Http2);
    traffic.responses[4].http_version = Some(HttpVersion::Http11);
    let page = Page::from_traffic(&traffic);
    let deliveries = compressed_uniformly(&page, &traffic, CodecSpec::IDENTITY);
    let playback = Rc::new(Playback::new(&page, &traffic, &deliveries));
    assert_eq!(playback.versions(None), [Version::H2, Version::Http11]);
    assert_eq!(accepted(&playback, 0, None), [Version::H2]);
    assert_eq!(accepted(&playback, 1, None), [Version::Http11]);
    for asked in [Version::Http11, Version::H2] {
        for recorded_host in [0, 1] {
            assert_eq!(
                accepted(&playback, recorded_host, Some(asked)),
                [asked],
                "host {recorded_host}"
            );
        }
    }
}

#[test]
fn a_host_without_encryption_speaks_http_1_1_whatever_is_asked_for() {
    let mut traffic = recording();
    for response in &mut traffic.responses[..4] {
        response.scheme = "http".to_owned();
        response.http_version = Some(HttpVersion::Http2);
    }
    let page = Page::from_traffic(&traffic);
    let deliveries = compressed_uniformly(&page, &traffic, CodecSpec::IDENTITY);
    let playback = Playback::new(&page, &traffic, &deliveries);
    assert_eq!(playback.versions(Some(Version::H2)), [Version::Http11, Version::H2]);
}

#[test]
fn a_target_is_a_path_with_its_query() {
    for (url, expected) in [
        ("https://a.example", "/"),
        ("https://a.example?b=c", "/?b=c"),
        ("https://a.example/d/?b=/c#e", "/d/?b=/c"),
        ("/d?b", "/d?b"),
    ] {
        assert_eq!(target(url), expected);
    }
}
