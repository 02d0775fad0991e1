//! A client to run behind a link: this test binary again, with orders in its environment.

use super::{pattern, send_pattern};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

/// The name of the test that makes the binary a client.
pub(super) const TEST: &str = "link::client::obeys_its_orders";
/// The environment variable of its orders.
pub(super) const ORDERS: &str = "LASTMILE_TEST_CLIENT";

fn connect(port: &str) -> std::io::Result<TcpStream> {
    TcpStream::connect(("host.lastmile", port.parse().unwrap()))
}

fn receive(mut stream: TcpStream, length: &str) {
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    assert!(received == pattern(length.parse().unwrap()), "{} bytes", received.len());
}

/// Does nothing unless there are orders.
#[test]
fn obeys_its_orders() {
    let Ok(orders) = std::env::var(ORDERS) else { return };
    let orders: Vec<_> = orders.split(' ').collect();
    match orders[..] {
        ["receive", port, length] => receive(connect(port).unwrap(), length),
        ["receive-from", address, length] => receive(TcpStream::connect(address).unwrap(), length),
        ["send", port, length] => send_pattern(connect(port).unwrap(), length.parse().unwrap()),
        ["send-and-leave", port, length] => {
            let stream = connect(port).unwrap();
            (&stream).write_all(&pattern(length.parse().unwrap())).unwrap();
        }
        // Ends its own direction first, and still receives.
        ["half-close", port] => {
            let mut stream = connect(port).unwrap();
            stream.write_all(b"question").unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert_eq!(answer, "8 bytes");
        }
        ["in-parallel", port, clients] => {
            let one = |n: usize| {
                let mut stream = connect(port).unwrap();
                let sent = pattern(1000 + n);
                stream.write_all(&sent).unwrap();
                stream.shutdown(Shutdown::Write).unwrap();
                let mut received = Vec::new();
                stream.read_to_end(&mut received).unwrap();
                assert_eq!(received, sent);
            };
            std::thread::scope(|scope| {
                for n in 0..clients.parse().unwrap() {
                    scope.spawn(move || one(n));
                }
            });
        }
        ["be-refused", port] => assert_eq!(connect(port).unwrap_err().kind(), ErrorKind::ConnectionRefused),
        ["be-reset", port] => {
            let mut stream = connect(port).unwrap();
            stream.write_all(b"question").unwrap();
            let error = stream.read(&mut [0]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
        ["reach-no-network"] => {
            // TEST-NET-1 (RFC 5737), which no host has.
            let error = TcpStream::connect("192.0.2.1:80").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NetworkUnreachable);
        }
        _ => panic!("{orders:?} are no orders"),
    }
}
