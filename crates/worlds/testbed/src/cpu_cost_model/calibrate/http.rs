//! Measures the CPU time of HTTP without bodies: hyper's server and client over a pipe in memory, each side timed separately.

use super::seconds_of;
use crate::cpu_cost_model::cost_table::Samples;
use bytes::Bytes;
use futures_util::future::join;
use futures_util::task::noop_waker_ref;
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::service::service_fn;
use hyper::{Request, Response, client, server};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Requests per connection, one after another, so that opening it hardly counts. Our own choice.
const REQUESTS: u32 = 50;

/// Approximately the fields that a browser sends with a request.
const HEADERS: [(&str, &str); 6] = [
    ("host", "www.example.org"),
    (
        "user-agent",
        "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    ),
    (
        "accept",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    ),
    ("accept-language", "en-GB,en;q=0.5"),
    ("accept-encoding", "gzip, deflate, br, zstd"),
    ("connection", "keep-alive"),
];

/// The server's part of a request: reading its head, writing the head of a response of 100 bytes.
pub(super) fn serve() -> Samples {
    part(|[_, server]| server)
}

/// The client's part of a request.
pub(super) fn fetch() -> Samples {
    part(|[client, _]| client)
}

fn part(side: impl Fn([Duration; 2]) -> Duration) -> Samples {
    Samples::of_any_size(seconds_of(|| side(exchange()).as_secs_f64() / f64::from(REQUESTS)))
}

/// The time that the client and the server spend on the requests of a connection.
fn exchange() -> [Duration; 2] {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let answer = |_| async { Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(&[7; 100])))) };
    let mut serving = pin!(server::conn::http1::Builder::new().serve_connection(TokioIo::new(far), service_fn(answer)));
    let mut fetching = pin!(async {
        let (mut sender, connection) = client::conn::http1::handshake(TokioIo::new(near)).await?;
        let requests = async move {
            for _ in 0..REQUESTS {
                let mut request = Request::get("/index.html");
                for (name, value) in HEADERS {
                    request = request.header(name, value);
                }
                let request = request.body(Empty::<Bytes>::new()).expect("the head is well formed");
                sender.send_request(request).await?.into_body().collect().await?;
            }
            Ok::<_, hyper::Error>(())
        };
        join(requests, connection).await.0
    });
    let mut spent = [Duration::ZERO; 2];
    loop {
        let fetched = timed(&mut spent[0], fetching.as_mut());
        if let Poll::Ready(fetched) = fetched {
            fetched.expect("a pipe in memory does not fail");
            return spent;
        }
        let served = timed(&mut spent[1], serving.as_mut());
        assert!(served.is_pending(), "the server waits until the client is done");
    }
}

/// Polls `future` once, until it waits for the other side, and adds the time to `spent`.
fn timed<F: Future>(spent: &mut Duration, future: Pin<&mut F>) -> Poll<F::Output> {
    let started = Instant::now();
    let reached = future.poll(&mut Context::from_waker(noop_waker_ref()));
    *spent += started.elapsed();
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_work_for_a_request() {
        assert!(exchange().into_iter().all(|spent| spent > Duration::ZERO));
    }
}
