//! The same over HTTP/2: servers of the crate `h2` that behave, or fail in a way of their own.

use super::*;
use crate::error_cause::Reason;
use crate::plan::HttpVersion;
use bytes::Bytes;
use h2::server::{Connection, SendResponse};
use std::sync::atomic::AtomicU64;
use tokio::net::TcpStream as TokioStream;

/// A server of HTTP/2, for as long as the test lasts; its address, and the number of requests that it has seen.
fn serve_http2<F>(
    behave: impl Fn(u64, SendResponse<Bytes>) -> F + Clone + Send + 'static,
) -> (SocketAddr, Arc<AtomicU64>)
where
    F: Future<Output = AnsweredStream> + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let requests = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&requests);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let (behave, seen) = (behave.clone(), Arc::clone(&seen));
                tokio::task::spawn_local(async move {
                    let mut connection = h2::server::Builder::new()
                        .max_concurrent_streams(STREAMS_MAX)
                        .handshake(stream)
                        .await
                        .unwrap();
                    serve_connection(&mut connection, behave, &seen).await;
                });
            }
        });
    });
    (address, requests)
}

/// What a server does after an answer.
enum AnsweredStream {
    GoOn,
    /// GOAWAY, after the requests that there are.
    Leave,
    /// GOAWAY with a code, at once.
    Abort(h2::Reason),
}

/// The maximum number of concurrent streams of these servers.
const STREAMS_MAX: u32 = 5;

async fn serve_connection<F>(
    connection: &mut Connection<TokioStream, Bytes>,
    behave: impl Fn(u64, SendResponse<Bytes>) -> F,
    seen: &AtomicU64,
) where
    F: Future<Output = AnsweredStream> + 'static,
{
    while let Some(Ok((_, respond))) = connection.accept().await {
        match behave(seen.fetch_add(1, Ordering::SeqCst), respond).await {
            AnsweredStream::GoOn => {}
            AnsweredStream::Leave => connection.graceful_shutdown(),
            AnsweredStream::Abort(reason) => connection.abrupt_shutdown(reason),
        }
    }
}

/// Sends a head with a Content-Length, and a body.
fn respond(mut respond: SendResponse<Bytes>, length: u64, body: &'static [u8]) {
    let head = http::Response::builder()
        .header("content-length", length)
        .body(())
        .unwrap();
    let mut stream = respond.send_response(head, false).unwrap();
    stream.send_data(Bytes::from_static(body), true).unwrap();
}

async fn ok(_: u64, stream: SendResponse<Bytes>) -> AnsweredStream {
    respond(stream, 2, b"ok");
    AnsweredStream::GoOn
}

fn http2(streams: u32) -> Plan {
    Plan {
        http: HttpVersion::Http2 {
            streams: NonZeroU32::new(streams).unwrap(),
        },
        ..plan()
    }
}

/// Every request fails for the one cause, with the one reason.
fn assert_failure<F>(
    behave: impl Fn(u64, SendResponse<Bytes>) -> F + Clone + Send + 'static,
    cause: ErrorCause,
    reason: Option<&'static str>,
) where
    F: Future<Output = AnsweredStream> + 'static,
{
    let (server, _) = serve_http2(behave);
    let measured = run(server, &http2(100));
    assert_eq!(
        measured.errors,
        BTreeMap::from([(cause, REQUESTS)]),
        "{:?}",
        measured.reasons
    );
    let reasons = reason.map(|reason| ((cause, Reason::Text(reason)), REQUESTS));
    assert_eq!(measured.reasons, reasons.into_iter().collect());
}

#[test]
fn requests_share_a_connection_and_the_server_has_seen_them_all() {
    let (server, seen) = serve_http2(ok);
    let measured = run(server, &http2(100));
    assert_eq!(
        (measured.completed, measured.failed()),
        (REQUESTS, 0),
        "{:?}",
        measured.errors
    );
    assert_eq!(seen.load(Ordering::SeqCst), REQUESTS);
    // One of each thread.
    assert_eq!((measured.connections, measured.connections_max), (2, 2));
    assert_eq!(measured.body_bytes, 2 * REQUESTS);
    for times in [
        &measured.response,
        &measured.service,
        &measured.first_byte,
        &measured.transfer,
        &measured.lateness,
    ] {
        assert_eq!(times.count(), REQUESTS);
    }
    assert_eq!((measured.connect.count(), measured.connection_duration.count()), (2, 2));
    assert!(measured.response.mean() >= measured.first_byte.mean());
}

#[test]
fn a_connection_carries_no_more_requests_at_once_than_both_sides_allow() {
    // All ten requests are due in 10 ms, and each takes far longer, also on a busy machine.
    let slow = |_, stream| async {
        tokio::task::spawn_local(async {
            tokio::time::sleep(Duration::from_millis(600)).await;
            respond(stream, 2, b"ok");
        });
        AnsweredStream::GoOn
    };
    let connections = |streams| {
        let (server, _) = serve_http2(slow);
        let arrivals = Arrivals::Constant(RequestRate::new(1_000.0).unwrap());
        let plan = Plan {
            demand: Demand::open(arrivals),
            duration: Duration::from_millis(REQUESTS),
            ..http2(streams)
        };
        let generator = Generator::new(server, NonZeroU32::MIN, Arc::default());
        let measured = generator.run(&plan, Seed::new(1)).unwrap().measurement;
        assert_eq!(
            (measured.completed, measured.failed()),
            (REQUESTS, 0),
            "{:?}",
            measured.errors
        );
        measured.connections
    };
    assert_eq!(connections(1), REQUESTS);
    assert_eq!(connections(2), REQUESTS / 2);
}

#[test]
fn users_of_a_closed_loop_share_a_connection() {
    let (server, seen) = serve_http2(ok);
    let plan = Plan {
        clients: NonZeroU32::new(2).unwrap(),
        demand: Demand::Closed {
            users: NonZeroU32::new(8).unwrap(),
            think_time: Duration::from_millis(10),
        },
        ..http2(4)
    };
    let measured = run(server, &plan);
    assert_eq!(
        (measured.failed(), measured.connections),
        (0, 2),
        "{:?}",
        measured.errors
    );
    // Each user asks at least once, and every 10 ms at most.
    assert!((8..=88).contains(&measured.completed), "{}", measured.completed);
    assert_eq!(seen.load(Ordering::SeqCst), measured.completed);
}

#[test]
fn a_server_that_leaves_politely_costs_a_connection_and_no_error() {
    let leaving = |number: u64, stream| async move {
        respond(stream, 2, b"ok");
        if number % 3 == 2 {
            AnsweredStream::Leave
        } else {
            AnsweredStream::GoOn
        }
    };
    let (server, seen) = serve_http2(leaving);
    let measured = run(server, &http2(100));
    assert_eq!(
        (measured.completed, measured.failed()),
        (REQUESTS, 0),
        "{:?}",
        measured.reasons
    );
    assert_eq!(seen.load(Ordering::SeqCst), REQUESTS);
    assert!(measured.connections > 2, "{}", measured.connections);
}

#[test]
fn what_the_server_says_about_a_failure_is_its_cause_and_reason() {
    let reset = |reason| {
        move |_, mut stream: SendResponse<Bytes>| async move {
            stream.send_reset(reason);
            AnsweredStream::GoOn
        }
    };
    assert_failure(
        reset(h2::Reason::REFUSED_STREAM),
        ErrorCause::RefusedStream,
        Some("REFUSED_STREAM"),
    );
    assert_failure(
        reset(h2::Reason::INTERNAL_ERROR),
        ErrorCause::StreamReset,
        Some("INTERNAL_ERROR"),
    );
    // A reset within the body.
    let within = |_, mut stream: SendResponse<Bytes>| async move {
        let mut body = stream.send_response(http::Response::new(()), false).unwrap();
        body.send_data(Bytes::from_static(b"half"), false).unwrap();
        tokio::task::spawn_local(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            body.send_reset(h2::Reason::CANCEL);
        });
        AnsweredStream::GoOn
    };
    assert_failure(within, ErrorCause::StreamReset, Some("CANCEL"));
    let short = |_, mut stream: SendResponse<Bytes>| async move {
        let head = http::Response::builder().header("content-length", 9).body(()).unwrap();
        let mut body = stream.send_response(head, false).unwrap();
        body.send_data(Bytes::from_static(b"ok"), true).unwrap();
        AnsweredStream::GoOn
    };
    assert_failure(short, ErrorCause::ShortBody, None);
    let calm = |_, stream| async move {
        drop(stream);
        AnsweredStream::Abort(h2::Reason::ENHANCE_YOUR_CALM)
    };
    let (server, _) = serve_http2(calm);
    let measured = run(server, &http2(100));
    assert_eq!(measured.failed(), REQUESTS);
    let calm = (ErrorCause::Goaway, Reason::Text("ENHANCE_YOUR_CALM"));
    assert!(measured.reasons.get(&calm) > Some(&0), "{:?}", measured.reasons);
}

#[test]
fn a_stream_that_stalls_is_given_up_alone() {
    // The first request is never answered.
    let stalling = |number: u64, stream| async move {
        if number == 0 {
            tokio::task::spawn_local(async move {
                tokio::time::sleep(4 * TIMEOUT).await;
                drop(stream);
            });
        } else {
            respond(stream, 2, b"ok");
        }
        AnsweredStream::GoOn
    };
    let (server, _) = serve_http2(stalling);
    let measured = run(server, &http2(100));
    assert_eq!(measured.errors, BTreeMap::from([(ErrorCause::NoResponse, 1)]));
    assert_eq!((measured.completed, measured.connections), (REQUESTS - 1, 2));
}

#[test]
fn a_server_of_http_1_is_told_apart() {
    let server = serve(answer(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", |_| {}));
    let measured = run(server, &http2(100));
    let why = Reason::Text("the server answers in HTTP/1");
    assert_eq!(
        measured.reasons,
        BTreeMap::from([((ErrorCause::Malformed, why), REQUESTS)])
    );
    let closing = serve(close);
    let found = run(closing, &http2(100)).errors;
    let is_end = |cause: &ErrorCause| matches!(cause, ErrorCause::ClosedBeforeResponse | ErrorCause::Reset);
    assert!(found.keys().all(is_end), "{found:?}");
    let garbage = serve(|stream| {
        let _ = stream.write_all(&[0xff; 100]);
        thread::sleep(TIMEOUT);
    });
    assert_eq!(
        run(garbage, &http2(100)).errors,
        BTreeMap::from([(ErrorCause::Malformed, REQUESTS)])
    );
    let silent = serve(|_| thread::sleep(2 * STALL_TIMEOUT));
    let stalled = Plan {
        timeout: STALL_TIMEOUT,
        ..http2(100)
    };
    assert_eq!(
        run(silent, &stalled).errors,
        BTreeMap::from([(ErrorCause::NoResponse, REQUESTS)])
    );
}
