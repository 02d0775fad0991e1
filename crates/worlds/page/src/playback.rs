//! Plays a recorded page back to a browser: each host of the recording answers by method and URL, with the codings that were chosen.
//!
//! **A response** has the recorded status, media type, and the fields that change what a browser does next; other fields stand for those
//! that the recording does not keep, so that the head is as long as it was. A static body is compressed beforehand, a dynamic one while it
//! is sent, after the server's think time. Text is sent as UTF-8, as an archive holds it.
//!
//! **A request** that was not recorded as it is gets the response of the same path with another query (scripts put the time and random
//! numbers there), or else 404. Both are counted. A script may ask any host: what was recorded was allowed, so every origin is.

use crate::origin_server::pad;
use crate::page::{Page, PageResource};
use crate::scripted_response::EncodedResponse;
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::service::service_fn;
use lastmile_codec::content::{CodecSpec, Coding, Encoder, encode};
use lastmile_filter::{AcceptEncoding, Choice};
use lastmile_testbed::http::tls::ServerTls;
use lastmile_testbed::http::{Encryption, Version, machine_date, serve};
use lastmile_traffic::responses::{Body, Origin, Response as Recorded, ResponseKind, Traffic};
use lastmile_units::ByteCount;
use lastmile_world::Host;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

/// A recorded page, ready to be played back.
#[derive(Debug)]
pub struct Playback {
    responses: Vec<PlayedResponse>,
    recorded_hosts: Vec<RecordedHost>,
    document: Option<usize>,
    urls: Vec<String>,
}

/// A host of the recording: what it answers, by method and target.
#[derive(Debug)]
struct RecordedHost {
    /// `https` or `http`.
    scheme: String,
    /// With the port, where URLs name one.
    host: String,
    /// The recorded version of HTTP.
    version: Version,
    exact: BTreeMap<(Method, String), usize>,
    /// The same without queries.
    by_path: BTreeMap<(Method, String), usize>,
}

#[derive(Debug)]
struct PlayedResponse {
    status: StatusCode,
    fields: HeaderMap,
    server_think_time: Duration,
    head: ByteCount,
    plain: Bytes,
    coded: CodedBody,
}

#[derive(Debug)]
enum CodedBody {
    Identity,
    Beforehand(Coding, Bytes),
    OnRequest(CodecSpec),
}

/// What was asked of the servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlaybackLog {
    /// For each item, the number of requests for it.
    pub requests: Vec<u64>,
    /// For each item, the bytes of its bodies that were sent, or are ready to be.
    pub body_bytes: Vec<u64>,
    /// The number of requests that were answered with the response of another query.
    pub other_query: u64,
    /// The URLs of requests that were answered with 404, in the order of the requests, without `/favicon.ico`.
    pub not_recorded: Vec<String>,
}

/// What browsers ask for by themselves, and no archive lists.
const FAVICON: &str = "/favicon.ico";

/// The path of the warm-up page, and of what it needs.
const WARM_UP: &str = "/lastmile-warm-up/";

/// The warm-up page: one of each kind of content.
const WARM_UP_PAGE: &str = "<!DOCTYPE html><title>a</title><link rel=stylesheet href=a.css><script src=a.js></script>\
    <p>a</p><img src=a.svg>";

impl Playback {
    /// The page of `traffic` with its bodies as `deliveries` has them; compresses static bodies.
    pub fn new(page: &Page, traffic: &Traffic, deliveries: &[EncodedResponse]) -> Self {
        let recorded = |item: &PageResource| &traffic.responses[item.response];
        let played = |(item, delivery)| PlayedResponse::new(item, recorded(item), delivery);
        let mut recorded_hosts: Vec<Option<RecordedHost>> = page.hosts.iter().map(|_| None).collect();
        for (index, item) in page.items.iter().enumerate() {
            let response = recorded(item);
            let recorded_host = recorded_hosts[item.host].get_or_insert_with(|| RecordedHost {
                scheme: response.scheme.clone(),
                host: response.host.clone(),
                version: page.hosts[item.host].version(),
                exact: BTreeMap::new(),
                by_path: BTreeMap::new(),
            });
            let method = Method::from_bytes(response.method.as_bytes()).unwrap_or_default();
            let target = target(&response.url);
            let path = path(&target).to_owned();
            recorded_host.exact.entry((method.clone(), target)).or_insert(index);
            recorded_host.by_path.entry((method, path)).or_insert(index);
        }
        let is_modified = |item: &PageResource| recorded(item).status != 304;
        let is_document = |item: &PageResource| {
            item.kind == ResponseKind::Html || is_modified(item) && (300..400).contains(&recorded(item).status)
        };
        let document = page.items.iter().position(is_document);
        Self {
            responses: page.items.iter().zip(deliveries).map(played).collect(),
            recorded_hosts: recorded_hosts.into_iter().flatten().collect(),
            document: document.filter(|item| is_modified(&page.items[*item])),
            urls: page.items.iter().map(|item| recorded(item).url.clone()).collect(),
        }
    }

    /// The URL of the document: the first HTML, or the redirect that leads to it. None where the recording has neither.
    pub fn document(&self) -> Option<&str> {
        self.document.map(|item| &*self.urls[item])
    }

    /// The URL of each item.
    pub fn urls(&self) -> &[String] {
        &self.urls
    }

    /// The bodies without content coding, summed.
    pub fn plain_bytes(&self) -> ByteCount {
        let sizes = self
            .responses
            .iter()
            .map(|response| ByteCount::from(response.plain.len()));
        sizes.sum()
    }

    /// For each host of the page: its scheme, and its name with the port that browsers connect to.
    pub fn recorded_hosts(&self) -> impl Iterator<Item = (&str, String)> {
        self.recorded_hosts
            .iter()
            .map(|recorded_host| (&*recorded_host.scheme, recorded_host.authority()))
    }

    /// The item that a request gets, if any, and whether it has the same query.
    pub fn find(&self, method: &str, url: &str) -> Option<(usize, bool)> {
        let (scheme, after) = url.split_once("://")?;
        let host = after.split(['/', '?', '#']).next()?.to_ascii_lowercase();
        let recorded_host = self.recorded_hosts.iter().find(|recorded_host| {
            recorded_host.scheme == scheme && (recorded_host.host == host || recorded_host.authority() == host)
        })?;
        recorded_host.find(&Method::from_bytes(method.as_bytes()).ok()?, &target(url))
    }

    /// The URL of the small page that a browser loads before it is measured, encrypted where any host is.
    pub fn warm_up(&self) -> Option<String> {
        let encrypted = self
            .recorded_hosts
            .iter()
            .find(|recorded_host| recorded_host.scheme == "https");
        let recorded_host = encrypted.or(self.recorded_hosts.first())?;
        Some(format!(
            "{}://{}{WARM_UP}",
            recorded_host.scheme,
            recorded_host.authority()
        ))
    }

    /// For each host, the version of HTTP that it speaks: where its scheme is `https` the one asked for, or else the recorded one, since
    /// browsers speak HTTP/2 only over TLS; elsewhere HTTP/1.1.
    pub fn versions(&self, asked: Option<Version>) -> Vec<Version> {
        let version = |recorded_host: &RecordedHost| match &*recorded_host.scheme {
            "https" => asked.unwrap_or(recorded_host.version),
            _ => Version::Http11,
        };
        self.recorded_hosts.iter().map(version).collect()
    }

    /// Serves host number `recorded_host` on `host` by `version`; encrypted where its scheme is `https`. Requests are counted in `log`.
    ///
    /// # Errors
    /// When something listens on its port already.
    pub fn serve<H: Host>(
        self: &Rc<Self>,
        recorded_host: usize,
        host: &H,
        version: Version,
        log: &Rc<RefCell<PlaybackLog>>,
    ) -> io::Result<u16> {
        let (encryption, port) = if self.recorded_hosts[recorded_host].scheme == "https" {
            (Encryption::Tls(ServerTls::for_browsers(version)), HTTPS_PORT)
        } else {
            (Encryption::None, HTTP_PORT)
        };
        let (playback, log, answering) = (Rc::clone(self), Rc::clone(log), host.clone());
        let service = service_fn(move |request| {
            let (playback, log, host) = (Rc::clone(&playback), Rc::clone(&log), answering.clone());
            async move { Ok::<_, Infallible>(playback.answer(recorded_host, &host, log, &request).await) }
        });
        serve(host, port, version, encryption, service)?;
        Ok(port)
    }

    /// An empty log for this page.
    pub fn log(&self) -> PlaybackLog {
        PlaybackLog {
            requests: vec![0; self.responses.len()],
            body_bytes: vec![0; self.responses.len()],
            ..PlaybackLog::default()
        }
    }

    async fn answer<H: Host, B>(
        &self,
        recorded_host: usize,
        host: &H,
        log: Rc<RefCell<PlaybackLog>>,
        request: &Request<B>,
    ) -> Response<PlayedBody> {
        let target = request
            .uri()
            .path_and_query()
            .map_or("/", http::uri::PathAndQuery::as_str);
        let mut response = if let Some(name) = target.strip_prefix(WARM_UP) {
            warm_up(name)
        } else if let Some((item, exact)) = self.recorded_hosts[recorded_host].find(request.method(), target) {
            log.borrow_mut().requests[item] += 1;
            log.borrow_mut().other_query += u64::from(!exact);
            let played = &self.responses[item];
            if !played.server_think_time.is_zero() {
                host.sleep_until(host.now() + played.server_think_time).await;
            }
            played.response(item, &log, request.headers())
        } else if request.method() == Method::OPTIONS {
            empty(StatusCode::NO_CONTENT)
        } else if path(target) == FAVICON {
            empty(StatusCode::NOT_FOUND)
        } else {
            let RecordedHost { scheme, host, .. } = &self.recorded_hosts[recorded_host];
            log.borrow_mut().not_recorded.push(format!("{scheme}://{host}{target}"));
            empty(StatusCode::NOT_FOUND)
        };
        let date = HeaderValue::from_str(&machine_date()).expect("a date is plain ASCII");
        response.headers_mut().insert(header::DATE, date);
        allow_every_origin(request.headers(), response.headers_mut());
        response
    }
}

/// The ports of servers. The browser is told to connect to them whatever port a URL has.
const HTTPS_PORT: u16 = 443;
const HTTP_PORT: u16 = 80;

impl RecordedHost {
    /// The host with its port.
    fn authority(&self) -> String {
        let default = if self.scheme == "https" { HTTPS_PORT } else { HTTP_PORT };
        let name_end = self.host.rfind(']').unwrap_or(0);
        if self.host[name_end..].contains(':') {
            self.host.clone()
        } else {
            format!("{}:{default}", self.host)
        }
    }

    fn find(&self, method: &Method, target: &str) -> Option<(usize, bool)> {
        let exact = self.exact.get(&(method.clone(), target.to_owned()));
        let by_path = || self.by_path.get(&(method.clone(), path(target).to_owned()));
        exact
            .map(|item| (*item, true))
            .or_else(|| by_path().map(|item| (*item, false)))
    }
}

/// The target of a request for a URL: its path and query.
fn target(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let after = url.split_once("://").map_or(url, |(_, after)| after);
    match after.find(['/', '?']) {
        Some(begin) if after[begin..].starts_with('?') => format!("/{}", &after[begin..]),
        Some(begin) => after[begin..].to_owned(),
        None => "/".to_owned(),
    }
}

fn path(target: &str) -> &str {
    target.split('?').next().unwrap_or_default()
}

impl PlayedResponse {
    fn new(item: &PageResource, recorded: &Recorded, delivery: &EncodedResponse) -> Self {
        let (plain, coded) = match &recorded.body {
            Body::Present(bytes) => {
                let codec = delivery
                    .codec
                    .unwrap_or_else(|| CodecSpec::with_default_level(delivery.coding));
                let coded = match (delivery.coding, item.origin) {
                    (Coding::Identity, _) => CodedBody::Identity,
                    (coding, Origin::Static) => CodedBody::Beforehand(coding, encode(codec, bytes).into()),
                    (_, Origin::Dynamic) => CodedBody::OnRequest(codec),
                };
                (bytes.clone(), coded)
            }
            Body::SizeOnly(_) | Body::Missing => (filler(item.kind, delivery.size).into(), CodedBody::Identity),
        };
        Self {
            status: StatusCode::from_u16(recorded.status).unwrap_or(StatusCode::OK),
            fields: fields(recorded),
            server_think_time: item.server_think_time,
            head: item.response_head,
            plain,
            coded,
        }
    }

    /// The response to a request with these fields. Like a server, it uses no coding that the browser does not accept: browsers accept
    /// br and zstd over TLS only.
    fn response(&self, item: usize, log: &Rc<RefCell<PlaybackLog>>, request: &HeaderMap) -> Response<PlayedBody> {
        let (content, coding) = match &self.coded {
            CodedBody::Beforehand(coding, bytes) if accepts(request, *coding) => {
                (Content::Ready(bytes.clone()), *coding)
            }
            CodedBody::OnRequest(codec) if accepts(request, codec.coding()) => {
                let encoder = Box::new(Encoder::new(*codec));
                (Content::Encoding(encoder, self.plain.clone()), codec.coding())
            }
            CodedBody::Identity | CodedBody::Beforehand(..) | CodedBody::OnRequest(_) => {
                (Content::Ready(self.plain.clone()), Coding::Identity)
            }
        };
        let mut response = Response::new(PlayedBody {
            content,
            counted: Some((item, Rc::clone(log))),
        });
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.extend(self.fields.iter().map(|(name, value)| (name.clone(), value.clone())));
        if coding != Coding::Identity {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.token()));
        }
        // The status line, `date`, the field that delimits the body, and the empty line; then what `allow_every_origin` adds.
        let mut written = 17 + 37 + 26 + 2;
        let mut allowed = HeaderMap::new();
        allow_every_origin(request, &mut allowed);
        for (name, value) in headers.iter().chain(&allowed) {
            written += name.as_str().len() + value.len() + ": \r\n".len();
        }
        pad(headers, self.head, written);
        response
    }
}

/// As many bytes as were carried, for a body that the recording lacks: blanks, which no parser trips over. An image begins with one that
/// can be decoded, since a browser stops reading one that cannot.
fn filler(kind: ResponseKind, size: ByteCount) -> Vec<u8> {
    let mut bytes = vec![b' '; size.get() as usize];
    if kind == ResponseKind::Image && bytes.len() >= IMAGE.len() {
        bytes[..IMAGE.len()].copy_from_slice(IMAGE);
    }
    bytes
}

/// A GIF of one pixel (GIF89a, CompuServe 1990); what comes after its trailer is not decoded. Browsers go by the first bytes, whatever
/// the media type is (WHATWG, MIME Sniffing, section 8.1).
const IMAGE: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

/// The fields of a recorded head that are played back.
fn fields(recorded: &Recorded) -> HeaderMap {
    let mut fields = HeaderMap::new();
    if let Some(essence) = &recorded.media_type {
        let is_text = match recorded.kind() {
            ResponseKind::Html
            | ResponseKind::Css
            | ResponseKind::JavaScript
            | ResponseKind::Json
            | ResponseKind::Svg
            | ResponseKind::PlainText
            | ResponseKind::OtherText => true,
            ResponseKind::FontWoff
            | ResponseKind::Image
            | ResponseKind::Video
            | ResponseKind::Wasm
            | ResponseKind::Archive
            | ResponseKind::OtherBinary => false,
        };
        let charset = if is_text { "; charset=utf-8" } else { "" };
        if let Ok(value) = HeaderValue::from_str(&format!("{essence}{charset}")) {
            fields.insert(header::CONTENT_TYPE, value);
        }
    }
    for (name, value) in &recorded.fields {
        if let Ok(value) = HeaderValue::from_str(value) {
            fields.insert(HeaderName::from_static(name), value);
        }
    }
    fields
}

fn accepts(request: &HeaderMap, coding: Coding) -> bool {
    AcceptEncoding::from_headers(request).choose([coding.token()]) == Choice::Coded(0)
}

/// Allows what a request of another origin asks for (CORS).
fn allow_every_origin(request: &HeaderMap, response: &mut HeaderMap) {
    let Some(origin) = request.get(header::ORIGIN) else {
        return;
    };
    response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    response.insert(
        header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
        HeaderValue::from_static("true"),
    );
    let asked = [
        (
            header::ACCESS_CONTROL_REQUEST_METHOD,
            header::ACCESS_CONTROL_ALLOW_METHODS,
        ),
        (
            header::ACCESS_CONTROL_REQUEST_HEADERS,
            header::ACCESS_CONTROL_ALLOW_HEADERS,
        ),
    ];
    for (wanted, allowed) in asked {
        if let Some(value) = request.get(wanted) {
            response.insert(allowed, value.clone());
        }
    }
}

fn empty(status: StatusCode) -> Response<PlayedBody> {
    let mut response = Response::new(PlayedBody::of(Bytes::new()));
    *response.status_mut() = status;
    response
}

fn warm_up(name: &str) -> Response<PlayedBody> {
    let (media_type, text) = match name {
        "" => ("text/html", WARM_UP_PAGE),
        "a.css" => ("text/css", "p { color: red }"),
        "a.js" => ("text/javascript", "document.title = 'b';"),
        _ => (
            "image/svg+xml",
            "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>",
        ),
    };
    let mut response = Response::new(PlayedBody::of(Bytes::from_static(text.as_bytes())));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// A body on its way.
pub struct PlayedBody {
    content: Content,
    /// The item whose bytes are counted, and where.
    counted: Option<(usize, Rc<RefCell<PlaybackLog>>)>,
}

enum Content {
    Ready(Bytes),
    /// What is left is compressed piece by piece, and each piece sent as soon as it is made.
    Encoding(Box<Encoder>, Bytes),
}

/// The size of the pieces of a body that is compressed while it is sent, as in simulated loads.
const PIECE: usize = crate::origin_server::PIECE as usize;

impl PlayedBody {
    const fn of(bytes: Bytes) -> Self {
        Self {
            content: Content::Ready(bytes),
            counted: None,
        }
    }

    fn next(&mut self) -> Option<Bytes> {
        match &mut self.content {
            Content::Ready(bytes) if bytes.is_empty() => None,
            Content::Ready(bytes) => Some(std::mem::take(bytes)),
            Content::Encoding(encoder, rest) => {
                let mut output = Vec::new();
                while output.is_empty() && !rest.is_empty() {
                    encoder.write(&rest.split_to(PIECE.min(rest.len())), &mut output);
                }
                if rest.is_empty() {
                    let content = std::mem::replace(&mut self.content, Content::Ready(Bytes::new()));
                    if let Content::Encoding(encoder, _) = content {
                        encoder.finish(&mut output);
                    }
                }
                Some(output.into())
            }
        }
    }
}

impl HttpBody for PlayedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let piece = this.next();
        if let (Some(piece), Some((item, log))) = (&piece, &this.counted) {
            log.borrow_mut().body_bytes[*item] += piece.len() as u64;
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Ready(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Ready(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Encoding(..) => SizeHint::default(),
        }
    }
}

/// Every body that the traffic contains compressed by `codec`, unless it is compressed inside, or gets no smaller.
pub fn compressed_uniformly(page: &Page, traffic: &Traffic, codec: CodecSpec) -> Vec<EncodedResponse> {
    let deliver = |item: &PageResource| match &traffic.responses[item.response].body {
        Body::Present(bytes) if !item.kind.already_compressed() => {
            let size = lastmile_codec::content::encoded_size(codec, [&bytes[..]]);
            EncodedResponse::compressed(codec, size, item.plain)
        }
        _ => EncodedResponse::identity(item.plain),
    };
    page.items.iter().map(deliver).collect()
}

#[cfg(test)]
mod tests;
