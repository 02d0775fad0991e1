//! A connection of the client: its state, and the request that it carries.

use super::Request;
use crate::http1::{self, ResponseReader};
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
    pub(super) in_flight: Option<InFlight>,
    /// The bytes of the current request that were written.
    pub(super) written: usize,
    /// The number of responses.
    pub(super) served: u32,
    pub(super) reader: ResponseReader,
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

/// A request that is being served.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlight {
    pub(super) request: Request,
    pub(super) serial: u64,
    /// When a connection became free for it, where it waited for one.
    pub(super) queued_until: Option<Instant>,
    /// When its connection was opened for it, or its first byte was written to one that was open.
    pub(super) begun: Option<Instant>,
    pub(super) first_byte: Option<Instant>,
}

impl InFlight {
    pub(super) const fn new(request: Request, serial: u64) -> Self {
        Self {
            request,
            serial,
            queued_until: None,
            begun: None,
            first_byte: None,
        }
    }

    /// Whether it waited for a connection for longer than it has had one.
    pub(super) fn has_mostly_waited(&self, now: Instant) -> bool {
        self.queued_until
            .is_some_and(|until| until.saturating_since(self.request.released) > now.saturating_since(until))
    }
}

impl Connection {
    pub(super) fn new(request: &http1::Request) -> Self {
        Self {
            generation: 0,
            state: State::Free,
            client: 0,
            opened: Instant::START,
            connected: Instant::START,
            in_flight: None,
            written: 0,
            served: 0,
            reader: request.response_reader(),
        }
    }

    /// Takes on a request.
    pub(super) fn begin(&mut self, in_flight: InFlight, state: State) {
        self.client = in_flight.request.client;
        self.in_flight = Some(in_flight);
        self.state = state;
        self.written = 0;
        self.reader.reset();
    }

    /// Frees the slot; returns when the connection was opened, where it was.
    pub(super) fn release(&mut self) -> Option<Instant> {
        let was_open = matches!(self.state, State::Busy | State::Idle);
        self.state = State::Free;
        self.generation = self.generation.wrapping_add(1);
        self.served = 0;
        self.in_flight = None;
        was_open.then_some(self.opened)
    }

    /// Whether the slot holds the connection of that generation.
    pub(super) fn is_current(&self, generation: u32) -> bool {
        self.generation == generation && self.state != State::Free
    }
}
