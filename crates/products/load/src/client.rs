//! The client of a load, sans-IO: given the time, the bytes and the events of its connections, it says what to do next.
//!
//! A driver calls [`Client::advance`] with the time, carries out each [`Action`], reports what became of it, and waits for a socket's
//! event or [`Client::next_deadline`]. `dispatch` is which request goes over which connection, `exchange` what its bytes mean, and `outcome` how
//! requests end, and what follows. Only `connection` and `exchange` know the versions of HTTP: whatever is measured, and when, is the same for
//! them all. The loop over real sockets and the programs in worlds drive the same client.

mod connection;
mod dispatch;
mod exchange;
mod outcome;
mod queue;
mod share;
#[cfg(test)]
mod tests;

use crate::error_cause::{ErrorCause, RequestFailure};
use crate::live::RecentFigures;
use crate::measurement::{ClientShare, Ending, Measurement};
use crate::plan::{Demand, HttpVersion, Plan};
use crate::schedule::Schedule;
use crate::sending_window::SendingWindow;
use connection::{Connection, InFlight, State};
use lastmile_units::{Instant, Seed};
use queue::{DueRequests, LocalQueues};
pub use share::Share;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::iter::{Enumerate, Peekable};
use std::sync::Arc;
use std::time::Duration;

/// One thread's share of a load.
#[derive(Debug)]
pub struct Client {
    plan: Arc<Plan>,
    share: Share,
    start: Instant,
    /// The schedule of an open loop; none once it has ended.
    schedule: Option<Peekable<Enumerate<Schedule>>>,
    /// Requests that other requests brought about.
    due: DueRequests,
    /// Requests that wait for a connection.
    queues: LocalQueues,
    connections: Vec<Connection>,
    free: Vec<u32>,
    /// Connections that may have room for a request, by client; an entry may be out of date.
    with_room: Vec<Vec<ConnectionId>>,
    /// The number of open connections that take requests, by client.
    open: Vec<u32>,
    connections_open: u64,
    in_flight: u64,
    next_serial: u64,
    /// The timeouts of requests in flight; an entry may be out of date.
    timeouts: BinaryHeap<Reverse<(Instant, ExchangeId, u64)>>,
    actions: VecDeque<Action>,
    measurement: Measurement,
    /// What happened since it was last asked for; none where nobody asks.
    recent: Option<Box<RecentFigures>>,
    /// The head of the request over HTTP/2, where that is spoken, and the request can be one of it.
    http2_head: Option<http::Request<()>>,
    is_done: bool,
}

/// A connection. A later one in the same slot has another generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId {
    /// The slot: small numbers, used again.
    pub index: u32,
    /// How many connections had the slot before.
    pub generation: u32,
}

/// A request that is under way: its connection, and its stream there. The stream is 0 over HTTP/1.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ExchangeId {
    connection: ConnectionId,
    stream: u32,
}

/// What the driver has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Open a connection: call [`Client::on_connecting`], and [`Client::on_connected`] or [`Client::on_failed`] later.
    Connect(ConnectionId),
    /// Write what [`Client::unsent`] holds, and call [`Client::on_written`].
    Write(ConnectionId),
    /// Close the connection; its id means nothing from now on.
    Close(ConnectionId),
}

/// A request, from when it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Request {
    /// When it should start if the server is as fast as expected.
    intended: Instant,
    /// When it may start: later than intended where it depends on another request.
    released: Instant,
    client: u32,
    /// The requests of its session that follow it.
    left: u32,
    is_retry: bool,
}

/// A sender that is later than this has lost its schedule: our own choice.
const LATENESS_MAX: Duration = Duration::from_secs(1);

impl Client {
    /// A share of `plan`, whose first request may start at `start`. Equal seeds give equal schedules.
    pub fn new(plan: Arc<Plan>, share: Share, start: Instant, seed: Seed) -> Self {
        let clients = plan.clients.get();
        let mut due = DueRequests::default();
        let schedule = match &plan.demand {
            Demand::Open { arrivals, .. } => Some(arrivals.schedule(plan.duration, seed).enumerate().peekable()),
            Demand::Closed { users, .. } => {
                let users = (0..users.get()).map(|user| user % clients);
                for client in users.filter(|client| share.has(u64::from(*client), clients.max(2))) {
                    due.push(Request::first(start, client, 0));
                }
                None
            }
        };
        Self {
            share,
            start,
            schedule,
            due,
            queues: LocalQueues::new(clients),
            connections: Vec::new(),
            free: Vec::new(),
            with_room: vec![Vec::new(); clients as usize],
            open: vec![0; clients as usize],
            connections_open: 0,
            in_flight: 0,
            next_serial: 0,
            timeouts: BinaryHeap::new(),
            actions: VecDeque::new(),
            measurement: Measurement {
                span: plan.duration.saturating_sub(plan.warm_up),
                clients: vec![ClientShare::default(); clients as usize],
                window: SendingWindow::new(plan.warm_up, plan.duration),
                ..Measurement::default()
            },
            recent: None,
            http2_head: match plan.http {
                HttpVersion::Http11 => None,
                HttpVersion::Http2 { .. } => plan.request.http2_head(plan.tls).ok(),
            },
            is_done: false,
            plan,
        }
    }

    /// Releases what is due, and gives up what has lasted too long.
    pub fn advance(&mut self, now: Instant) {
        while let Some(request) = self.next_due(now) {
            self.measurement.window.begin(self.since_start(request.intended));
            self.measure(&request, |measurement, _| {
                measurement.intended += 1;
            });
            let due = request.released - self.start;
            self.measurement.sends.count_due(due.as_nanos() as u64);
            if let Some(recent) = &mut self.recent {
                recent.due += 1;
            }
            self.dispatch(request, None, now);
        }
        while let Some(request) = self.queues.pop_expired(now, self.plan.timeout) {
            self.count_error(&request, ErrorCause::LocalQueue.into(), now);
        }
        while let Some(Reverse((at, id, serial))) = self.timeouts.peek().copied() {
            let is_current = self.in_flight(id).is_some_and(|in_flight| in_flight.serial == serial);
            if is_current && at > now {
                break;
            }
            self.timeouts.pop();
            if is_current {
                self.on_timeout(id, now);
            }
        }
        self.end_if_done(now);
    }

    /// What to do next; none when everything is done for now.
    pub fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// When to call [`Self::advance`] at the latest; none where only an event can change anything.
    pub fn next_deadline(&mut self) -> Option<Instant> {
        let arrival = self.next_arrival().map(|(at, _)| at);
        let timeout = self.timeouts.peek().map(|Reverse((at, ..))| *at);
        let queue = self.queues.next_timeout(self.plan.timeout);
        [arrival, self.due.next_at(), timeout, queue]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether every request has ended, and every connection is closed.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether the handshake of a connection is under way.
    pub fn is_connecting(&self, id: ConnectionId) -> bool {
        self.connection(id)
            .is_some_and(|connection| connection.state == State::Connecting)
    }

    /// Whether a connection carries several requests at once.
    pub fn has_streams(&self) -> bool {
        self.plan.http != HttpVersion::Http11
    }

    /// The number of bytes of a request, at most.
    pub fn request_size(&self) -> usize {
        self.plan.request.bytes(true).len()
    }

    /// The bytes that are still to be written.
    pub fn unsent(&mut self, id: ConnectionId) -> &[u8] {
        let connection = self.connections.get_mut(id.index as usize);
        match connection.filter(|connection| connection.is_current(id.generation)) {
            Some(connection) => connection.unsent(&self.plan),
            None => &[],
        }
    }

    /// The driver begins to open a connection.
    pub fn on_connecting(&mut self, id: ConnectionId, now: Instant) {
        let timeout = now + self.plan.connect_timeout;
        let Some(connection) = self.connection_mut(id) else {
            return;
        };
        connection.opened = now;
        connection.state = State::Connecting;
        self.measurement.connections += 1;
        self.limit_connecting(id, timeout);
        for exchange in self.exchanges(id) {
            self.on_begun(exchange, now);
        }
    }

    /// The handshake of TCP is complete. Where the plan asks for TLS, its handshake follows: call [`Self::on_secured`] later.
    pub fn on_connected(&mut self, id: ConnectionId, now: Instant) {
        let is_secured = self.plan.tls;
        let Some(connection) = self
            .connection_mut(id)
            .filter(|connection| connection.state == State::Connecting)
        else {
            return;
        };
        connection.state = State::Securing;
        connection.connected = now;
        let connect_time = now - connection.opened;
        if let Some(request) = connection.exchanges.first().map(|in_flight| in_flight.request) {
            self.measure(&request, |measurement, _| measurement.connect.record(connect_time));
        }
        if !is_secured {
            self.open(id, now);
        }
    }

    /// The handshake of TLS is complete.
    pub fn on_secured(&mut self, id: ConnectionId, now: Instant) {
        let Some(connection) = self
            .connection_mut(id)
            .filter(|connection| connection.state == State::Securing)
        else {
            return;
        };
        let tls_time = now - connection.connected;
        if let Some(request) = connection.exchanges.first().map(|in_flight| in_flight.request) {
            self.measure(&request, |measurement, _| measurement.tls.record(tls_time));
        }
        self.open(id, now);
    }

    /// The connection could not be opened, or is broken.
    pub fn on_failed(&mut self, id: ConnectionId, failure: impl Into<RequestFailure>, now: Instant) {
        match self.connection(id) {
            Some(connection) if connection.exchanges.is_empty() => self.close(id, now),
            Some(_) => self.fail_or_retry(id, failure.into(), now),
            None => {}
        }
    }

    /// Stops at once: what is due is skipped, and what is in flight is left unfinished.
    pub fn stop(&mut self, ending: Ending, now: Instant) {
        if self.is_done {
            return;
        }
        self.schedule = None;
        self.measurement.skipped += self.queues.drain() + self.due.drain();
        self.measurement.unfinished += self.in_flight;
        self.measurement.ending = ending;
        let measured = now.saturating_since(self.start + self.plan.warm_up);
        let stopped = self.since_start(now);
        self.measurement.window.stop(stopped);
        self.measurement.span = self.measurement.span.min(measured);
        for connection in &mut self.connections {
            connection.exchanges.clear();
        }
        self.in_flight = 0;
        self.end_if_done(now);
    }

    /// What happened since the last call, or the first; the first begins to count.
    pub fn take_recent(&mut self) -> RecentFigures {
        *self.recent.replace(Box::default()).unwrap_or_default()
    }

    /// The figures so far.
    pub fn measurement(&self) -> &Measurement {
        &self.measurement
    }

    /// The figures, for what the driver knows alone.
    pub fn measurement_mut(&mut self) -> &mut Measurement {
        &mut self.measurement
    }

    /// The figures.
    pub fn into_measurement(self) -> Measurement {
        self.measurement
    }

    /// A request is begun now: how late is that?
    fn on_begun(&mut self, id: ExchangeId, now: Instant) {
        let Some(in_flight) = self.in_flight_mut(id).filter(|in_flight| in_flight.begun.is_none()) else {
            return;
        };
        in_flight.begun = Some(now);
        let (request, queued_until) = (in_flight.request, in_flight.queued_until);
        if request.is_retry {
            return;
        }
        let lateness = now.saturating_since(queued_until.unwrap_or(request.released));
        let sent_at = now.saturating_since(self.start).as_nanos() as u64;
        self.measurement.sends.count_sent(sent_at);
        self.measure(&request, |measurement, _| {
            measurement.sent += 1;
            measurement.lateness.record(lateness);
            if let Some(until) = queued_until {
                measurement.queued += 1;
                measurement.local_queue.record(until.saturating_since(request.released));
            }
        });
        if lateness > LATENESS_MAX {
            self.stop(Ending::RateNotHeld, now);
        }
    }

    /// Records figures of a request, unless it belongs to the warm-up.
    fn measure(&mut self, request: &Request, record: impl FnOnce(&mut Measurement, &mut ClientShare)) {
        if request.intended < self.start + self.plan.warm_up {
            return;
        }
        let client = request.client as usize;
        let mut share = std::mem::take(&mut self.measurement.clients[client]);
        record(&mut self.measurement, &mut share);
        self.measurement.clients[client] = share;
    }

    fn since_start(&self, at: Instant) -> Duration {
        at.saturating_since(self.start)
    }

    fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        let connection = self.connections.get(id.index as usize);
        connection.filter(|connection| connection.is_current(id.generation))
    }

    fn connection_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        let connection = self.connections.get_mut(id.index as usize);
        connection.filter(|connection| connection.is_current(id.generation))
    }

    fn in_flight(&self, id: ExchangeId) -> Option<&InFlight> {
        self.connection(id.connection)?.exchanges.get(id.stream)
    }

    fn in_flight_mut(&mut self, id: ExchangeId) -> Option<&mut InFlight> {
        self.connection_mut(id.connection)?.exchanges.get_mut(id.stream)
    }
}

impl Request {
    /// A request that depends on no other.
    const fn first(at: Instant, client: u32, left: u32) -> Self {
        Self {
            intended: at,
            released: at,
            client,
            left,
            is_retry: false,
        }
    }
}
