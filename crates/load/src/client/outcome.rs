//! How a request ends: completed, sent again, or failed; and what becomes of its connection, of its session and of those that wait.

use super::connection::{InFlight, State};
use super::{Action, Client, ConnectionId, Request};
use crate::error_cause::ErrorCause;
use crate::plan::Demand;
use lastmile_units::Instant;

impl Client {
    pub(super) fn complete(&mut self, id: ConnectionId, is_last: bool, now: Instant) {
        let Some(connection) = self.connection_mut(id) else {
            return;
        };
        let Some(in_flight) = connection.in_flight.take() else {
            return;
        };
        connection.served += 1;
        connection.state = State::Idle;
        let served = connection.served;
        let (status, body) = (connection.reader.status(), connection.reader.body_bytes());
        let keeps_alive = connection.reader.keeps_alive() && !is_last;
        self.in_flight -= 1;
        let request = in_flight.request;
        if status >= 400 {
            self.count_error(&request, ErrorCause::Status);
        } else {
            let at = now.saturating_since(self.start);
            if at >= self.plan.warm_up {
                self.measurement.window.count(at);
            }
            let begun = in_flight.begun.unwrap_or(request.released);
            let first_byte = in_flight.first_byte.unwrap_or(now);
            let keeps_times = self.plan.keeps_times;
            self.measure(&request, |measurement, share| {
                if keeps_times {
                    measurement.response_times.push(request.intended..now);
                }
                measurement.completed += 1;
                measurement.body_bytes += body;
                let response = now.saturating_since(request.intended);
                measurement.response.record(response);
                measurement.service.record(now.saturating_since(begun));
                measurement.first_byte.record(first_byte.saturating_since(begun));
                measurement.transfer.record(now.saturating_since(first_byte));
                share.completed += 1;
                share.response_time += response;
            });
            if let Some(recent) = &mut self.recent {
                recent.response.record(now.saturating_since(request.intended));
            }
        }
        self.follow(&request, now);
        let has_served_all = self
            .plan
            .requests_per_connection
            .is_some_and(|most| served >= most.get());
        if keeps_alive && !has_served_all {
            self.reuse(id, now);
        } else {
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
            Demand::Closed { think_time } => Request::first(now + *think_time, request.client, 0),
        };
        if next.released < end {
            self.due.push(next);
        }
    }

    pub(super) fn fail_or_retry(&mut self, id: ConnectionId, cause: ErrorCause, now: Instant) {
        let is_silent_end = matches!(cause, ErrorCause::ClosedBeforeResponse | ErrorCause::Reset);
        let is_idempotent = self.plan.request.is_idempotent();
        let Some(connection) = self.connection_mut(id) else {
            return;
        };
        let may_retry = is_silent_end && connection.served > 0 && connection.state == State::Busy;
        match connection.in_flight {
            // The server closed an idle connection while the request was on its way (RFC 9112 section 9.3.1).
            Some(in_flight)
                if may_retry && in_flight.first_byte.is_none() && !in_flight.request.is_retry && is_idempotent =>
            {
                self.measurement.retries += 1;
                self.take_in_flight(id);
                self.close(id, now);
                self.dispatch(Request {
                    is_retry: true,
                    ..in_flight.request
                });
            }
            _ => self.fail(id, cause, now),
        }
    }

    pub(super) fn fail(&mut self, id: ConnectionId, cause: ErrorCause, now: Instant) {
        if let Some(in_flight) = self.take_in_flight(id) {
            self.count_error(&in_flight.request, cause);
            if let Demand::Closed { .. } = self.plan.demand {
                self.follow(&in_flight.request, now);
            }
        }
        self.close(id, now);
    }

    pub(super) fn on_timeout(&mut self, id: ConnectionId, now: Instant) {
        let Some(connection) = self.connection(id) else { return };
        let Some(in_flight) = connection.in_flight else { return };
        let cause = match connection.state {
            State::Opening | State::Connecting => ErrorCause::SynLost,
            State::Securing => ErrorCause::SlowTls,
            _ if now < in_flight.request.released + self.plan.timeout => return,
            _ if in_flight.first_byte.is_none() && in_flight.has_mostly_waited(now) => ErrorCause::LocalQueue,
            _ if in_flight.first_byte.is_none() => ErrorCause::NoResponse,
            _ if connection.reader.has_head() => ErrorCause::SlowBody,
            _ => ErrorCause::SlowHead,
        };
        self.fail(id, cause, now);
    }

    pub(super) fn take_in_flight(&mut self, id: ConnectionId) -> Option<InFlight> {
        let taken = self.connection_mut(id)?.in_flight.take();
        self.in_flight -= u64::from(taken.is_some());
        taken
    }

    pub(super) fn count_error(&mut self, request: &Request, cause: ErrorCause) {
        self.measure(request, |measurement, share| {
            *measurement.errors.entry(cause).or_default() += 1;
            share.failed += 1;
        });
        if let Some(recent) = &mut self.recent {
            recent.failed += 1;
        }
    }

    /// Keeps a connection for the next request, which may be waiting.
    pub(super) fn reuse(&mut self, id: ConnectionId, now: Instant) {
        let Some(client) = self.connection(id).map(|connection| connection.client) else {
            return;
        };
        match self.queues.pop(client) {
            Some(request) => {
                self.begin(id, request, State::Busy);
                self.note_queued(id, now);
                self.actions.push_back(Action::Write(id));
            }
            None => self.idle[client as usize].push(id),
        }
    }

    pub(super) fn close(&mut self, id: ConnectionId, now: Instant) {
        let Some(connection) = self.connection_mut(id) else {
            return;
        };
        let client = connection.client;
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
        self.open[client as usize] -= 1;
        if let Some(request) = self.queues.pop(client) {
            self.dispatch(request);
            let last = self.actions.back().copied();
            if let Some(Action::Connect(id) | Action::Write(id)) = last {
                self.note_queued(id, now);
            }
        }
    }

    pub(super) fn note_queued(&mut self, id: ConnectionId, now: Instant) {
        if let Some(in_flight) = self
            .connection_mut(id)
            .and_then(|connection| connection.in_flight.as_mut())
        {
            in_flight.queued_until = Some(now);
        }
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
