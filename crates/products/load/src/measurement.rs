//! What a run measured: times in separate distributions, errors by cause, and the sender's own schedule.

use crate::distribution::Distribution;
use crate::error_cause::{ErrorCause, Reason, RequestFailure};
use crate::record::LinkUse;
use crate::send_counts::SendCounts;
use crate::sending_window::SendingWindow;
use lastmile_units::Instant;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// The figures of a run, or of a thread's share of it.
#[derive(Debug, Clone, Default)]
pub struct Measurement {
    /// The time in which measured requests were intended to start: the duration without the warm-up, or less where a run was stopped.
    pub span: Duration,
    /// Measured requests that were due.
    pub intended: u64,
    /// Those that were begun: a connection was opened for them, or they were written to an open one.
    pub sent: u64,
    /// Those with a whole response of a status below 400.
    pub completed: u64,
    /// Those that failed, by cause.
    pub errors: BTreeMap<ErrorCause, u64>,
    /// What tells those of one cause apart, where that is known.
    pub reasons: BTreeMap<(ErrorCause, Reason), u64>,
    /// What happened while requests were being sent.
    pub window: SendingWindow,
    /// Requests that were sent again, since the server had closed their open connection before any byte of a response.
    pub retries: u64,
    /// Requests that were without a response when the run was stopped.
    pub unfinished: u64,
    /// Requests that were due and not begun when the run was stopped.
    pub skipped: u64,
    /// Requests that waited for a free connection.
    pub queued: u64,
    /// From the intended start to the end of the response; of completed requests.
    pub response: Distribution,
    /// From the actual start to the end of the response; of completed requests.
    pub service: Distribution,
    /// From when a request could have been begun to when it was: the error of the generator's own schedule.
    pub lateness: Distribution,
    /// The waiting time for a free connection, of requests that waited.
    pub local_queue: Distribution,
    /// From the first SYN to the end of the handshake.
    pub connect: Distribution,
    /// From the end of the handshake of TCP to that of TLS.
    pub tls: Distribution,
    /// From the actual start to the first byte of the response.
    pub first_byte: Distribution,
    /// From the first to the last byte of the response.
    pub transfer: Distribution,
    /// From the first SYN to the closing of the connection by this side.
    pub connection_duration: Distribution,
    /// When each connection of `connection_duration` was open, in the order of their closing, where the plan keeps times.
    pub connection_times: Vec<Range<Instant>>,
    /// When each request of `response` was under way, in the order of completion, where the plan keeps times.
    pub response_times: Vec<Range<Instant>>,
    /// Bytes that were received, heads included.
    pub bytes_received: u64,
    /// Bytes of bodies of completed requests.
    pub body_bytes: u64,
    /// Connections that were opened.
    pub connections: u64,
    /// The largest number of connections that were open at once.
    pub connections_max: u64,
    /// What each client got.
    pub clients: Vec<ClientShare>,
    /// Sends in each millisecond.
    pub sends: SendCounts,
    /// What the kernel says about the connections.
    pub tcp: TcpCounts,
    /// Segments that opened a connection, and that a modelled server dropped as its backlog was full. None where that is not known.
    pub listen_drops: Option<u64>,
    /// What was used of the link while requests were sent, warm-up included. None where there is none, or others use it too.
    pub link: Option<LinkUse>,
    /// How the run ended.
    pub ending: Ending,
}

/// What one client got.
#[derive(Debug, Clone, Default)]
pub struct ClientShare {
    /// Completed requests.
    pub completed: u64,
    /// Failed requests.
    pub failed: u64,
    /// The sum of the response times of completed requests.
    pub response_time: Duration,
}

/// The counters of the kernel's TCP (`TCP_INFO`), over all connections that were closed.
#[derive(Debug, Clone, Default)]
pub struct TcpCounts {
    /// Connections whose counters were read.
    pub connections: u64,
    /// Segments that this side sent again.
    pub retransmissions: u64,
    /// The smoothed round-trip time of each connection at its end.
    pub round_trip: Distribution,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// Every request was begun, and ended.
    #[default]
    Complete,
    /// It was stopped from outside.
    Interrupted,
    /// The generator fell behind its schedule, and stopped.
    RateNotHeld,
}

impl Measurement {
    /// Adds the share of another thread.
    pub fn add(&mut self, other: &Self) {
        self.span = self.span.max(other.span);
        self.intended += other.intended;
        self.sent += other.sent;
        self.completed += other.completed;
        for (cause, count) in &other.errors {
            *self.errors.entry(*cause).or_default() += count;
        }
        for (reason, count) in &other.reasons {
            *self.reasons.entry(*reason).or_default() += count;
        }
        self.window.add(&other.window);
        self.retries += other.retries;
        self.unfinished += other.unfinished;
        self.skipped += other.skipped;
        self.queued += other.queued;
        self.response.add(&other.response);
        self.service.add(&other.service);
        self.lateness.add(&other.lateness);
        self.local_queue.add(&other.local_queue);
        self.connect.add(&other.connect);
        self.tls.add(&other.tls);
        self.first_byte.add(&other.first_byte);
        self.transfer.add(&other.transfer);
        self.connection_duration.add(&other.connection_duration);
        self.connection_times.extend_from_slice(&other.connection_times);
        self.response_times.extend_from_slice(&other.response_times);
        self.bytes_received += other.bytes_received;
        self.body_bytes += other.body_bytes;
        self.connections += other.connections;
        self.connections_max += other.connections_max;
        if self.clients.len() < other.clients.len() {
            self.clients.resize_with(other.clients.len(), ClientShare::default);
        }
        for (sum, share) in self.clients.iter_mut().zip(&other.clients) {
            sum.completed += share.completed;
            sum.failed += share.failed;
            sum.response_time += share.response_time;
        }
        self.sends.add(&other.sends);
        self.tcp.connections += other.tcp.connections;
        self.tcp.retransmissions += other.tcp.retransmissions;
        self.tcp.round_trip.add(&other.tcp.round_trip);
        self.listen_drops = match (self.listen_drops, other.listen_drops) {
            (Some(one), Some(two)) => Some(one + two),
            (one, two) => one.or(two),
        };
        self.link = self.link.or(other.link);
        self.ending = self.ending.max(other.ending);
    }

    /// A request failed.
    pub(crate) fn count_failure(&mut self, failure: RequestFailure) {
        *self.errors.entry(failure.cause).or_default() += 1;
        if let Some(reason) = failure.reason {
            *self.reasons.entry((failure.cause, reason)).or_default() += 1;
        }
    }

    /// Requests that failed.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Why every request failed, where one cause did it that no other rate would cure.
    pub fn hopeless_cause(&self) -> Option<ErrorCause> {
        let mut causes = self.errors.keys();
        let cause = causes.next().filter(|cause| cause.is_of_any_rate())?;
        (self.completed == 0 && causes.next().is_none()).then_some(*cause)
    }

    /// Failed requests as a share of those that ended; none where none did.
    pub fn error_rate(&self) -> Option<f64> {
        let ended = self.completed + self.failed();
        (ended > 0).then(|| self.failed() as f64 / ended as f64)
    }

    /// Requests that were due, per second.
    pub fn offered_rate(&self) -> f64 {
        per_second(self.intended, self.span)
    }

    /// Requests that were completed per second, while requests were sent.
    pub fn transaction_rate(&self) -> f64 {
        per_second(self.window.completed, self.span)
    }

    /// Body bits of completed requests per second, while requests were sent.
    pub fn goodput(&self) -> f64 {
        per_second(self.window.body_bytes * 8, self.span)
    }

    /// The mean number of requests in flight, by Little's law; to be compared with [`SendingWindow::in_flight_mean`].
    pub fn in_flight_by_law(&self) -> f64 {
        self.window.in_flight_by_law(self.transaction_rate())
    }

    /// How equally the clients' completed requests are shared; none where none has any.
    pub fn fairness(&self) -> Option<f64> {
        let counts: Vec<f64> = self.clients.iter().map(|share| share.completed as f64).collect();
        fairness(&counts)
    }
}

/// How equal some shares are: Jain's index (1 is equal, 1/n is all to one of n). None where they are all 0.
///
/// Jain, Chiu and Hawe, DEC-TR-301 (1984): the square of the sum over n times the sum of the squares.
pub fn fairness(shares: &[f64]) -> Option<f64> {
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| shares.iter().sum::<f64>().powi(2) / (shares.len() as f64 * squares))
}

fn per_second(count: u64, span: Duration) -> f64 {
    if span.is_zero() {
        0.0
    } else {
        count as f64 / span.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_fair_when_they_are_equal() {
        let of = |counts: &[u64]| Measurement {
            clients: counts
                .iter()
                .map(|completed| ClientShare {
                    completed: *completed,
                    ..ClientShare::default()
                })
                .collect(),
            ..Measurement::default()
        };
        assert_eq!(of(&[5, 5, 5]).fairness(), Some(1.0));
        assert_eq!(of(&[9, 0, 0]).fairness(), Some(1.0 / 3.0));
        assert_eq!(of(&[0]).fairness(), None);
    }
}
