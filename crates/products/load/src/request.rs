//! The request that is sent again and again: as bytes of HTTP/1.1, and as a head of HTTP/2.

use crate::http1::ResponseReader;
use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, Method, Uri};

/// A request that is sent again and again. It has no body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    method: Method,
    authority: String,
    path: String,
    headers: HeaderMap,
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
        if !headers.contains_key(header::HOST) {
            line(&header::HOST, authority.as_bytes());
        }
        for (name, value) in headers {
            line(name, value.as_bytes());
        }
        let mut close = head.clone();
        head.extend_from_slice(b"\r\n");
        close.extend_from_slice(b"connection: close\r\n\r\n");
        Self {
            method,
            authority: authority.to_owned(),
            path: path.to_owned(),
            headers: headers.clone(),
            keep_alive: head,
            close,
        }
    }

    /// A GET of `path` at `authority`.
    pub fn get(authority: &str, path: &str) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(header::USER_AGENT, HeaderValue::from_static("lastmile"));
        Self::new(Method::GET, authority, path, &headers)
    }

    /// The bytes of the request over HTTP/1.1; `is_last` asks the server to close the connection after its response (RFC 9112 section 9.6).
    pub fn bytes(&self, is_last: bool) -> &[u8] {
        if is_last { &self.close } else { &self.keep_alive }
    }

    /// The head of the request over HTTP/2 (RFC 9113 section 8.3.1). A field `Host` is its authority.
    ///
    /// # Errors
    /// When the authority or the path is none of a URL.
    pub fn http2_head(&self, is_secure: bool) -> Result<http::Request<()>, http::Error> {
        let host = self.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let uri = Uri::builder()
            .scheme(if is_secure { "https" } else { "http" })
            .authority(host.unwrap_or(&self.authority))
            .path_and_query(self.path.as_str())
            .build()?;
        let mut request = http::Request::builder().method(self.method.clone()).uri(uri).body(())?;
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().remove(header::HOST);
        Ok(request)
    }

    /// A reader of its response over HTTP/1.1.
    pub fn response_reader(&self) -> ResponseReader {
        ResponseReader::new(self.method == Method::HEAD)
    }

    /// Whether it may be sent again when the connection was closed before any byte of a response (RFC 9110 section 9.2.2).
    pub fn is_idempotent(&self) -> bool {
        self.method.is_idempotent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_http_2_has_the_same_fields_and_the_host_as_its_authority() {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        let request = Request::new(Method::GET, "localhost:8080", "/a?b=c", &headers);
        let head = request.http2_head(false).unwrap();
        assert_eq!(head.uri(), "http://localhost:8080/a?b=c");
        assert_eq!(head.headers(), &headers);
        headers.insert(header::HOST, HeaderValue::from_static("other"));
        let head = Request::new(Method::GET, "localhost", "/", &headers)
            .http2_head(true)
            .unwrap();
        assert_eq!(head.uri(), "https://other/");
        assert!(!head.headers().contains_key(header::HOST));
    }
}
