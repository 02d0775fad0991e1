//! What the bytes of a connection mean for the requests that it carries, over each version of HTTP.

use super::connection::{Protocol, State};
use super::{Action, Client, ConnectionId, ExchangeId};
use crate::error_cause::{ErrorCause, RequestFailure};
use crate::http2::{Event, Http2};
use crate::tls_reason;
use lastmile_units::Instant;
use std::cmp::Reverse;

/// What bytes of a response meant.
#[derive(Debug, Clone, Copy)]
enum Received {
    /// Nothing was asked: what follows cannot be trusted.
    Unasked,
    More,
    Complete {
        status: u16,
        body_bytes: u64,
        keeps_alive: bool,
    },
    Failed(RequestFailure),
    /// The events of HTTP/2 say it.
    Events,
}

impl Client {
    /// That many bytes of [`Self::unsent`] were written; `now` is the time before they were.
    pub fn on_written(&mut self, id: ConnectionId, bytes: usize, now: Instant) {
        let Some(connection) = self.connection_mut(id) else {
            return;
        };
        match &mut connection.protocol {
            Protocol::Http1 { written, .. } => {
                *written += bytes;
                self.on_begun(first_stream(id), now);
            }
            Protocol::Http2 { open, unwritten, .. } => {
                let Some(http2) = open else { return };
                http2.on_written(bytes);
                // Where the socket had no room for all, the requests count from when it has.
                if !http2.is_all_written() {
                    return;
                }
                for stream in std::mem::take(unwritten) {
                    self.on_begun(ExchangeId { connection: id, stream }, now);
                }
            }
        }
    }

    /// Bytes arrived.
    pub fn on_received(&mut self, id: ConnectionId, bytes: &[u8], now: Instant) {
        self.measurement.bytes_received += bytes.len() as u64;
        let Some(connection) = self.connection_mut(id) else {
            return;
        };
        let received = match &mut connection.protocol {
            Protocol::Http2 { open: Some(http2), .. } => {
                http2.receive(bytes);
                Received::Events
            }
            Protocol::Http2 { .. } => Received::Unasked,
            Protocol::Http1 { reader, .. } => match connection.exchanges.get_mut(0) {
                None => Received::Unasked,
                Some(in_flight) => {
                    in_flight.first_byte.get_or_insert(now);
                    match reader.read(bytes) {
                        Err(error) => Received::Failed(error.into()),
                        Ok(read) if reader.is_complete() => Received::Complete {
                            status: reader.status(),
                            body_bytes: reader.body_bytes(),
                            keeps_alive: reader.keeps_alive() && read == bytes.len(),
                        },
                        Ok(_) => Received::More,
                    }
                }
            },
        };
        self.on_response(id, received, now);
    }

    /// The server has closed its side of the connection.
    pub fn on_end(&mut self, id: ConnectionId, now: Instant) {
        let Some(connection) = self.connection_mut(id) else {
            return;
        };
        if connection.exchanges.is_empty() {
            self.close(id, now);
            return;
        }
        if connection.state == State::Securing {
            self.fail(id, RequestFailure::new(ErrorCause::Tls, tls_reason::CLOSED), now);
            return;
        }
        let ended = match &mut connection.protocol {
            Protocol::Http1 { reader, .. } => reader.end().map(|()| Received::Complete {
                status: reader.status(),
                body_bytes: reader.body_bytes(),
                keeps_alive: false,
            }),
            Protocol::Http2 { open, .. } => {
                let none = RequestFailure::from(ErrorCause::ClosedBeforeResponse);
                let failure = open.as_ref().map_or(none, |http2| http2.end());
                self.fail_or_retry(id, failure, now);
                return;
            }
        };
        match ended {
            Ok(complete) => self.on_response(id, complete, now),
            Err(error) => self.fail_or_retry(id, error.into(), now),
        }
    }

    fn on_response(&mut self, id: ConnectionId, received: Received, now: Instant) {
        match received {
            Received::More => {}
            Received::Unasked => self.close(id, now),
            Received::Failed(failure) => self.fail(id, failure, now),
            Received::Complete {
                status,
                body_bytes,
                keeps_alive,
            } => self.complete(first_stream(id), status, body_bytes, keeps_alive, now),
            Received::Events => self.take_events(id, now),
        }
    }

    /// The handshakes are complete.
    pub(super) fn open(&mut self, id: ConnectionId, now: Instant) {
        let head = self.http2_head.clone();
        let Some(connection) = self.connection_mut(id) else {
            return;
        };
        let http2 = match &connection.protocol {
            Protocol::Http1 { .. } => Ok(None),
            Protocol::Http2 { streams_max, .. } => match head {
                Some(head) => Http2::new(head, *streams_max).map(|http2| Some(Box::new(http2))),
                None => Err(RequestFailure::new(
                    ErrorCause::Other,
                    "the request cannot be one of HTTP/2: its host or its path is none of a URL",
                )),
            },
        };
        match http2 {
            Ok(http2) => {
                connection.open(http2);
                self.write(id);
            }
            Err(failure) => self.fail(id, failure, now),
        }
    }

    /// Asks the driver to write, unless it was asked already.
    pub(super) fn write(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connection_mut(id)
            && !connection.is_write_due
        {
            connection.is_write_due = true;
            self.actions.push_back(Action::Write(id));
        }
    }

    /// Gives up a request whose stream may be given up alone; false where it has the connection to itself.
    pub(super) fn cancel(&mut self, id: ExchangeId) -> bool {
        match self
            .connection_mut(id.connection)
            .map(|connection| &mut connection.protocol)
        {
            Some(Protocol::Http2 { open: Some(http2), .. }) => {
                http2.cancel(id.stream);
                true
            }
            _ => false,
        }
    }

    /// What happened to the streams of a connection.
    pub(super) fn take_events(&mut self, id: ConnectionId, now: Instant) {
        while let Some(event) = self.http2(id).and_then(Http2::next_event) {
            let exchange = |stream| ExchangeId { connection: id, stream };
            match event {
                Event::Head(stream) => {
                    if let Some(in_flight) = self.in_flight_mut(exchange(stream)) {
                        in_flight.first_byte.get_or_insert(now);
                    }
                }
                Event::Complete {
                    stream,
                    status,
                    body_bytes,
                } => self.complete(exchange(stream), status, body_bytes, true, now),
                Event::Failed {
                    stream,
                    failure,
                    may_retry,
                } => self.fail_stream(exchange(stream), failure, may_retry, now),
                Event::Draining => self.drain(id, now),
                Event::Broken(failure) => self.on_failed(id, failure, now),
            }
        }
        if self.http2(id).is_some_and(|http2| http2.has_unsent()) {
            self.write(id);
        }
    }

    /// Limits the time that a connection takes to be established: that of its first request.
    pub(super) fn limit_connecting(&mut self, id: ConnectionId, timeout: Instant) {
        if let Some(exchange) = self.exchanges(id).next()
            && let Some(serial) = self.in_flight(exchange).map(|in_flight| in_flight.serial)
        {
            self.timeouts.push(Reverse((timeout, exchange, serial)));
        }
    }

    /// The requests that a connection carries.
    pub(super) fn exchanges(&self, id: ConnectionId) -> impl Iterator<Item = ExchangeId> + use<> {
        let streams = self.connection(id).map(|connection| connection.exchanges.streams());
        streams
            .into_iter()
            .flatten()
            .map(move |stream| ExchangeId { connection: id, stream })
    }

    fn http2(&mut self, id: ConnectionId) -> Option<&mut Http2> {
        match &mut self.connection_mut(id)?.protocol {
            Protocol::Http2 { open, .. } => open.as_deref_mut(),
            Protocol::Http1 { .. } => None,
        }
    }
}

/// The one request that a connection of HTTP/1.1 carries.
const fn first_stream(id: ConnectionId) -> ExchangeId {
    ExchangeId {
        connection: id,
        stream: 0,
    }
}
