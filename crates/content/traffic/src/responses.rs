//! A user's traffic: responses with their bodies, read from a HAR, a folder of files, or lines of JSON.
//!
//! [`Traffic::open`] tells the three apart. Nothing is guessed: what a file does not say is `None`, [`Body::SizeOnly`] or
//! [`Body::Missing`] here, and is counted in [`Traffic::notes`]; entries that are not HTTP responses (a WebSocket, a `data:` URL, a
//! failed request) are counted in [`Traffic::skipped`]. How to use it is left to the study that replays it.

mod detect_format;
mod folder;
pub mod har;
pub mod jsonl;
mod media_type;
mod response_kind;
mod static_or_dynamic;
mod url;

pub use crate::reading::{Note, Position, SourceError as TrafficError};
pub use response_kind::ResponseKind;
pub use static_or_dynamic::Origin;

use crate::reading::note::NoteCounter;
use crate::reading::sniff::{OpenedFile, unpacked_extension};
use bytes::Bytes;
use lastmile_units::ByteCount;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// The responses that were read, with notes on what is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// The file or folder it came from, as the caller named it.
    pub source: String,
    pub format: TrafficFormat,
    /// In the order of the file; for a folder, in the order of paths. At least one.
    pub responses: Vec<Response>,
    /// When the page's load event was fired, after the first request began. None where the source does not state it, or is of several pages.
    pub load_event: Option<Duration>,
    /// The same of the page's event `DOMContentLoaded`.
    pub dom_content_loaded: Option<Duration>,
    /// What the source does not say, each with its count.
    pub notes: Vec<Note>,
    /// Entries that are not responses to advise on, each with its count.
    pub skipped: Vec<Note>,
}

/// What traffic was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrafficFormat {
    /// One JSON object, `{"log": {"entries": [...]}}`.
    Har,
    /// A folder of response bodies.
    Folder,
    /// One JSON object per line.
    JsonLines,
}

/// One response, with what is known about its request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Response {
    /// Its index in the source, from 0; skipped entries count too, so that it is the index of the entry in a HAR.
    pub index: usize,
    /// Where it came from, without a fragment.
    pub url: String,
    /// `http` or `https`.
    pub scheme: String,
    /// The host in lower case, with its port where the URL names one.
    pub host: String,
    /// The method in capitals.
    pub method: String,
    /// The status code, from 100 to 999.
    pub status: u16,
    /// The essence of its media type, in lower case: `text/html`. None where the source does not state it.
    pub media_type: Option<String>,
    /// The size of the request line and headers in HTTP/1.1 (HTTP/2 compresses them). None where the source does not state it.
    pub request_header_bytes: Option<ByteCount>,
    /// The size of the status line and headers, likewise.
    pub response_header_bytes: Option<ByteCount>,
    /// Its content, without any content coding.
    pub body: Body,
    /// The HTTP version it was sent with.
    pub http_version: Option<HttpVersion>,
    /// When its request began, relative to the first request.
    pub started: Duration,
    /// The time from the end of the request to the first byte of the response, including a round trip (HAR's `wait`).
    pub wait: Option<Duration>,
    /// The total time of request and response (HAR's `time`).
    pub total: Option<Duration>,
    /// The lengths of its phases, one after the other: waiting for a connection, name lookup, TCP handshake, TLS handshake, sending, waiting
    /// for the first byte, receiving. A phase that did not occur or is not stated is empty; none where the source states no phase.
    pub phases: Option<[Duration; 7]>,
    /// The tool's name for its connection: responses over the same connection have the same name within a source.
    pub connection: Option<String>,
    /// Whether its request carried credentials (cookies), as far as the request's headers say: browsers send requests without them over
    /// connections of their own.
    pub credentials: Option<bool>,
    /// The URL that caused the request, where the tool or a Referer header says so.
    pub initiator: Option<String>,
    /// Whether the browser itself answered, from a cache, by a service worker or a redirect of its own, so that no request was made.
    pub from_cache: bool,
    /// Whether it can be compressed once and served many times. [`Origin`] has the rule.
    pub origin: Origin,
    /// What in the response decided its origin.
    pub origin_because: &'static str,
    /// Its content coding, in lower case as the header wrote it; none for identity.
    pub content_encoding: Option<String>,
    /// The size of its body on the link, with content coding; `bodySize` in a HAR, or else Content-Length. 0 where it can have none.
    pub transferred: Option<ByteCount>,
    /// The fields of its head that change what a browser does next, by name in lower case: `location`, `link`, `cache-control` and
    /// `content-range`, where it has them.
    pub fields: BTreeMap<&'static str, String>,
}

impl Response {
    /// The kind of its content: by its media type, or by its first bytes where it states no media type.
    pub fn kind(&self) -> ResponseKind {
        let bytes: &[u8] = if let Body::Present(bytes) = &self.body {
            bytes
        } else {
            &[]
        };
        ResponseKind::from_media_type_or_content(self.media_type.as_deref(), bytes)
    }
}

/// What is known about a response's content, without any content coding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Body {
    /// The whole content. Text is in UTF-8, as in HAR and JSON, whatever its original character set.
    Present(Bytes),
    /// Only its size.
    SizeOnly(ByteCount),
    /// Nothing.
    #[default]
    Missing,
}

impl Body {
    /// Its size, where that is known.
    pub fn size(&self) -> Option<ByteCount> {
        match self {
            Self::Present(bytes) => Some(ByteCount::from(bytes.len())),
            Self::SizeOnly(size) => Some(*size),
            Self::Missing => None,
        }
    }
}

/// A version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HttpVersion {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
    /// HTTP/2
    Http2,
    /// HTTP/3
    Http3,
}

impl fmt::Display for HttpVersion {
    /// As in a message of HTTP/1.1, without a minor version from 2 on (RFC 9113 section 1, RFC 9114 section 1): `HTTP/2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Http10 => "HTTP/1.0",
            Self::Http11 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
            Self::Http3 => "HTTP/3",
        })
    }
}

impl HttpVersion {
    /// Reads what tools write: `HTTP/1.1`, `http/2.0`, `h2`, `spdy/3.1`, `h3-29`, `QUIC`. SPDY was the draft of HTTP/2.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if text.contains("quic") {
            return Some(Self::Http3);
        }
        if text.starts_with("spdy") {
            return Some(Self::Http2);
        }
        match text.strip_prefix("http/").or_else(|| text.strip_prefix('h'))? {
            "1.0" => Some(Self::Http10),
            "1.1" => Some(Self::Http11),
            "2" | "2.0" => Some(Self::Http2),
            other if other == "3" || other.starts_with("3.") || other.starts_with("3-") => Some(Self::Http3),
            _ => None,
        }
    }
}

impl Traffic {
    /// Reads a folder, a HAR or lines of JSON. The extension `.har`, `.jsonl` or `.ndjson` decides on the format of a file; without
    /// one of these, its first key does. A file that is packed with gzip or zstd, by its first bytes, is unpacked while it is read.
    ///
    /// # Errors
    /// When there is no such file, or it cannot be read, is empty, cut off, binary or another kind of file, or contains no response.
    /// The error names the file, the position in it, and the remedy.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TrafficError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let metadata = std::fs::metadata(path).map_err(|error| TrafficError::unopened(&name, &error, WANTED))?;
        if metadata.is_dir() {
            return folder::read(path);
        }
        let file = std::fs::File::open(path).map_err(|error| TrafficError::io(&name, &error))?;
        Self::read_as(file, &name, unpacked_extension(path).as_deref())
    }

    /// Reads a HAR or lines of JSON, packed or not, from what has no path, such as standard input; `name` is for messages.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn read(content: impl Read + Send, name: &str) -> Result<Self, TrafficError> {
        Self::read_as(content, name, None)
    }

    /// Reads a file's content; `extension` may decide on its format.
    fn read_as(content: impl Read + Send, name: &str, extension: Option<&str>) -> Result<Self, TrafficError> {
        let packed = OpenedFile::new(Box::new(content) as Box<dyn Read + Send + '_>, name)?;
        let opened = detect_format::open(packed.unpacked(name)?.content(), name)?;
        let has_lines = match extension {
            Some("har") => false,
            Some("jsonl" | "ndjson") => true,
            _ => detect_format::has_lines(&opened),
        };
        if has_lines {
            jsonl::read_opened(opened, name)
        } else {
            har::read_opened(opened, name)
        }
    }
}

const WANTED: &str = "give the path of a HAR, a .jsonl file or a folder";

#[cfg(test)]
mod tests;
