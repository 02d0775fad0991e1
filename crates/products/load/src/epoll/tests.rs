//! Servers on loopback that misbehave, each in its own way: every failure is counted under its cause, and no run hangs.

mod any_server;
mod http2;
mod secure;

use super::*;
use crate::error_cause::ErrorCause;
use crate::measurement::Ending;
use crate::plan::Demand;
use crate::rate::RequestRate;
use crate::request::Request;
use crate::schedule::Arrivals;
use nix::sys::socket::{setsockopt, sockopt};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::Ordering;

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const TIMEOUT: Duration = Duration::from_millis(1_500);
/// Where every request runs into the timeout.
const STALL_TIMEOUT: Duration = Duration::from_millis(500);
/// Requests of a run: 10 in 100 ms.
const REQUESTS: u64 = 10;

/// A server with a thread per connection, for as long as the test lasts.
fn serve(behave: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let behave = Arc::new(behave);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let behave = Arc::clone(&behave);
            thread::spawn(move || behave(&mut stream));
        }
    });
    address
}

/// Reads a request; false at the end of the connection.
fn read_request(stream: &mut TcpStream) -> bool {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return false,
        }
    }
    true
}

fn plan() -> Plan {
    let arrivals = Arrivals::Constant(RequestRate::new(100.0).unwrap());
    let duration = Duration::from_millis(10 * REQUESTS);
    Plan {
        timeout: TIMEOUT,
        connect_timeout: TIMEOUT,
        ..Plan::new(Demand::open(arrivals), duration, Request::get("localhost", "/"))
    }
}

/// The plan for servers that do not answer.
fn stall_plan() -> Plan {
    Plan {
        timeout: STALL_TIMEOUT,
        connect_timeout: STALL_TIMEOUT,
        ..plan()
    }
}

fn run(server: SocketAddr, plan: &Plan) -> Measurement {
    let generator = Generator::new(server, NonZeroU32::new(2).unwrap(), Arc::default());
    generator.run(plan, Seed::new(1)).unwrap().measurement
}

fn errors(server: SocketAddr, plan: &Plan) -> BTreeMap<ErrorCause, u64> {
    let measured = run(server, plan);
    assert_eq!(measured.ending, Ending::Complete);
    assert_eq!(measured.completed + measured.failed(), REQUESTS);
    measured.errors
}

/// Every request fails for the one cause.
fn assert_cause(behave: impl Fn(&mut TcpStream) + Send + Sync + 'static, cause: ErrorCause) {
    assert_eq!(errors(serve(behave), &plan()), BTreeMap::from([(cause, REQUESTS)]));
}

/// Every request runs into the timeout, for the one cause.
fn assert_stall(behave: impl Fn(&mut TcpStream) + Send + Sync + 'static, cause: ErrorCause) {
    assert_eq!(
        errors(serve(behave), &stall_plan()),
        BTreeMap::from([(cause, REQUESTS)])
    );
}

/// Answers each request so, and then does what `next` does.
fn answer(
    response: &'static [u8],
    next: impl Fn(&mut TcpStream) + Send + Sync,
) -> impl Fn(&mut TcpStream) + Send + Sync {
    move |stream| {
        while read_request(stream) {
            if stream.write_all(response).is_err() {
                return;
            }
            next(stream);
        }
    }
}

fn close(stream: &mut TcpStream) {
    let _ = stream.shutdown(std::net::Shutdown::Both);
}

#[test]
fn a_server_that_behaves_completes_every_request() {
    for requests_per_connection in [None, NonZeroU32::new(1), NonZeroU32::new(2)] {
        let plan = Plan {
            requests_per_connection,
            ..plan()
        };
        let measured = run(serve(answer(RESPONSE, |_| {})), &plan);
        assert_eq!(
            (measured.completed, measured.failed(), measured.sent),
            (REQUESTS, 0, REQUESTS)
        );
        assert_eq!(measured.body_bytes, 2 * REQUESTS);
        if let Some(requests) = requests_per_connection {
            assert!(measured.connections >= REQUESTS / u64::from(requests.get()));
        }
        assert_eq!(measured.connect.count(), measured.connections);
        assert_eq!(measured.tcp.connections, measured.connections);
        assert!(measured.tcp.round_trip.max().unwrap() > Duration::ZERO);
        assert_eq!(measured.connection_duration.count(), measured.connections);
    }
}

#[test]
fn a_closed_port_refuses() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(
        errors(address, &plan()),
        BTreeMap::from([(ErrorCause::Refused, REQUESTS)])
    );
}

#[test]
fn a_server_that_accepts_nothing_loses_syns() {
    // A backlog of 1 holds two connections (listen(2), tcp(7)); SYNs beyond it are dropped.
    let socket = nix::sys::socket::socket(
        nix::sys::socket::AddressFamily::Inet,
        nix::sys::socket::SockType::Stream,
        nix::sys::socket::SockFlag::empty(),
        None,
    )
    .unwrap();
    let any: nix::sys::socket::SockaddrStorage = "127.0.0.1:0".parse::<SocketAddr>().unwrap().into();
    nix::sys::socket::bind(std::os::fd::AsRawFd::as_raw_fd(&socket), &any).unwrap();
    nix::sys::socket::listen(&socket, nix::sys::socket::Backlog::new(0).unwrap()).unwrap();
    let listener = TcpListener::from(socket);
    let found = errors(listener.local_addr().unwrap(), &plan());
    assert!(found[&ErrorCause::SynLost] >= REQUESTS - 2, "{found:?}");
    assert_eq!(
        found
            .keys()
            .copied()
            .filter(|cause| *cause != ErrorCause::SynLost && *cause != ErrorCause::NoResponse)
            .count(),
        0
    );
}

#[test]
fn a_server_that_closes_or_resets_is_told_by_how_far_it_came() {
    assert_cause(answer(b"", close), ErrorCause::ClosedBeforeResponse);
    assert_cause(answer(b"HTTP/1.1 200 OK\r\nContent-", close), ErrorCause::ShortHead);
    assert_cause(
        answer(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", close),
        ErrorCause::ShortBody,
    );
    let reset = |stream: &mut TcpStream| {
        read_request(stream);
        let linger = nix::libc::linger {
            l_onoff: 1,
            l_linger: 0,
        };
        setsockopt(stream, sockopt::Linger, &linger).unwrap();
    };
    assert_cause(reset, ErrorCause::Reset);
}

#[test]
fn a_server_that_stalls_is_told_by_how_far_it_came() {
    let stall = |_: &mut TcpStream| thread::sleep(2 * STALL_TIMEOUT);
    assert_stall(answer(b"", stall), ErrorCause::NoResponse);
    assert_stall(answer(b"HTTP/1.1 200 OK\r\n", stall), ErrorCause::SlowHead);
    assert_stall(
        answer(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", stall),
        ErrorCause::SlowBody,
    );
}

#[test]
fn requests_that_a_stalled_connection_keeps_waiting_are_counted_as_such() {
    let plan = Plan {
        connections_per_client: NonZeroU32::MIN,
        ..stall_plan()
    };
    let measured = run(serve(answer(b"", |_| thread::sleep(2 * STALL_TIMEOUT))), &plan);
    assert_eq!(
        measured.errors,
        BTreeMap::from([(ErrorCause::NoResponse, 1), (ErrorCause::LocalQueue, REQUESTS - 1)])
    );
}

#[test]
fn a_slow_drip_does_not_outlast_the_timeout() {
    let drip = |bytes: &'static [u8]| {
        move |stream: &mut TcpStream| {
            read_request(stream);
            for byte in bytes.iter().chain(std::iter::repeat(&b'x')) {
                if stream.write_all(&[*byte]).is_err() {
                    return;
                }
                thread::sleep(Duration::from_millis(5));
            }
        }
    };
    assert_stall(drip(b"HTTP/1.1 200 OK\r\nX-Field: "), ErrorCause::SlowHead);
    assert_stall(drip(b"HTTP/1.1 200 OK\r\n\r\n"), ErrorCause::SlowBody);
}

#[test]
fn garbage_and_endless_heads_are_refused() {
    assert_cause(answer(b"SSH-2.0-OpenSSH_9.2p1\r\n\r\n", |_| {}), ErrorCause::Malformed);
    let endless = |stream: &mut TcpStream| {
        read_request(stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(&b"X-Field: endless\r\n".repeat(100)).is_ok() {}
    };
    assert_cause(endless, ErrorCause::HeadTooLong);
    let chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n";
    assert_cause(answer(chunks, |_| {}), ErrorCause::Malformed);
}

#[test]
fn a_status_of_400_or_above_is_an_error_and_keeps_its_connection() {
    let response = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    let measured = run(
        serve(answer(response, |_| {})),
        &Plan {
            connections_per_client: NonZeroU32::MIN,
            ..plan()
        },
    );
    assert_eq!(measured.errors, BTreeMap::from([(ErrorCause::Status, REQUESTS)]));
    assert_eq!(measured.connections, 1);
}

#[test]
fn a_server_that_closes_idle_connections_costs_a_connection_and_no_error() {
    let measured = run(serve(answer(RESPONSE, close)), &plan());
    assert_eq!((measured.completed, measured.failed()), (REQUESTS, 0));
    assert_eq!(measured.connections, REQUESTS);
}

#[test]
fn a_response_that_ends_with_its_connection_is_complete() {
    let measured = run(serve(answer(b"HTTP/1.1 200 OK\r\n\r\nuntil the end", close)), &plan());
    assert_eq!((measured.completed, measured.body_bytes), (REQUESTS, 13 * REQUESTS));
}

#[test]
fn an_interrupt_ends_a_run_and_keeps_what_was_measured() {
    let server = serve(answer(RESPONSE, |_| {}));
    let generator = Generator::new(server, NonZeroU32::MIN, Arc::default());
    let interrupt = Arc::clone(&generator.interrupt);
    let stopping = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        interrupt.store(true, Ordering::Relaxed);
    });
    let plan = Plan {
        duration: Duration::from_secs(3_600),
        ..plan()
    };
    let ran = generator.run(&plan, Seed::new(1)).unwrap();
    let (measured, cost) = (ran.measurement, ran.cost);
    stopping.join().unwrap();
    assert_eq!(measured.ending, Ending::Interrupted);
    assert!(measured.completed > 0 && measured.span < Duration::from_secs(60));
    assert!(cost.elapsed >= measured.span && cost.threads == 1);
}

#[test]
fn a_closed_loop_has_as_many_requests_in_flight_as_users() {
    let plan = Plan {
        clients: NonZeroU32::new(3).unwrap(),
        duration: Duration::from_millis(200),
        ..Plan::new(
            Demand::Closed {
                users: NonZeroU32::new(3).unwrap(),
                think_time: Duration::ZERO,
            },
            Duration::from_millis(200),
            Request::get("localhost", "/"),
        )
    };
    let measured = run(serve(answer(RESPONSE, |_| {})), &plan);
    assert_eq!(measured.connections_max, 3);
    assert!(measured.clients.iter().all(|client| client.completed > 0));
    assert_eq!(measured.failed(), 0);
}
