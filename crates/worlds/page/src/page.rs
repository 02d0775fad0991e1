//! The responses of a page in the order of their requests, each with the response that it depends on.
//!
//! **When a request is made** is told by [`crate::dependencies`].
//!
//! **How long the server thinks.** An archive's `wait` runs from the request sent to the first byte received, so it contains a
//! round trip of the link that it was recorded on. For a dynamic response, the part of its wait above its host's shortest wait counts as
//! the server's own work, and is repeated; a host's only response keeps its whole wait. Static responses are served at once.

use crate::dependencies::{self, Cause, Dependency, Prerequisite, Priority};
use crate::load_options::LoadOptions;
use crate::page_host::{PageHost, ServedHost, page_hosts};
use lastmile_testbed::http::Version;
use lastmile_traffic::responses::{Body, Origin, Response, ResponseKind, Traffic};
use lastmile_units::ByteCount;
use std::collections::BTreeMap;
use std::time::Duration;

/// The responses to replay, in the order their requests began.
#[derive(Debug)]
pub struct Page {
    /// In the order of their requests.
    pub items: Vec<PageResource>,
    /// The hosts that they come from, in the order of their first requests.
    pub hosts: Vec<PageHost>,
    /// What must have arrived for the document's body to begin.
    pub body_begins: Vec<Prerequisite>,
    /// The items that the document's event `DOMContentLoaded` waits for; empty without a document.
    pub dom_content_loaded: Vec<usize>,
    /// The items that its event `load` waited for when it was recorded; empty where the traffic does not say when it was fired.
    pub load_event: Vec<usize>,
    /// Responses that are not replayed, with the reason.
    pub left_out: Vec<SkippedResponse>,
}

/// A response to replay.
#[derive(Debug, Clone)]
pub struct PageResource {
    /// Its index among the traffic's responses.
    pub response: usize,
    /// The index of its host in [`Page::hosts`].
    pub host: usize,
    /// The kind of its content.
    pub kind: ResponseKind,
    /// Whether it can be compressed once and served many times.
    pub origin: Origin,
    /// What must have arrived before its request is made.
    pub prerequisites: Vec<Prerequisite>,
    /// How long after that the request is made.
    pub gap: Duration,
    /// Why it is made then.
    pub cause: Cause,
    /// The priority of its request.
    pub priority: Priority,
    /// Whether it is made without cookies: browsers send such requests over connections of their own, so that a server cannot tell whose
    /// they are (Fetch Standard, connection pools).
    pub is_anonymous: bool,
    /// Whether the browser's renderer counts it among the requests of which few are in flight before the document's body has begun.
    pub is_throttled: bool,
    /// How long the server works before it answers.
    pub server_think_time: Duration,
    /// The size of the request's line and headers in HTTP/1.1.
    pub request_head: ByteCount,
    /// The size of the response's line and headers in HTTP/1.1.
    pub response_head: ByteCount,
    /// The size of its body without content coding.
    pub plain: ByteCount,
    /// Whether the body itself is known and not empty, so that it can be compressed.
    pub has_body: bool,
}

/// A response that is not replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedResponse {
    /// Its index among the traffic's responses.
    pub response: usize,
    /// The reason, as text that follows a count.
    pub why: &'static str,
}

/// The size of a head where the traffic does not give it: our own choice, within the range that browsers and servers send.
pub const REQUEST_HEAD: ByteCount = ByteCount::new(500);
/// The same of a response.
pub const RESPONSE_HEAD: ByteCount = ByteCount::new(350);

impl Page {
    /// The page that was recorded as `traffic`.
    pub fn from_traffic(traffic: &Traffic) -> Self {
        let mut left_out = Vec::new();
        let mut kept: Vec<(usize, &Response)> = Vec::new();
        for (index, response) in traffic.responses.iter().enumerate() {
            if response.from_cache {
                left_out.push(SkippedResponse {
                    response: index,
                    why: "the browser answered from a cache, by a service worker or by a redirect of its own, and made no request",
                });
            } else if response.body == Body::Missing {
                left_out.push(SkippedResponse {
                    response: index,
                    why: "the traffic contains neither body nor size",
                });
            } else {
                kept.push((index, response));
            }
        }
        kept.sort_by_key(|(index, response)| (response.started, *index));
        let (hosts, host_of) = page_hosts(kept.iter().map(|(_, response)| *response));
        let least_waits = least_waits(&kept);
        let found = dependencies::find(
            &kept.iter().map(|(_, response)| *response).collect::<Vec<_>>(),
            traffic.load_event,
        );
        let document = kept
            .iter()
            .map(|(_, response)| *response)
            .find(|response| response.kind() == ResponseKind::Html && !(300..400).contains(&response.status));
        let items: Vec<PageResource> = kept
            .iter()
            .zip(found.of_items)
            .zip(host_of)
            .map(|(((index, response), dependency), host)| {
                let Dependency {
                    prerequisites,
                    gap,
                    cause,
                    priority,
                    is_throttled,
                } = dependency;
                PageResource {
                    response: *index,
                    host,
                    kind: response.kind(),
                    origin: response.origin,
                    prerequisites,
                    gap,
                    cause,
                    priority,
                    is_anonymous: is_anonymous(response, document),
                    is_throttled,
                    server_think_time: server_think_time(response, &least_waits),
                    request_head: response.request_header_bytes.unwrap_or(REQUEST_HEAD),
                    response_head: response.response_header_bytes.unwrap_or(RESPONSE_HEAD),
                    plain: response.body.size().unwrap_or_default(),
                    has_body: matches!(&response.body, Body::Present(bytes) if !bytes.is_empty()),
                }
            })
            .collect();
        Self {
            items,
            hosts,
            body_begins: found.body_begins,
            dom_content_loaded: found.dom_content_loaded,
            load_event: found.load_event,
            left_out,
        }
    }
}

/// Whether a browser makes the request without cookies. Where the recording does not say: whether `document`, of another origin, can only
/// use it by CORS (fonts, and what scripts fetch); scripts that are allowed cookies there are rare.
fn is_anonymous(response: &Response, document: Option<&Response>) -> bool {
    let for_any_origin = matches!(
        response.kind(),
        ResponseKind::Html
            | ResponseKind::Css
            | ResponseKind::JavaScript
            | ResponseKind::Svg
            | ResponseKind::Image
            | ResponseKind::Video
    ) || response
        .media_type
        .as_deref()
        .is_some_and(|essence| essence.starts_with("image/"));
    let is_of_other_origin =
        document.is_some_and(|document| (&document.scheme, &document.host) != (&response.scheme, &response.host));
    let credentials = response.credentials.unwrap_or(for_any_origin || !is_of_other_origin);
    !credentials
}

/// The shortest wait of each host with more than one response.
fn least_waits<'a>(kept: &[(usize, &'a Response)]) -> BTreeMap<&'a str, Duration> {
    let mut waits: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    for (_, response) in kept {
        waits.entry(&response.host).or_default().extend(response.wait);
    }
    let several = waits.into_iter().filter(|(_, waits)| waits.len() > 1);
    several
        .filter_map(|(host, waits)| Some((host, waits.into_iter().min()?)))
        .collect()
}

fn server_think_time(response: &Response, least_waits: &BTreeMap<&str, Duration>) -> Duration {
    let least = least_waits.get(&*response.host).copied().unwrap_or_default();
    match (response.origin, response.wait) {
        (Origin::Dynamic, Some(wait)) => wait.saturating_sub(least),
        _ => Duration::ZERO,
    }
}

impl Page {
    /// Whether some of its hosts were recorded over `https`.
    pub fn has_https(&self) -> bool {
        self.hosts.iter().any(PageHost::is_secure)
    }

    /// How each host is replayed: by the version of HTTP that is asked for, or else the recorded one, and encrypted where `options` say so.
    /// An `http` host beside one of `https` is never encrypted, and speaks HTTP/1.1; where all are of `http`, as in a recording of a server
    /// for development, they are replayed as if they were of `https`.
    pub fn served_hosts(&self, options: &LoadOptions) -> Vec<ServedHost> {
        let has_https = self.has_https();
        let served = |host: &PageHost| {
            if has_https && !host.is_secure() {
                ServedHost {
                    version: Version::Http11,
                    is_encrypted: false,
                }
            } else {
                ServedHost {
                    version: options.protocol.unwrap_or_else(|| host.version()),
                    is_encrypted: options.tls,
                }
            }
        };
        self.hosts.iter().map(served).collect()
    }

    /// Notes on how requests are explained, and on the responses left out: each reason with its count and the first example.
    pub fn remarks(&self, traffic: &Traffic) -> Vec<String> {
        let mut reasons: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for left_out in &self.left_out {
            reasons.entry(left_out.why).or_default().push(left_out.response);
        }
        let remark = |(why, responses): (&str, Vec<usize>)| {
            let first = &traffic.responses[responses[0]].url;
            format!(
                "{} not replayed: {why} (first: {})",
                responses.len(),
                first.chars().take(120).collect::<String>()
            )
        };
        self.explanations()
            .into_iter()
            .chain(reasons.into_iter().map(remark))
            .collect()
    }

    /// How many requests are explained, where a document names some.
    fn explanations(&self) -> Option<String> {
        let count = |cause| self.items.iter().filter(|item| item.cause == cause).count();
        let (named, by_scripts, recorded) = (count(Cause::Named), count(Cause::Script), count(Cause::Recorded));
        (named > 0).then(|| {
            format!(
                "requests: {named} are made when the page names the resource, {by_scripts} when a script has run, {recorded} as recorded, \
                 since nothing names them"
            )
        })
    }
}

#[cfg(test)]
mod tests;
