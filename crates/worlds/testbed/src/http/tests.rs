//! Tests of exchanges in the simulated world.

use super::tls::{ClientTls, ServerTls};
use super::*;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Empty, Full};
use hyper::service::service_fn;
use lastmile_link::DirectionSpec;
use lastmile_tcp::{Config, Nagle};
use lastmile_units::Seed;
use lastmile_world::sim::{HostSpec, World};
use std::convert::Infallible;

const ONE_WAY: Duration = Duration::from_millis(50);

/// The time to open a connection and read a body of 1,000 bytes, over a link with a round trip of 100 ms and no rate limit; and the
/// response's `Date`.
fn exchange(version: Version, encrypted: bool) -> (Duration, String) {
    let world = World::new(Seed::new(1));
    let tcp = Config {
        nagle: Nagle::Off,
        ..Config::default()
    };
    let host = || {
        world.host(HostSpec {
            tcp: tcp.clone(),
            ..HostSpec::default()
        })
    };
    let (client, server) = (host(), host());
    let direction = DirectionSpec {
        one_way_delay: ONE_WAY,
        ..DirectionSpec::IDEAL
    };
    world.link(&direction, &direction, &[&client], &[&server]);
    let encryption = if encrypted {
        Encryption::Tls(ServerTls::new(version))
    } else {
        Encryption::None
    };
    let service =
        service_fn(|_| async { Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(&[7; 1000])))) });
    serve(&server, 443, version, encryption, service).unwrap();
    let to = server.address(443);
    world
        .run(async move {
            let tls = encrypted.then(|| ClientTls::new(version));
            let mut connection = connect(&client, to, version, tls.as_ref()).await.unwrap();
            let request = Request::get("http://server/").body(Empty::<Bytes>::new()).unwrap();
            let response = connection.send(request).await.unwrap();
            let date = response.headers()["date"].to_str().unwrap().to_owned();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body, [7; 1000][..]);
            (client.now().since_start(), date)
        })
        .unwrap()
}

#[test]
fn an_exchange_takes_a_round_trip_for_tcp_and_one_for_itself() {
    assert_eq!(exchange(Version::Http11, false).0, ONE_WAY * 4);
    assert_eq!(exchange(Version::H2, false).0, ONE_WAY * 4);
}

#[test]
fn tls_adds_exactly_one_round_trip() {
    assert_eq!(exchange(Version::Http11, true).0, ONE_WAY * 6);
    assert_eq!(exchange(Version::H2, true).0, ONE_WAY * 6);
}

#[test]
fn dates_are_of_virtual_time() {
    assert_eq!(date(Instant::START), "Thu, 01 Jan 2026 00:00:00 GMT");
    assert_eq!(
        date(Instant::from_nanos(61_000_000_000)),
        "Thu, 01 Jan 2026 00:01:01 GMT"
    );
    assert_eq!(exchange(Version::Http11, false).1, date(Instant::START));
}
