//! The times of a simulated request, phase by phase, and the chain of requests that a page's end waits for.

use crate::chromium::BrowserLoad;
use std::time::Duration;

/// The times of a request, each from the start of the load. The phases between them add up to the request; one that does not occur is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestTiming {
    /// The resource whose part arrived last of all that the request waited for; none where it waited for nothing.
    pub waited_for: Option<usize>,
    /// The number of its connection, in the order in which the browser opens them, of all hosts together.
    pub connection: usize,
    /// Whether it is the first request on that connection, which was opened in this load.
    pub opens_connection: bool,
    /// The browser decided to make it.
    pub start: Duration,
    /// The opening of its connection began; with an open connection, the schedulers and other requests let it have that.
    pub unblocked: Duration,
    /// The TCP connection was established.
    pub established: Duration,
    /// The TLS connection was, and could take the request.
    pub connected: Duration,
    /// The request was written.
    pub sent: Duration,
    /// The response's head had arrived; servers send the first bytes of a body with it.
    pub first_byte: Duration,
    /// The browser had read the last byte.
    pub last_byte: Duration,
    /// It had decompressed the last byte. It decompresses while it reads, so only the rest comes after the last byte.
    pub decoded: Duration,
}

impl RequestTiming {
    /// The lengths of the phases: waiting for a connection, TCP handshake, TLS handshake, sending the request, waiting for the first byte,
    /// receiving, and decompressing the rest.
    pub fn phases(&self) -> [Duration; 7] {
        let times = [
            self.start,
            self.unblocked,
            self.established,
            self.connected,
            self.sent,
            self.first_byte,
            self.last_byte,
            self.decoded,
        ];
        std::array::from_fn(|phase| times[phase + 1] - times[phase])
    }

    /// From the moment when it had a connection to its last byte decompressed.
    pub fn transfer_time(&self) -> Duration {
        self.decoded - self.connected
    }
}

/// The requests that the page's end waited for, the first one first: the one that ended last, what that waited for last, and so on.
pub fn critical_path(requests: &[RequestTiming]) -> Vec<usize> {
    let last = (0..requests.len()).max_by_key(|request| requests[*request].decoded);
    let mut path: Vec<usize> = std::iter::successors(last, |request| requests[*request].waited_for).collect();
    path.reverse();
    path
}

/// When the last of `items` was decompressed; none without items. An event of the document that waits for them is fired no sooner: the time
/// to run scripts is not modelled.
pub fn all_decoded(requests: &[RequestTiming], items: &[usize]) -> Option<Duration> {
    items.iter().map(|item| requests[*item].decoded).max()
}

/// How many requests start and end when the browser's do, of those that both make. `requests` are a simulated load's, an item of the page
/// each; "when" is within `tolerance`, a share of the browser's page time. A browser's request that did not end, or that its cache answered,
/// is not compared; of several for one item the first is.
pub fn requests_at_the_same_time(requests: &[RequestTiming], browser: &BrowserLoad, tolerance: f64) -> [usize; 2] {
    let tolerance = browser.page_time.mul_f64(tolerance);
    let (mut same, mut compared) = (0, 0);
    for (item, simulated) in requests.iter().enumerate() {
        let real = browser.requests.iter().find(|request| request.item == Some(item));
        let Some((real, ended)) = real
            .filter(|real| !real.cached)
            .and_then(|real| Some((real, real.ended?)))
        else {
            continue;
        };
        compared += 1;
        let is_close = |one: Duration, other: Duration| one.abs_diff(other) <= tolerance;
        same += usize::from(is_close(simulated.start, real.requested) && is_close(simulated.decoded, ended));
    }
    [same, compared]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chromium::BrowserRequest;

    fn simulated(start: u64, end: u64) -> RequestTiming {
        let [start, end] = [start, end].map(Duration::from_millis);
        RequestTiming {
            waited_for: None,
            connection: 0,
            opens_connection: false,
            start,
            unblocked: start,
            established: start,
            connected: start,
            sent: start,
            first_byte: end,
            last_byte: end,
            decoded: end,
        }
    }

    fn real(item: usize, start: u64, end: Option<u64>) -> BrowserRequest {
        BrowserRequest {
            item: Some(item),
            method: String::new(),
            url: String::new(),
            kind: String::new(),
            priority: String::new(),
            initiator: String::new(),
            initiator_url: None,
            requested: Duration::from_millis(start),
            sent: None,
            head: None,
            ended: end.map(Duration::from_millis),
            status: None,
            protocol: None,
            connection: None,
            bytes: 0,
            cached: false,
            error: None,
        }
    }

    #[test]
    fn requests_are_at_the_same_time_where_both_ends_are_near() {
        let requests =
            [(0, 500), (100, 700), (200, 800), (300, 900), (400, 1000)].map(|(start, end)| simulated(start, end));
        let browser = BrowserLoad {
            page_time: Duration::from_secs(1),
            dom_content_loaded: None,
            loaded: None,
            // The first is the same to the limit, the second starts and the third ends otherwise, the fourth does not end, the fifth is missing.
            requests: vec![
                real(0, 100, Some(400)),
                real(1, 201, Some(700)),
                real(2, 200, Some(901)),
                real(3, 300, None),
            ],
            not_requested: vec![4],
        };
        assert_eq!(requests_at_the_same_time(&requests, &browser, 0.1), [1, 3]);
    }
}
