//! Tests of transactions over crafted connections: framing, order, holes, missing content, and what is not HTTP.

use crate::Analysis;
use crate::test_packets::*;
use lastmile_units::Instant;

/// Segments that carry these texts on an open connection, one every 10 ms.
fn carried(texts: &[(bool, &str)]) -> Analysis {
    let (mut sequences, mut segments) = ([1000, 9000], Vec::new());
    for (n, (from_client, text)) in texts.iter().enumerate() {
        let [client, server] = sequences;
        let segment = if *from_client {
            up(ACK, client, server, text.as_bytes())
        } else {
            down(ACK, server, client, text.as_bytes())
        };
        segments.push((10 * n as u64, segment));
        sequences[usize::from(!from_client)] += text.len() as u32;
    }
    analysis(&segments)
}

/// Method, target, status, content up, content down, and milliseconds to the first and to the last byte.
type TransactionSummary<'a> = (&'a str, &'a str, Option<u16>, u64, u64, Option<u64>, Option<u64>);

fn summaries(analysis: &Analysis) -> Vec<TransactionSummary<'_>> {
    let milliseconds = |began: Instant, at: Option<Instant>| at.map(|at| (at - began).as_millis() as u64);
    let summaries = analysis.http.listed.iter().map(|(_, transaction)| {
        (
            transaction.method.as_str(),
            transaction.target.as_str(),
            transaction.status,
            transaction.request_bytes.get(),
            transaction.response_bytes.get(),
            milliseconds(transaction.began, transaction.first_byte),
            milliseconds(transaction.began, transaction.ended),
        )
    });
    summaries.collect()
}

#[test]
fn content_ends_by_length_by_chunks_or_where_there_is_none() {
    let analysis = carried(&[
        (true, "POST /a HTTP/1.1\r\ncontent-length: 4\r\n\r\nab"),
        (true, "cd"),
        (
            false,
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
        ),
        (false, "lo"),
        (true, "GET /b HTTP/1.1\r\n\r\n"),
        (
            false,
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n1",
        ),
        (false, "0\r\n0123456789abcdef\r\n0\r\ntrailer: x\r\n\r\n"),
        (true, "HEAD /c HTTP/1.1\r\n\r\n"),
        (false, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"),
        (true, "GET /d HTTP/1.1\r\n\r\n"),
        (false, "HTTP/1.1 304 Not Modified\r\n\r\n"),
    ]);
    let wanted = [
        ("POST", "/a", Some(200), 4, 5, Some(20), Some(30)),
        ("GET", "/b", Some(200), 0, 21, Some(10), Some(20)),
        ("HEAD", "/c", Some(200), 0, 0, Some(10), Some(10)),
        ("GET", "/d", Some(304), 0, 0, Some(10), Some(10)),
    ];
    assert_eq!(summaries(&analysis), wanted);
    assert_eq!((analysis.http.count, analysis.http.whole), (4, 4));
    assert!(!analysis.tcp[0].http_lost);
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let analysis = carried(&[
        (true, "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n"),
        (
            false,
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
        ),
    ]);
    let answers: Vec<_> = summaries(&analysis)
        .iter()
        .map(|summaries| (summaries.1, summaries.2))
        .collect();
    assert_eq!(answers, [("/a", Some(200)), ("/b", Some(404))]);
}

#[test]
fn a_response_without_a_length_ends_with_the_connection() {
    let response = b"HTTP/1.0 200 OK\r\n\r\nuntil the end";
    let request = b"GET / HTTP/1.0\r\n\r\n";
    let end = 9000 + response.len() as u32;
    let mut segments = vec![(0, up(ACK, 1000, 9000, request)), (10, down(ACK, 9000, 1018, response))];
    assert_eq!(analysis(&segments).http.listed[0].1.ended, None, "not yet");
    segments.push((50, down(ACK | FIN, end, 1018, b"")));
    segments.push((60, up(ACK, 1018, end + 1, b"")));
    assert_eq!(
        summaries(&analysis(&segments)),
        [("GET", "/", Some(200), 0, 13, Some(10), Some(50))]
    );
}

#[test]
fn a_hole_delays_the_last_byte_until_it_is_filled() {
    let segments = [
        (0, up(ACK, 1000, 9000, b"GET / HTTP/1.1\r\n\r\n")),
        (
            10,
            down(ACK, 9000, 1018, b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"),
        ),
        (20, down(ACK, 9041, 1018, b"def")),
        (200, down(ACK, 9038, 1018, b"abc")),
    ];
    assert_eq!(
        summaries(&analysis(&segments)),
        [("GET", "/", Some(200), 0, 6, Some(10), Some(200))]
    );
}

#[test]
fn content_that_was_not_captured_is_counted_and_a_head_that_was_not_is_given_up() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
    let response = [head.as_slice(), &[b'x'; 1000]].concat();
    let segments = [
        (0, up(ACK, 1000, 9000, b"GET / HTTP/1.1\r\n\r\n")),
        (10, down(ACK, 9000, 1018, &response)),
        (
            20,
            up(ACK, 1018, 9000 + response.len() as u32, b"GET /2 HTTP/1.1\r\n\r\n"),
        ),
    ];
    let snapped = |length: usize| {
        let mut file = nanosecond_pcapng();
        for (at, segment) in &segments {
            let packet = segment.ipv4();
            let kept = &packet[..packet.len().min(length)];
            file.extend(enhanced(LITTLE, 0, at * 1_000_000, kept, packet.len() as u32, &[]));
        }
        crate::analyse(&file[..], "crafted").unwrap()
    };
    let analysis = snapped(96);
    assert_eq!(analysis.snapped, 1);
    assert_eq!(
        summaries(&analysis)[0],
        ("GET", "/", Some(200), 0, 1000, Some(10), Some(10))
    );
    assert_eq!(analysis.tcp[0].down.payload.get(), 1041, "by what the headers state");
    let analysis = snapped(60);
    assert!(analysis.tcp[0].http_lost);
    assert_eq!(summaries(&analysis)[0].2, None);
}

#[test]
fn what_is_no_http_is_left_alone() {
    let tls = carried(&[(true, "\u{16}\u{3}\u{1}hello"), (false, "\u{16}\u{3}\u{3}")]);
    assert_eq!((tls.http.count, tls.tcp[0].http_lost), (0, false));
    let smtp = carried(&[(false, "220 mail.example\r\n"), (true, "EHLO example\r\n")]);
    assert_eq!(smtp.http.count, 0);
    let upgraded = carried(&[
        (true, "GET /chat HTTP/1.1\r\nupgrade: websocket\r\n\r\n"),
        (false, "HTTP/1.1 101 Switching Protocols\r\n\r\n\u{81}\u{5}hello"),
        (true, "\u{81}\u{85}"),
    ]);
    assert_eq!(
        summaries(&upgraded),
        [("GET", "/chat", Some(101), 0, 0, Some(10), Some(10))]
    );
    assert!(!upgraded.tcp[0].http_lost);
    let garbage = carried(&[(true, "GET / HTTP/1.1\r\n\r\n"), (false, "\u{0}\u{1}\u{2}")]);
    assert!(garbage.tcp[0].http_lost);
    assert_eq!(garbage.http.whole, 0);
}
