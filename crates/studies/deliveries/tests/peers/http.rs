//! A minimal HTTP client for one GET, on a plain socket.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddrV4, TcpStream};
use std::time::Duration;

/// A response; its body as transferred, with chunks joined.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// By name in lower case.
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The content coding.
    pub(crate) fn coding(&self) -> Option<&str> {
        self.fields.get("content-encoding").map(String::as_str)
    }
}

/// Requests `path` over a connection of its own.
pub(crate) fn get(from: SocketAddrV4, path: &str, accept_encoding: Option<&str>) -> Answer {
    let mut stream = TcpStream::connect(from).expect("a server that is ready accepts");
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let accept = accept_encoding.map_or_else(String::new, |codings| format!("Accept-Encoding: {codings}\r\n"));
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {from}\r\n{accept}Connection: close\r\n\r\n"
    )
    .unwrap();
    let mut carried = Vec::new();
    stream.read_to_end(&mut carried).expect("an answer that ends");
    parse(&carried)
}

fn parse(carried: &[u8]) -> Answer {
    let end = find(carried, b"\r\n\r\n").expect("a head that ends");
    let head = std::str::from_utf8(&carried[..end]).expect("a head of text");
    let (line, fields) = head.split_once("\r\n").expect("a head with fields");
    let fields: BTreeMap<_, _> = fields
        .split("\r\n")
        .filter_map(|field| field.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
    let body = &carried[end + 4..];
    // A body that is neither chunked nor has a stated length ends with the connection (RFC 9112 section 6.3).
    let body = match (fields.get("transfer-encoding"), fields.get("content-length")) {
        (Some(coding), _) => {
            assert_eq!(coding, "chunked");
            joined(body)
        }
        (None, Some(length)) => {
            assert_eq!(length.parse(), Ok(body.len()), "content-length");
            body.to_vec()
        }
        (None, None) => body.to_vec(),
    };
    Answer {
        status: status.expect("a status"),
        fields,
        body,
    }
}

/// The content of a chunked body (RFC 9112 section 7.1).
fn joined(mut chunks: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    loop {
        let end = find(chunks, b"\r\n").expect("a chunk's size");
        let size = std::str::from_utf8(&chunks[..end]).expect("a size of digits");
        let size = usize::from_str_radix(size, 16).expect("a size in hexadecimal");
        if size == 0 {
            return content;
        }
        let data = &chunks[end + 2..];
        content.extend(&data[..size]);
        chunks = &data[size + 2..];
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
