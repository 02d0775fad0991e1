//! The times of a simulated request, phase by phase, and the chain of requests that a page's end waits for.

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
