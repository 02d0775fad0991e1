use super::*;
use crate::request::Request;
use http::{HeaderMap, Method};

/// Reads a response whole and byte by byte, which must give the same; returns status, body bytes and whether the connection stays.
fn read(response: &[u8], ends: bool) -> Result<(u16, u64, bool), ResponseError> {
    let request = Request::get("localhost", "/");
    let outcome = |portion: usize| {
        let mut reader = request.response_reader();
        let mut rest = response;
        while !rest.is_empty() && !reader.is_complete() {
            let (now, later) = rest.split_at(portion.min(rest.len()));
            let read = reader.read(now)?;
            if read < now.len() {
                break;
            }
            rest = later;
        }
        if ends {
            reader.end()?;
        }
        assert!(reader.is_complete());
        Ok((reader.status(), reader.body_bytes(), reader.keeps_alive()))
    };
    let [whole, bytes] = [usize::MAX, 1].map(outcome);
    assert_eq!(whole, bytes);
    whole
}

#[test]
fn a_request_names_the_host_and_asks_to_close_when_it_is_the_last() {
    let request = Request::get("example.org:8080", "/a?b");
    assert_eq!(
        request.bytes(false),
        b"GET /a?b HTTP/1.1\r\nhost: example.org:8080\r\nuser-agent: lastmile\r\n\r\n"
    );
    assert!(request.bytes(true).ends_with(b"\r\nconnection: close\r\n\r\n"));
}

#[test]
fn the_length_of_a_body_is_given_by_each_means_of_rfc_9112() {
    assert_eq!(
        read(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false),
        Ok((200, 5, true))
    );
    assert_eq!(
        read(b"HTTP/1.1 200 OK\nContent-Length: 0\n\n", false),
        Ok((200, 0, true))
    );
    assert_eq!(read(b"HTTP/1.1 204 No Content\r\n\r\n", false), Ok((204, 0, true)));
    assert_eq!(
        read(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false),
        Ok((304, 0, true))
    );
    let chunked =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n";
    assert_eq!(read(chunked, false), Ok((200, 6, true)));
    assert_eq!(read(b"HTTP/1.1 200 OK\r\n\r\nhello", true), Ok((200, 5, false)));
    assert_eq!(
        read(
            b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na",
            false
        ),
        Ok((200, 1, true))
    );
    assert_eq!(
        read(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1, 1\r\n\r\na",
            false
        ),
        Ok((200, 1, false))
    );
}

#[test]
fn an_interim_response_is_no_response() {
    let interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na";
    assert_eq!(read(interim, false), Ok((200, 1, true)));
}

#[test]
fn a_response_to_head_has_no_body() {
    let request = Request::new(Method::HEAD, "localhost", "/", &HeaderMap::new());
    let mut reader = request.response_reader();
    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(reader.read(response), Ok(response.len()));
    assert!(reader.is_complete());
}

#[test]
fn bytes_behind_a_response_are_not_read() {
    let mut reader = Request::get("localhost", "/").response_reader();
    assert_eq!(
        reader.read(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP"),
        Ok(39)
    );
    reader.reset();
    assert!(!reader.is_complete() && !reader.has_head());
}

#[test]
fn what_is_no_response_is_refused() {
    for garbage in [
        &b"\x00\x01\x02\x03\n\n"[..],
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 099 Low\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab",
    ] {
        let refused = read(garbage, false);
        assert!(matches!(refused, Err(ResponseError::Malformed(_))), "{refused:?}");
    }
}

#[test]
fn a_head_that_does_not_end_is_refused_and_not_stored() {
    let mut reader = Request::get("localhost", "/").response_reader();
    reader.read(b"HTTP/1.1 200 OK\r\n").unwrap();
    let mut fed = 0;
    let refused = loop {
        match reader.read(b"X-Endless: header\r\n") {
            Ok(read) => fed += read,
            Err(error) => break error,
        }
        assert!(fed <= HEAD_MAX);
    };
    assert_eq!(refused, ResponseError::HeadTooLong);
    assert!(reader.head.capacity() <= 2 * HEAD_MAX);
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(HEAD_MAX / 25 + 1);
    assert_eq!(
        read(&interim, false),
        Err(ResponseError::HeadTooLong),
        "nor do interim ones"
    );
}

#[test]
fn a_connection_that_ends_too_early_is_told_by_where_it_ended() {
    assert_eq!(read(b"", true), Err(ResponseError::ClosedBeforeResponse));
    assert_eq!(read(b"HTTP/1.1 200", true), Err(ResponseError::ShortHead));
    assert_eq!(
        read(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", true),
        Err(ResponseError::ShortBody)
    );
    assert_eq!(
        read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", true),
        Err(ResponseError::ShortBody)
    );
}
