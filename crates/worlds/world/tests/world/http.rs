//! Claims about hyper's clients and servers, unmodified, over the simulated world, and about the times of their transfers.

use crate::support::{Pair, Recording, content, direction};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::rt::Executor;
use hyper::service::service_fn;
use hyper::{Request, Response, client, server};
use hyper_util::rt::TokioIo;
use lastmile_link::DirectionSpec;
use lastmile_tcp::{Config, Nagle};
use lastmile_world::World as _;
use lastmile_world::sim::{HostSpec, SimHost, SimStream};
use lastmile_world::{Host, Listener};
use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

/// hyper's tasks, run by a simulated machine.
#[derive(Clone)]
struct OnHost(SimHost);

impl<F: Future<Output = ()> + 'static> Executor<F> for OnHost {
    fn execute(&self, task: F) {
        self.0.spawn(task);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Http1,
    Http2,
}

/// How many bytes of answer are asked for, by the path; as many bytes of question as the answer is long, up to 10 kB, go up.
const SIZES: [usize; 6] = [1, 100, 1448, 10_000, 300_000, 2_000_000];

fn question(size: usize) -> Vec<u8> {
    content(1, size.min(10_000))
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let size = request.uri().path()[1..].parse().unwrap();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, question(size));
    Ok(Response::new(Full::new(content(2, size).into())))
}

/// Without a `Date`: hyper takes it from the wall clock, and its length under HPACK is another every second.
async fn serve(version: Version, host: SimHost, stream: SimStream) {
    let io = TokioIo::new(stream);
    let served = match version {
        Version::Http1 => {
            server::conn::http1::Builder::new()
                .auto_date_header(false)
                .serve_connection(io, service_fn(answer))
                .await
        }
        Version::Http2 => {
            server::conn::http2::Builder::new(OnHost(host))
                .auto_date_header(false)
                .serve_connection(io, service_fn(answer))
                .await
        }
    };
    served.unwrap();
}

fn request(size: usize) -> Request<Full<Bytes>> {
    Request::post(format!("http://host/{size}"))
        .body(Full::new(question(size).into()))
        .unwrap()
}

async fn read(response: hyper::Result<Response<Incoming>>, size: usize) {
    let body = response.unwrap().into_body().collect().await.unwrap().to_bytes();
    assert!(body == content(2, size), "the answer of {size} B is whole");
}

/// Asks for one size after the other on one connection; how long each took.
async fn ask(version: Version, host: SimHost, stream: SimStream) -> Vec<Duration> {
    let io = TokioIo::new(stream);
    let mut took = Vec::new();
    match version {
        Version::Http1 => {
            let (mut sender, connection) = client::conn::http1::handshake(io).await.unwrap();
            host.spawn(async move { connection.await.unwrap() });
            for size in SIZES {
                let asked = host.now();
                sender.ready().await.unwrap();
                read(sender.send_request(request(size)).await, size).await;
                took.push(host.now() - asked);
            }
        }
        Version::Http2 => {
            let (mut sender, connection) = client::conn::http2::handshake(OnHost(host.clone()), io).await.unwrap();
            host.spawn(async move { connection.await.unwrap() });
            for size in SIZES {
                let asked = host.now();
                sender.ready().await.unwrap();
                read(sender.send_request(request(size)).await, size).await;
                took.push(host.now() - asked);
            }
        }
    }
    took
}

/// About a mobile link of the third generation: 1.6 Mbit/s and 300 ms there and back.
fn mobile() -> DirectionSpec {
    direction("1.6 Mbit/s", Duration::from_millis(150))
}

fn run(version: Version) -> (Vec<Duration>, Vec<u8>) {
    // As every HTTP/2 program sets it; else its frames wait for each other's acknowledgements.
    let tcp = Config {
        nagle: Nagle::Off,
        ..Config::default()
    };
    let spec = HostSpec {
        tcp,
        ..HostSpec::default()
    };
    let (pair, recording) = (Pair::with_hosts(2, &mobile(), spec.clone(), spec), Recording::default());
    pair.world.capture(&pair.client, Box::new(recording.clone())).unwrap();
    let mut listener = pair.server.listen(80).unwrap();
    let (host, client, address) = (pair.server.clone(), pair.client.clone(), pair.server.address(80));
    pair.world.spawn(async move {
        loop {
            let stream = listener.accept().await.unwrap();
            host.spawn(serve(version, host.clone(), stream));
        }
    });
    let program = async move {
        let stream = client.connect(address).await.unwrap();
        ask(version, client, stream).await
    };
    (
        pair.world.run_for(Duration::from_secs(100), program).unwrap(),
        recording.bytes(),
    )
}

/// 1.6 Mbit/s are 5 us a byte. An answer takes no less than a round trip and its own serialisation, headers of 52 B for each
/// 1448 B of it counted; and no more than that, the question's serialisation, a round trip for each doubling of the window
/// from 10 segments, and one more for what HTTP adds.
#[test]
fn answers_take_a_round_trip_their_serialisation_and_the_windows_doublings() {
    let (byte, round_trip) = (Duration::from_micros(5), Duration::from_millis(300));
    for version in [Version::Http1, Version::Http2] {
        let (took, _) = run(version);
        for (took, size) in took.into_iter().zip(SIZES) {
            let wire = |bytes: usize| byte * (bytes + 52 * bytes.div_ceil(1448)) as u32;
            let least = round_trip + wire(size);
            assert!(took >= least, "{version:?}, {size} B: {took:?} is less than {least:?}");
            let segments = size.min(300 * 200 + 10_000).div_ceil(1448);
            let doublings = (0..).find(|doublings| segments <= 10 << doublings).unwrap();
            let most = least + wire(question(size).len() + 600) + round_trip * (doublings + 1);
            assert!(took <= most, "{version:?}, {size} B: {took:?} is more than {most:?}");
        }
    }
}

#[test]
fn two_runs_of_http_put_the_same_packets_on_the_wire() {
    for version in [Version::Http1, Version::Http2] {
        assert!(run(version) == run(version), "{version:?}");
    }
}
