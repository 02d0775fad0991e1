//! What is replayed? The responses of a page in the order they were asked for, each with what it waits for.
//!
//! **When a request is made.** An archive says when each request began, and not why. Its presumed trigger is the response that had
//! finished last before it began, among those that can lead to a request: documents, style sheets, scripts, data and redirects, but
//! not images, fonts or empty answers. The request is made as long after its trigger's end as it was when recorded (the client was
//! parsing, or thinking), so that a slower link delays what depends on it. A request that began before any such response had finished is
//! made as long after the first request as it was when recorded. The rule is our own. Initiators that an archive names are not used:
//! a request often waits for more than the one that names it.
//!
//! **How long the server thinks.** An archive's `wait` runs from the request sent to the first octet received, so it holds a
//! round trip of the link it was recorded on. Of a dynamic response, what its wait exceeds the least wait of its host is taken for the
//! server's own work, and is spent again; a host's only response keeps its whole wait. Static responses are served at once.

use lastmile_payload::traffic::{Body, Origin, Response, ResponseKind, Traffic};
use lastmile_units::Bytes;
use std::collections::BTreeMap;
use std::time::Duration;

/// The responses to replay, in the order their requests began.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) items: Vec<Item>,
    /// How many hosts they come from: [`Item::host`] is below it.
    pub(super) hosts: usize,
    /// Responses that are not replayed, with the reason.
    pub(super) left_out: Vec<LeftOut>,
}

/// A response to replay.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// Its place among the traffic's responses.
    pub(super) response: usize,
    pub(super) host: usize,
    pub(super) kind: ResponseKind,
    pub(super) origin: Origin,
    /// The item whose end it waits for; none for the beginning of the page.
    pub(super) trigger: Option<usize>,
    /// How long after its trigger the request is made.
    pub(super) gap: Duration,
    /// How long the server works before it answers.
    pub(super) think: Duration,
    /// The request's line and headers, as HTTP/1.1 writes them.
    pub(super) request_head: Bytes,
    /// The response's.
    pub(super) response_head: Bytes,
    /// Its body without content coding.
    pub(super) plain: Bytes,
    /// Whether the body itself is known, and not empty, so that it can be coded.
    pub(super) has_body: bool,
}

/// A response that is not replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// Its place among the traffic's responses.
    pub(super) response: usize,
    pub(super) why: &'static str,
}

/// What a head measures where the traffic does not say: our own choice, in the range of what browsers and servers send.
pub(super) const REQUEST_HEAD: Bytes = Bytes::new(500);
pub(super) const RESPONSE_HEAD: Bytes = Bytes::new(350);

impl Page {
    pub(super) fn of(traffic: &Traffic) -> Self {
        let mut left_out = Vec::new();
        let mut kept: Vec<(usize, &Response)> = Vec::new();
        for (index, response) in traffic.responses.iter().enumerate() {
            if response.from_cache {
                left_out.push(LeftOut {
                    response: index,
                    why: "a cache answered it",
                });
            } else if response.body == Body::Missing {
                left_out.push(LeftOut {
                    response: index,
                    why: "neither its body nor its size is in the traffic",
                });
            } else {
                kept.push((index, response));
            }
        }
        kept.sort_by_key(|(index, response)| (response.started, *index));
        let hosts = numbered(kept.iter().map(|(_, response)| (&*response.scheme, &*response.host)));
        let least_waits = least_waits(&kept);
        let items: Vec<Item> = kept
            .iter()
            .enumerate()
            .map(|(place, (index, response))| {
                let (trigger, gap) = trigger(&kept[..place], response.started);
                Item {
                    response: *index,
                    host: hosts[&(&*response.scheme, &*response.host)],
                    kind: response.kind(),
                    origin: response.origin,
                    trigger,
                    gap,
                    think: think(response, &least_waits),
                    request_head: response.request_header_bytes.unwrap_or(REQUEST_HEAD),
                    response_head: response.response_header_bytes.unwrap_or(RESPONSE_HEAD),
                    plain: response.body.size().unwrap_or_default(),
                    has_body: matches!(&response.body, Body::Present(octets) if !octets.is_empty()),
                }
            })
            .collect();
        Self {
            items,
            hosts: hosts.len(),
            left_out,
        }
    }
}

/// Numbers by first appearance.
fn numbered<'a>(hosts: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeMap<(&'a str, &'a str), usize> {
    let mut numbers = BTreeMap::new();
    for host in hosts {
        let next = numbers.len();
        numbers.entry(host).or_insert(next);
    }
    numbers
}

/// The response before that had finished last when a request began at `started`, and how long before that was.
fn trigger(before: &[(usize, &Response)], started: Duration) -> (Option<usize>, Duration) {
    let leading = before
        .iter()
        .enumerate()
        .filter(|(_, (_, response))| can_lead_to_a_request(response));
    let ends = leading.filter_map(|(place, (_, response))| {
        let ended = response.started + response.total?;
        (ended <= started).then_some((ended, place))
    });
    match ends.max() {
        Some((ended, place)) => (Some(place), started - ended),
        None => (
            None,
            started.saturating_sub(before.first().map_or(started, |(_, first)| first.started)),
        ),
    }
}

fn can_lead_to_a_request(response: &Response) -> bool {
    let redirects = (300..400).contains(&response.status);
    let read_by_a_program = match response.kind() {
        ResponseKind::Html
        | ResponseKind::Css
        | ResponseKind::JavaScript
        | ResponseKind::Json
        | ResponseKind::PlainText
        | ResponseKind::OtherText
        | ResponseKind::Wasm => true,
        ResponseKind::Svg
        | ResponseKind::FontWoff
        | ResponseKind::Image
        | ResponseKind::Video
        | ResponseKind::Archive
        | ResponseKind::OtherBinary => false,
    };
    redirects || (read_by_a_program && response.status != 204)
}

/// Of each host with more than one response: the least wait.
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

fn think(response: &Response, least_waits: &BTreeMap<&str, Duration>) -> Duration {
    let least = least_waits.get(&*response.host).copied().unwrap_or_default();
    match (response.origin, response.wait) {
        (Origin::Dynamic, Some(wait)) => wait.saturating_sub(least),
        _ => Duration::ZERO,
    }
}

impl Page {
    /// What was left out, each reason with how often and the first example.
    pub(super) fn remarks(&self, traffic: &Traffic) -> Vec<String> {
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
        reasons.into_iter().map(remark).collect()
    }
}

#[cfg(test)]
mod tests;
