//! What traffic does a user have? Responses with their bodies, read from a HAR, a folder of files, or lines of JSON.
//!
//! [`Traffic::open`] tells the three apart. Nothing is guessed: what a file does not say is `None`, [`Body::SizeOnly`] or
//! [`Body::Missing`] here, and is counted in [`Traffic::notes`]; what is no HTTP response (a WebSocket, a `data:` URL, a
//! request that failed) is counted in [`Traffic::skipped`]. What to make of it is for the study that replays it.

mod folder;
pub mod har;
pub mod jsonl;
mod kind;
mod media_type;
mod opening;
mod origin;
mod timestamp;
mod url;

pub use crate::source::{Place, Remark, SourceError as TrafficError};
pub use kind::ResponseKind;
pub use origin::Origin;

use crate::source::remark::Tally;
use crate::traffic::opening::Format;
use bytes::Bytes as Octets;
use lastmile_units::Bytes;
use std::path::Path;
use std::time::Duration;

/// What was read, and what is to be said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// The file or folder it came from, as it was named.
    pub source: String,
    /// In the order of the file; of a folder, in the order of paths. At least one.
    pub responses: Vec<Response>,
    /// What the source left open, each with how often.
    pub notes: Vec<Remark>,
    /// What was no response to advise on, each with how often.
    pub skipped: Vec<Remark>,
}

/// One response, with what is known of its request.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Its place in the source, from 0; what was skipped counts too, so that it names the entry of a HAR.
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
    /// The essence of its media type, in lower case: `text/html`. None where nothing was stated.
    pub media_type: Option<String>,
    /// The request's line and headers, as HTTP/1.1 writes them (HTTP/2 makes less of them). None where nothing was stated.
    pub request_header_bytes: Option<Bytes>,
    /// The response's line and headers, likewise.
    pub response_header_bytes: Option<Bytes>,
    /// What it holds, without any content coding.
    pub body: Body,
    /// The version of HTTP it came by.
    pub http_version: Option<HttpVersion>,
    /// When its request began, from the first one's beginning.
    pub started: Duration,
    /// How long the server took from the end of the request to the first octet, a round trip included (HAR's `wait`).
    pub wait: Option<Duration>,
    /// How long it took in all (HAR's `time`).
    pub total: Option<Duration>,
    /// What the tool calls the connection it came over: equal within a source where the connection was the same.
    pub connection: Option<String>,
    /// The URL that made it be requested, where the tool or a Referer header says so.
    pub initiator: Option<String>,
    /// Whether a cache answered (in the browser, or by status 304), so that the body did not cross the link.
    pub from_cache: bool,
    /// Whether it can be coded once and served many times. [`Origin`] has the rule.
    pub origin: Origin,
    /// What in the response decided that.
    pub origin_because: &'static str,
    /// The content coding it came in, in lower case as the header wrote it; none for identity.
    pub content_encoding: Option<String>,
    /// The size of its body as it crossed the link, coded; `bodySize` in a HAR, or else Content-Length.
    pub transferred: Option<Bytes>,
}

impl Response {
    /// What kind of content it is: by its media type, or by its first octets where it states none.
    pub fn kind(&self) -> ResponseKind {
        let octets: &[u8] = if let Body::Present(octets) = &self.body {
            octets
        } else {
            &[]
        };
        ResponseKind::of(self.media_type.as_deref(), octets)
    }
}

/// What is known of a response's content, without any content coding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// All of it. Text is in UTF-8, as HAR and JSON have it, whatever it was in.
    Present(Octets),
    /// How long it is.
    SizeOnly(Bytes),
    /// Nothing.
    Missing,
}

impl Body {
    /// How long it is, where that is known.
    pub fn size(&self) -> Option<Bytes> {
        match self {
            Self::Present(octets) => Some(Bytes::from(octets.len())),
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

impl HttpVersion {
    /// Reads what tools write: `HTTP/1.1`, `http/2.0`, `h2`, `h3-29`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
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
    /// Reads a folder, a HAR or lines of JSON. A file called `.har`, `.jsonl` or `.ndjson` is that; of another name, it is
    /// what its first key says.
    ///
    /// # Errors
    /// When there is no such file, it cannot be read, is empty, cut off, binary or something else, or holds no response. The
    /// error names the file, the place in it, and what to do.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TrafficError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let metadata = std::fs::metadata(path).map_err(|error| TrafficError::unopened(&name, &error, WANTED))?;
        if metadata.is_dir() {
            return folder::read(path);
        }
        let file = std::fs::File::open(path).map_err(|error| TrafficError::io(&name, &error))?;
        let opened = opening::open(file, &name)?;
        let extension = path
            .extension()
            .and_then(|extension| extension.to_str())
            .map(str::to_ascii_lowercase);
        let format = match extension.as_deref() {
            Some("har") => Format::Har,
            Some("jsonl" | "ndjson") => Format::JsonLines,
            _ => opening::format(&opened),
        };
        match format {
            Format::Har => har::read_opened(opened, &name),
            Format::JsonLines => jsonl::read_opened(opened, &name),
        }
    }
}

const WANTED: &str = "give the path of a HAR, a .jsonl file or a folder";

#[cfg(test)]
mod tests;
