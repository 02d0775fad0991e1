//! Converts one entry of a HAR to a response, or says why it is skipped.

mod network;

pub(super) use network::AnsweredBy;

use super::headers::Headers;
use crate::reading::base64::decode_in_place;
use crate::reading::lenient::{LenientBool, Number, Text, TextBytes, lenient_object};
use crate::reading::timestamp;
use crate::responses::static_or_dynamic::{self, Signs};
use crate::responses::url::{self, HttpUrl, NotHttp};
use crate::responses::{Body, HttpVersion, NoteCounter, Response, media_type};
use lastmile_units::ByteCount;
use network::CacheFields;
use std::time::Duration;

lenient_object!(
    /// An entry, with the fields that are used. Tools prefix the names of their own fields with `_`.
    pub(super) Entry, "an entry of a HAR" {
        "startedDateTime" => started: Text,
        "time" => time: Number,
        "request" => request: Request,
        "response" => response: ResponseFields,
        "timings" => timings: Timings,
        "connection" => connection: Text,
        "_initiator" => initiator: serde_json::Value,
        "_resourceType" => resource_type: Text,
        "_webSocketMessages" => web_socket_messages: LenientBool,
        "cache" => cache: CacheFields,
        "_fromCache" => from_cache: LenientBool,
        "_fetchType" => fetch_type: Text,
        "_objectSizeUncompressed" => uncompressed_size: Number,
    }
);
lenient_object!(Request, "a request" {
    "method" => method: Text,
    "url" => url: Text,
    "httpVersion" => http_version: Text,
    "headers" => headers: Headers,
    "headersSize" => headers_size: Number,
});
lenient_object!(ResponseFields, "a response" {
    "status" => status: Number,
    "statusText" => status_text: Text,
    "httpVersion" => http_version: Text,
    "headers" => headers: Headers,
    "headersSize" => headers_size: Number,
    "bodySize" => body_size: Number,
    "_transferSize" => transfer_size: Number,
    "_fetchedViaServiceWorker" => via_service_worker: LenientBool,
    "_serviceWorkerResponseSource" => service_worker_source: Text,
    "content" => content: Content,
});
lenient_object!(Content, "a response's content" {
    "size" => size: Number,
    "mimeType" => mime_type: Text,
    "encoding" => encoding: Text,
    "text" => text: TextBytes,
});
lenient_object!(Timings, "timings" {
    "blocked" => blocked: Number,
    "dns" => dns: Number,
    "connect" => connect: Number,
    "ssl" => ssl: Number,
    "send" => send: Number,
    "wait" => wait: Number,
    "receive" => receive: Number,
});

impl Timings {
    /// As [`Response::phases`]; `connect` contains `ssl`.
    fn phases(&self) -> Option<[Duration; 7]> {
        let Self {
            blocked,
            dns,
            connect,
            ssl,
            send,
            wait,
            receive,
        } = self;
        let stated = [blocked, dns, connect, ssl, send, wait, receive].map(|phase| phase.milliseconds());
        let mut phases = stated.map(Option::unwrap_or_default);
        phases[2] = phases[2].saturating_sub(phases[3]);
        stated.iter().any(Option::is_some).then_some(phases)
    }
}

impl Content {
    fn has_text(&self) -> bool {
        self.text.0.as_ref().is_some_and(|text| !text.is_empty())
    }
}

/// The URL that caused a request. Chrome writes an object, with the URL in it or in the first frame of a call stack; WebPageTest
/// writes the URL itself.
fn initiator_url(initiator: &serde_json::Value) -> Option<&str> {
    let of_object = || {
        initiator
            .get("url")
            .or_else(|| initiator.pointer("/stack/callFrames/0/url"))
    };
    let url = initiator.as_str().or_else(|| of_object()?.as_str());
    url.filter(|url| !url.is_empty())
}

/// What an entry is.
pub(super) enum EntryKind {
    /// A response to advise on.
    Response(Box<Response>),
    /// Something else.
    Skipped {
        /// What it is, as text that follows a count.
        why: &'static str,
        /// Its URL.
        url: String,
    },
}

impl Entry {
    /// When it began, on the file's clock.
    pub(super) fn instant(&self) -> Option<i128> {
        timestamp::read(self.started.as_str())
    }

    /// Converts it to a response. The start is left at 0, since it is relative to the other entries.
    pub(super) fn read(self, index: usize, notes: &mut NoteCounter) -> EntryKind {
        let Self {
            time,
            request,
            response,
            timings,
            connection,
            initiator,
            uncompressed_size,
            ..
        } = self;
        let url = request.url.filled().unwrap_or_default();
        let web_socket = self.web_socket_messages.0
            || self.resource_type.as_str().eq_ignore_ascii_case("websocket")
            || response.status.status() == Some(101);
        if web_socket {
            return EntryKind::Skipped { why: WEB_SOCKET, url };
        }
        let HttpUrl { scheme, host, whole } = match url::read(url.clone()) {
            Ok(http) => http,
            Err(other) => {
                return EntryKind::Skipped {
                    why: why_not(other),
                    url,
                };
            }
        };
        // What has content was answered: by the browser itself, where there is no status.
        let status = response.status.status();
        let Some(status) = status.or(response.content.has_text().then_some(200)) else {
            return EntryKind::Skipped {
                why: "requests failed or were cancelled: they have no status",
                url,
            };
        };
        let method = request
            .method
            .filled()
            .map_or_else(|| "GET".to_owned(), |method| method.to_ascii_uppercase());
        let headers = &response.headers;
        let http_version = [&response.http_version, &request.http_version];
        let http_version = http_version
            .into_iter()
            .find_map(|version| HttpVersion::read(version.as_str()));
        let not_modified = status == 304;
        if not_modified {
            notes.count(
                "were answered by 304 (Not Modified): their bodies did not cross the link",
                &whole,
            );
        }
        let (origin, origin_because) = static_or_dynamic::guess(&Signs {
            method: &method,
            url: &whole,
            cache_control: headers.get("cache-control"),
            sets_cookie: headers.sets_cookie,
            has_validator: headers.get("etag").is_some() || headers.get("last-modified").is_some(),
        });
        let content_type = headers
            .get("content-type")
            .unwrap_or(response.content.mime_type.as_str());
        let media_type =
            media_type::essence(content_type).or_else(|| media_type::essence(response.content.mime_type.as_str()));
        let content_length = headers
            .get("content-length")
            .and_then(|length| length.trim().parse().ok())
            .map(ByteCount::new);
        let content_encoding = headers
            .get("content-encoding")
            .map(|coding| coding.trim().to_ascii_lowercase());
        let content_encoding = content_encoding.filter(|coding| !coding.is_empty() && coding != "identity");
        // Content in the file with 0 bytes on the link was not counted.
        let counted = response.body_size.bytes().filter(|size| *size > ByteCount::ZERO);
        let target = whole.len().saturating_sub(scheme.len() + "://".len() + host.len());
        let request_line = method.len() + target + "  HTTP/1.1\r\n\r\n".len();
        let status_line = "HTTP/1.1 200 \r\n\r\n".len() + response.status_text.as_str().len();
        let credentials = credentials(&request.headers, headers, &format!("{scheme}://{host}"));
        let facts = BodyFacts {
            bodiless: method == "HEAD" || matches!(status, 204 | 205 | 304),
            uncoded_length: content_length.filter(|_| content_encoding.is_none()),
            uncompressed_size: uncompressed_size.bytes(),
            url: &whole,
        };
        let bodiless = facts.bodiless;
        let body = facts.body(response.content, notes);
        let is_decoded = matches!(&body, Body::Present(_)) && content_encoding.is_some();
        let counts_content = is_decoded && counted.is_some() && counted == body.size();
        if counts_content {
            notes.count(
                "have a content coding, and the size of their content in place of the size on the link",
                &whole,
            );
        }
        let transferred = if bodiless {
            Some(ByteCount::ZERO)
        } else {
            counted.filter(|_| !counts_content).or(content_length)
        };
        EntryKind::Response(Box::new(Response {
            index,
            initiator: initiator_url(&initiator)
                .or_else(|| request.headers.get("referer"))
                .map(str::to_owned),
            scheme,
            host,
            request_header_bytes: header_bytes(request.headers_size, &request.headers, request_line),
            response_header_bytes: header_bytes(response.headers_size, headers, status_line),
            fields: headers.for_browsers(),
            url: whole,
            method,
            status,
            media_type,
            body,
            http_version,
            started: Duration::ZERO,
            wait: timings.wait.milliseconds(),
            total: time.milliseconds(),
            phases: timings.phases(),
            connection: connection.filled(),
            credentials,
            from_cache: false,
            origin,
            origin_because,
            content_encoding,
            transferred,
        }))
    }
}

const WEB_SOCKET: &str = "are WebSockets, whose messages are not responses";

fn why_not(other: NotHttp) -> &'static str {
    match other {
        NotHttp::WebSocket => WEB_SOCKET,
        NotHttp::InPage => "are data: or blob: URLs, whose content is in the page",
        NotHttp::OtherScheme => "have a scheme other than http and https",
        NotHttp::NoUrl => "have no absolute URL",
    }
}

/// Whether a request to `origin` carried cookies, as a browser's headers say (Fetch Standard): one of CORS to another origin does where the
/// response allows that, and all others do.
fn credentials(request: &Headers, response: &Headers, origin: &str) -> Option<bool> {
    let mode = request.get("sec-fetch-mode");
    let of_other_origin = request.get("origin").is_some_and(|from| from != origin);
    let allowed = response.get("access-control-allow-credentials") == Some("true");
    match mode {
        Some("cors") => Some(!of_other_origin || allowed),
        Some(_) => Some(true),
        None => None,
    }
}

/// The size that the tool measured, or else the size in HTTP/1.1.
fn header_bytes(measured: Number, headers: &Headers, line: usize) -> Option<ByteCount> {
    let written = headers.size.map(|bytes| ByteCount::new(bytes + line as u64));
    measured.bytes().filter(|size| *size > ByteCount::ZERO).or(written)
}

/// What the rest of an entry says about its body.
struct BodyFacts<'a> {
    /// Whether such a response has no content, whatever the file says (RFC 9110 section 6.4.1): of a 304, the browser's own copy.
    bodiless: bool,
    /// Content-Length, where no content coding changes the length.
    uncoded_length: Option<ByteCount>,
    /// The content's size, where WebPageTest states it: its `content.size` is the size on the link.
    uncompressed_size: Option<ByteCount>,
    url: &'a str,
}

impl BodyFacts<'_> {
    fn body(&self, content: Content, notes: &mut NoteCounter) -> Body {
        if self.bodiless {
            return Body::Present(bytes::Bytes::new());
        }
        let stated = content.size.bytes().max(self.uncompressed_size);
        let coding = content.encoding.filled();
        match (content.text.0, coding.as_deref().map(str::trim)) {
            (Some(text), None) => self.checked(text, stated, notes),
            (Some(text), Some(coding)) if coding.eq_ignore_ascii_case("base64") => match decode_in_place(text) {
                Some(bytes) => self.checked(bytes, stated, notes),
                None => {
                    notes.count(
                        "have a body that is marked as base64 but is not; only its size is used",
                        self.url,
                    );
                    self.without_text(stated, notes)
                }
            },
            (Some(_), Some(_)) => {
                notes.count(
                    "have a body in an encoding other than base64; only its size is used",
                    self.url,
                );
                self.without_text(stated, notes)
            }
            (None, _) => self.without_text(stated, notes),
        }
    }

    /// A body that is present. One that is shorter than its size was cut off, or not saved: it is missing.
    fn checked(&self, bytes: Vec<u8>, stated: Option<ByteCount>, notes: &mut NoteCounter) -> Body {
        if is_whole(&bytes, stated.unwrap_or_default()) {
            return Body::Present(bytes.into());
        }
        if !bytes.is_empty() {
            notes.count(
                "have a body shorter than its stated size, that is cut off: only its size is used",
                self.url,
            );
        }
        self.without_text(stated, notes)
    }

    fn without_text(&self, stated: Option<ByteCount>, notes: &mut NoteCounter) -> Body {
        let filled = |size: Option<ByteCount>| size.filter(|size| *size > ByteCount::ZERO);
        let length = self.uncoded_length;
        match (filled(stated).or(filled(length)), stated.or(length)) {
            (Some(size), _) => {
                notes.count("have no body in the file, only its size", self.url);
                Body::SizeOnly(size)
            }
            (None, Some(_)) => Body::Present(bytes::Bytes::new()),
            (None, None) => {
                notes.count("have neither a body nor its size in the file", self.url);
                Body::Missing
            }
        }
    }
}

/// Whether a body has as many bytes as were counted before its text was put into UTF-8: that may remove a byte order mark, and
/// shorten UTF-16; from other character sets, text grows.
fn is_whole(bytes: &[u8], stated: ByteCount) -> bool {
    let mark = "\u{feff}".len();
    let stated = usize::try_from(stated.get()).unwrap_or(usize::MAX);
    let is_of = |text: &str| [0, 2].contains(&stated.wrapping_sub(2 * text.encode_utf16().count()));
    match bytes.len() {
        0 => stated == 0,
        length => length + mark >= stated || std::str::from_utf8(bytes).is_ok_and(is_of),
    }
}
