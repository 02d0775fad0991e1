//! A connection of the client: its state, and the requests that it carries.

use super::Request;
use crate::http1::ResponseReader;
use crate::http2::Http2;
use crate::plan::{HttpVersion, Plan};
use lastmile_units::Instant;

/// A slot for connections, one after the other.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) generation: u32,
    pub(super) state: State,
    pub(super) client: u32,
    /// When the driver began to open it.
    pub(super) opened: Instant,
    /// When the handshake of TCP was complete.
    pub(super) connected: Instant,
    pub(super) exchanges: Exchanges,
    /// The number of requests that it was given.
    pub(super) given: u32,
    /// The number of responses.
    pub(super) served: u32,
    /// Whether it is in the list of those that may have room.
    pub(super) is_listed: bool,
    /// Whether it takes no further request.
    pub(super) is_draining: bool,
    /// Whether the driver was asked to write, and has not begun.
    pub(super) is_write_due: bool,
    pub(super) protocol: Protocol,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The slot has no connection.
    Free,
    /// The driver is asked to open it.
    Opening,
    /// The handshake is under way.
    Connecting,
    /// The handshake of TLS is under way.
    Securing,
    /// It carries a request.
    Busy,
    /// It waits for a request.
    Idle,
}

/// What is spoken over it.
#[derive(Debug)]
pub(super) enum Protocol {
    Http1 {
        reader: ResponseReader,
        /// The bytes of the current request that were written.
        written: usize,
    },
    Http2 {
        streams_max: u32,
        /// None until the connection is open.
        open: Option<Box<Http2>>,
        /// Streams whose request is not written.
        unwritten: Vec<u32>,
    },
}

/// The requests that a connection carries, by the number of their stream; over HTTP/1.1 there is one at most, and its stream is 0.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    streams: Vec<Option<InFlight>>,
    vacant: Vec<u32>,
    count: u32,
}

/// A request that is being served.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlight {
    pub(super) request: Request,
    pub(super) serial: u64,
    /// When a connection became free for it, where it waited for one.
    pub(super) queued_until: Option<Instant>,
    /// When its connection was opened, or its first byte was written to one that was open.
    pub(super) begun: Option<Instant>,
    pub(super) first_byte: Option<Instant>,
}

impl InFlight {
    pub(super) const fn new(request: Request, serial: u64, queued_until: Option<Instant>) -> Self {
        Self {
            request,
            serial,
            queued_until,
            begun: None,
            first_byte: None,
        }
    }

    /// Whether the request spent most of its time waiting for a connection.
    pub(super) fn has_mostly_waited(&self, now: Instant) -> bool {
        self.queued_until
            .is_some_and(|until| until.saturating_since(self.request.released) > now.saturating_since(until))
    }
}

impl Exchanges {
    /// Adds a request; returns its stream.
    pub(super) fn insert(&mut self, in_flight: InFlight) -> u32 {
        self.count += 1;
        match self.vacant.pop() {
            Some(stream) => {
                self.streams[stream as usize] = Some(in_flight);
                stream
            }
            None => {
                self.streams.push(Some(in_flight));
                self.streams.len() as u32 - 1
            }
        }
    }

    pub(super) fn take(&mut self, stream: u32) -> Option<InFlight> {
        let taken = self.streams.get_mut(stream as usize)?.take()?;
        self.vacant.push(stream);
        self.count -= 1;
        Some(taken)
    }

    pub(super) fn get(&self, stream: u32) -> Option<&InFlight> {
        self.streams.get(stream as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, stream: u32) -> Option<&mut InFlight> {
        self.streams.get_mut(stream as usize)?.as_mut()
    }

    /// The first of them.
    pub(super) fn first(&self) -> Option<&InFlight> {
        self.streams.iter().flatten().next()
    }

    /// The streams that carry a request.
    pub(super) fn streams(&self) -> impl Iterator<Item = u32> + use<> {
        let streams: Vec<u32> = (0..)
            .zip(&self.streams)
            .filter_map(|(stream, in_flight)| in_flight.map(|_| stream))
            .collect();
        streams.into_iter()
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn clear(&mut self) {
        self.streams.clear();
        self.vacant.clear();
        self.count = 0;
    }
}

impl Connection {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            generation: 0,
            state: State::Free,
            client: 0,
            opened: Instant::START,
            connected: Instant::START,
            exchanges: Exchanges::default(),
            given: 0,
            served: 0,
            is_listed: false,
            is_draining: false,
            is_write_due: false,
            protocol: match plan.http {
                HttpVersion::Http11 => Protocol::Http1 {
                    reader: plan.request.response_reader(),
                    written: 0,
                },
                HttpVersion::Http2 { streams } => Protocol::Http2 {
                    streams_max: streams.get(),
                    open: None,
                    unwritten: Vec::new(),
                },
            },
        }
    }

    /// Takes on a request; returns its stream. Over an open connection of HTTP/2, it is still to be sent.
    pub(super) fn begin(&mut self, in_flight: InFlight) -> u32 {
        self.given = self.given.saturating_add(1);
        if let Protocol::Http1 { reader, written } = &mut self.protocol {
            *written = 0;
            reader.reset();
        }
        if self.state == State::Idle {
            self.state = State::Busy;
        }
        self.exchanges.insert(in_flight)
    }

    /// Whether it can take another request, which may be its last by the plan.
    pub(super) fn has_room(&self, plan: &Plan) -> bool {
        let has_all = plan
            .requests_per_connection
            .is_some_and(|most| self.given >= most.get());
        if has_all || self.is_draining {
            return false;
        }
        match &self.protocol {
            Protocol::Http1 { .. } => self.state == State::Idle,
            Protocol::Http2 { open: Some(http2), .. } => {
                !http2.is_draining() && (self.exchanges.count() as usize) < http2.streams_max()
            }
            Protocol::Http2 { streams_max, .. } => self.exchanges.count() < *streams_max,
        }
    }

    /// Whether the head of the response on a stream has been read.
    pub(super) fn has_head(&self, stream: u32) -> bool {
        match &self.protocol {
            Protocol::Http1 { reader, .. } => reader.has_head(),
            Protocol::Http2 { open, .. } => open.as_ref().is_some_and(|http2| http2.has_head(stream)),
        }
    }

    /// The bytes that are still to be written.
    pub(super) fn unsent<'a>(&'a mut self, plan: &'a Plan) -> &'a [u8] {
        self.is_write_due = false;
        match (&mut self.protocol, self.state) {
            (Protocol::Http1 { written, .. }, State::Busy) => {
                let is_last = plan
                    .requests_per_connection
                    .is_some_and(|most| self.given >= most.get());
                &plan.request.bytes(is_last)[*written..]
            }
            (Protocol::Http2 { open: Some(http2), .. }, State::Busy | State::Idle) => http2.unsent(),
            _ => &[],
        }
    }

    /// The connection is open: over HTTP/2, what waited for it is sent.
    pub(super) fn open(&mut self, http2: Option<Box<Http2>>) {
        self.state = if self.exchanges.is_empty() {
            State::Idle
        } else {
            State::Busy
        };
        if let Protocol::Http2 { open, .. } = &mut self.protocol {
            *open = http2;
        }
        for stream in self.exchanges.streams() {
            self.send(stream);
        }
    }

    /// Sends the request of a stream, where the connection is one of HTTP/2 and open.
    pub(super) fn send(&mut self, stream: u32) {
        if let Protocol::Http2 {
            open: Some(http2),
            unwritten,
            ..
        } = &mut self.protocol
        {
            http2.send(stream);
            unwritten.push(stream);
        }
    }

    /// Frees the slot; returns when the connection was opened, where it was.
    pub(super) fn release(&mut self) -> Option<Instant> {
        let was_open = matches!(self.state, State::Busy | State::Idle);
        self.state = State::Free;
        self.generation = self.generation.wrapping_add(1);
        self.given = 0;
        self.served = 0;
        self.is_listed = false;
        self.is_draining = false;
        self.is_write_due = false;
        self.exchanges.clear();
        if let Protocol::Http2 { open, unwritten, .. } = &mut self.protocol {
            *open = None;
            unwritten.clear();
        }
        was_open.then_some(self.opened)
    }

    /// Whether the slot holds the connection of that generation.
    pub(super) fn is_current(&self, generation: u32) -> bool {
        self.generation == generation && self.state != State::Free
    }
}
