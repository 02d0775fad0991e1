//! HTTP/1.1 as a client speaks it, sans-IO: requests as bytes, responses read as they arrive.
//!
//! The client sends requests without a body and stores no body: it checks the framing of a response and counts its bytes.

mod chunked;
mod response;

pub use response::{HEAD_MAX, ResponseError, ResponseReader};

use http::{HeaderMap, HeaderName, HeaderValue, Method};

/// A request that is sent again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    method: Method,
    keep_alive: Vec<u8>,
    close: Vec<u8>,
}

impl Request {
    /// A request of `method` for `path` (in origin form, with its query) at `authority` (RFC 9112 section 3.2), with `headers` beside `Host`
    /// and `Connection`.
    pub fn new(method: Method, authority: &str, path: &str, headers: &HeaderMap) -> Self {
        let mut head = format!("{method} {path} HTTP/1.1\r\n").into_bytes();
        let mut line = |name: &HeaderName, value: &[u8]| {
            head.extend_from_slice(name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        };
        if !headers.contains_key(http::header::HOST) {
            line(&http::header::HOST, authority.as_bytes());
        }
        for (name, value) in headers {
            line(name, value.as_bytes());
        }
        let mut close = head.clone();
        head.extend_from_slice(b"\r\n");
        close.extend_from_slice(b"connection: close\r\n\r\n");
        Self {
            method,
            keep_alive: head,
            close,
        }
    }

    /// A GET of `path` at `authority`.
    pub fn get(authority: &str, path: &str) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(http::header::USER_AGENT, HeaderValue::from_static("lastmile"));
        Self::new(Method::GET, authority, path, &headers)
    }

    /// The bytes of the request; `is_last` asks the server to close the connection after its response (RFC 9112 section 9.6).
    pub fn bytes(&self, is_last: bool) -> &[u8] {
        if is_last { &self.close } else { &self.keep_alive }
    }

    /// A reader of its response.
    pub fn response_reader(&self) -> ResponseReader {
        ResponseReader::new(self.method == Method::HEAD)
    }

    /// Whether it may be sent again when the connection was closed before any byte of a response (RFC 9110 section 9.2.2).
    pub fn is_idempotent(&self) -> bool {
        self.method.is_idempotent()
    }
}

#[cfg(test)]
mod tests;
