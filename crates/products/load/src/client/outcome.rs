//! How a request ends: completed, sent again, or failed; and what becomes of its connection, of its session and of those that wait.

use super::connection::{InFlight, State};
use super::{Action, Client, ConnectionId, ExchangeId, Request};
use crate::error_cause::{ErrorCause, RequestFailure};
use crate::plan::Demand;
use lastmile_units::Instant;

impl Client {
    /// A response is complete; `keeps_alive` says whether the connection may carry another.
    pub(super) fn complete(&mut self, id: ExchangeId, status: u16, body_bytes: u64, keeps_alive: bool, now: Instant) {
        let Some(in_flight) = self.take_in_flight(id) else {
            return;
        };
        if let Some(connection) = self.connection_mut(id.connection) {
            connection.served = connection.served.saturating_add(1);
        }
        let request = in_flight.request;
        if status >= 400 {
            self.count_error(&request, RequestFailure::status(status), now);
        } else {
            let response = now.saturating_since(request.intended);
            self.measurement
                .window
                .complete(self.since_start(now), response, body_bytes);
            let begun = in_flight.begun.unwrap_or(request.released);
            let first_byte = in_flight.first_byte.unwrap_or(now);
            let keeps_times = self.plan.keeps_times;
            self.measure(&request, |measurement, share| {
                if keeps_times {
                    measurement.response_times.push(request.intended..now);
                }
                measurement.completed += 1;
                measurement.body_bytes += body_bytes;
                measurement.response.record(response);
                measurement.service.record(now.saturating_since(begun));
                measurement.first_byte.record(first_byte.saturating_since(begun));
                measurement.transfer.record(now.saturating_since(first_byte));
                share.completed += 1;
                share.response_time += response;
            });
            if let Some(recent) = &mut self.recent {
                recent.response.record(response);
            }
        }
        self.follow(&request, now);
        self.go_on(id.connection, keeps_alive, now);
    }

    /// What becomes of a connection when one of its requests has ended.
    fn go_on(&mut self, id: ConnectionId, keeps_alive: bool, now: Instant) {
        let Some(connection) = self.connections.get_mut(id.index as usize) else {
            return;
        };
        if !connection.is_current(id.generation) {
            return;
        }
        let is_idle = connection.exchanges.is_empty();
        if is_idle {
            connection.state = State::Idle;
        }
        let (has_room, client) = (connection.has_room(&self.plan), connection.client);
        if keeps_alive && has_room {
            self.list(id);
            self.serve_queue(client, now);
        } else if is_idle {
            self.close(id, now);
        }
    }

    /// The next request of the session, or of a closed loop.
    fn follow(&mut self, request: &Request, now: Instant) {
        let end = self.start + self.plan.duration;
        let next = match &self.plan.demand {
            Demand::Open { session, .. } if request.left > 0 => {
                let intended = request.intended + session.step();
                Request {
                    intended,
                    released: intended.max(now),
                    left: request.left - 1,
                    is_retry: false,
                    ..*request
                }
            }
            Demand::Open { .. } => return,
            Demand::Closed { think_time, .. } => Request::first(now + *think_time, request.client, 0),
        };
        if next.released < end {
            self.due.push(next);
        }
    }

    /// A connection is broken, with all that it carries.
    pub(super) fn fail_or_retry(&mut self, id: ConnectionId, failure: RequestFailure, now: Instant) {
        let is_silent_end = matches!(failure.cause, ErrorCause::ClosedBeforeResponse | ErrorCause::Reset);
        let is_idempotent = self.plan.request.is_idempotent();
        let Some(connection) = self.connection(id) else {
            return;
        };
        // The server closed an idle connection while the request was on its way (RFC 9112 section 9.3.1).
        let may_retry = is_silent_end && is_idempotent && connection.served > 0 && connection.state == State::Busy;
        let mut retries = Vec::new();
        for exchange in self.exchanges(id) {
            let failure = match self.in_flight(exchange) {
                // Its response had begun.
                Some(in_flight)
                    if failure.cause == ErrorCause::ClosedBeforeResponse && in_flight.first_byte.is_some() =>
                {
                    ErrorCause::ShortBody.into()
                }
                _ => failure,
            };
            match self.take_in_flight(exchange) {
                Some(in_flight) if may_retry && in_flight.first_byte.is_none() && !in_flight.request.is_retry => {
                    retries.push(in_flight.request);
                }
                Some(in_flight) => self.end_failed(&in_flight.request, failure, now),
                None => {}
            }
        }
        self.close(id, now);
        for request in retries {
            self.retry(request, now);
        }
    }

    /// All that a connection carries fails, and it is closed.
    pub(super) fn fail(&mut self, id: ConnectionId, failure: RequestFailure, now: Instant) {
        for exchange in self.exchanges(id) {
            if let Some(in_flight) = self.take_in_flight(exchange) {
                self.end_failed(&in_flight.request, failure, now);
            }
        }
        self.close(id, now);
    }

    /// One request fails, and its connection goes on. One that `may_retry` is sent again, once.
    pub(super) fn fail_stream(&mut self, id: ExchangeId, failure: RequestFailure, may_retry: bool, now: Instant) {
        let Some(in_flight) = self.take_in_flight(id) else {
            return;
        };
        if may_retry && !in_flight.request.is_retry {
            self.drain(id.connection, now);
            self.retry(in_flight.request, now);
        } else {
            self.end_failed(&in_flight.request, failure, now);
        }
        self.go_on(id.connection, true, now);
    }

    /// A connection takes no further request.
    pub(super) fn drain(&mut self, id: ConnectionId, now: Instant) {
        let Some(connection) = self.connection_mut(id) else {
            return;
        };
        if connection.is_draining {
            return;
        }
        connection.is_draining = true;
        let client = connection.client;
        let is_idle = connection.exchanges.is_empty();
        // Another connection may take its place at once.
        self.open[client as usize] -= 1;
        if is_idle {
            self.close(id, now);
        }
        self.serve_queue(client, now);
    }

    fn retry(&mut self, request: Request, now: Instant) {
        self.measurement.retries += 1;
        let request = Request {
            is_retry: true,
            ..request
        };
        self.dispatch(request, None, now);
    }

    fn end_failed(&mut self, request: &Request, failure: RequestFailure, now: Instant) {
        self.count_error(request, failure, now);
        if let Demand::Closed { .. } = self.plan.demand {
            self.follow(request, now);
        }
    }

    pub(super) fn on_timeout(&mut self, id: ExchangeId, now: Instant) {
        let Some(connection) = self.connection(id.connection) else {
            return;
        };
        let Some(in_flight) = connection.exchanges.get(id.stream) else {
            return;
        };
        let is_opening = matches!(connection.state, State::Opening | State::Connecting | State::Securing);
        let cause = match connection.state {
            State::Opening | State::Connecting => ErrorCause::SynLost,
            State::Securing => ErrorCause::SlowTls,
            _ if now < in_flight.request.released + self.plan.timeout => return,
            _ if in_flight.first_byte.is_none() && in_flight.has_mostly_waited(now) => ErrorCause::LocalQueue,
            _ if in_flight.first_byte.is_none() => ErrorCause::NoResponse,
            _ if connection.has_head(id.stream) => ErrorCause::SlowBody,
            _ => ErrorCause::SlowHead,
        };
        if !is_opening && self.cancel(id) {
            self.fail_stream(id, cause.into(), false, now);
            self.write(id.connection);
        } else {
            self.fail(id.connection, cause.into(), now);
        }
    }

    fn take_in_flight(&mut self, id: ExchangeId) -> Option<InFlight> {
        let taken = self.connection_mut(id.connection)?.exchanges.take(id.stream);
        self.in_flight -= u64::from(taken.is_some());
        taken
    }

    pub(super) fn count_error(&mut self, request: &Request, failure: RequestFailure, now: Instant) {
        let (due, at) = (self.since_start(request.intended), self.since_start(now));
        self.measurement.window.fail(due, at);
        self.measure(request, |measurement, share| {
            measurement.count_failure(failure);
            share.failed += 1;
        });
        if let Some(recent) = &mut self.recent {
            recent.failed += 1;
        }
    }

    pub(super) fn close(&mut self, id: ConnectionId, now: Instant) {
        let Some(connection) = self.connection_mut(id) else {
            return;
        };
        let (client, was_draining) = (connection.client, connection.is_draining);
        if let Some(opened) = connection.release() {
            self.measurement
                .connection_duration
                .record(now.saturating_since(opened));
            if self.plan.keeps_times {
                self.measurement.connection_times.push(opened..now);
            }
        }
        self.actions.push_back(Action::Close(id));
        self.free.push(id.index);
        self.connections_open -= 1;
        self.open[client as usize] -= u32::from(!was_draining);
        self.serve_queue(client, now);
    }

    /// Closes what is open once no request is left.
    pub(super) fn end_if_done(&mut self, now: Instant) {
        let is_over = self.in_flight == 0 && self.queues.is_empty() && self.due.is_empty();
        if self.is_done || !is_over || self.next_arrival().is_some() {
            return;
        }
        for index in 0..self.connections.len() {
            let connection = &self.connections[index];
            if connection.state != State::Free {
                self.close(
                    ConnectionId {
                        index: index as u32,
                        generation: connection.generation,
                    },
                    now,
                );
            }
        }
        self.is_done = true;
    }
}
