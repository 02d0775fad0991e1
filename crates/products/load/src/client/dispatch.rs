//! Which request is next, and over which connection it goes: one that is idle, a new one, or none yet.

use super::connection::{Connection, InFlight, State};
use super::{Action, Client, ConnectionId, ExchangeId, Request};
use crate::plan::Demand;
use lastmile_units::Instant;
use std::cmp::Reverse;
use std::time::Duration;

impl Client {
    /// The next arrival of this share, and its number.
    pub(super) fn next_arrival(&mut self) -> Option<(Instant, u64)> {
        let (share, clients, start) = (self.share, self.plan.clients.get(), self.start);
        let schedule = self.schedule.as_mut()?;
        loop {
            let Some((number, nanos)) = schedule.peek() else {
                self.schedule = None;
                return None;
            };
            if share.has(*number as u64, clients) {
                return Some((start + Duration::from_nanos(*nanos), *number as u64));
            }
            schedule.next();
        }
    }

    /// The next request that may start by `now`.
    pub(super) fn next_due(&mut self, now: Instant) -> Option<Request> {
        let arrival = self.next_arrival().filter(|(at, _)| *at <= now);
        let due_at = self.due.next_at().filter(|at| *at <= now);
        if let Some((at, number)) = arrival
            && due_at.is_none_or(|due| at <= due)
        {
            self.schedule.as_mut()?.next();
            let Demand::Open { session, .. } = &self.plan.demand else {
                return None;
            };
            let client = (number % u64::from(self.plan.clients.get())) as u32;
            return Some(Request::first(at, client, session.requests.get() - 1));
        }
        due_at.and_then(|_| self.due.pop())
    }

    /// Begins a request over a connection that has room, or a new one; else it waits. `queued_until` is when it had waited enough, where it did.
    pub(super) fn dispatch(&mut self, request: Request, queued_until: Option<Instant>, now: Instant) {
        if let Some(id) = self.connection_with_room(request.client) {
            self.begin(id, request, queued_until, now);
        } else if self.may_open(request.client) {
            let id = self.open_connection(request.client);
            self.begin(id, request, queued_until, now);
            self.actions.push_back(Action::Connect(id));
            self.list(id);
        } else {
            self.queues.push(request);
        }
    }

    /// Begins requests that wait, as long as there is room for them.
    pub(super) fn serve_queue(&mut self, client: u32, now: Instant) {
        while self.queues.has(client) && (self.connection_with_room(client).is_some() || self.may_open(client)) {
            if let Some(request) = self.queues.pop(client) {
                self.dispatch(request, Some(now), now);
            }
        }
    }

    /// Lists a connection among those that may have room.
    pub(super) fn list(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connection_mut(id)
            && !connection.is_listed
        {
            connection.is_listed = true;
            let client = connection.client as usize;
            self.with_room[client].push(id);
        }
    }

    /// A connection of a client that has room for a request: the one that had it last.
    fn connection_with_room(&mut self, client: u32) -> Option<ConnectionId> {
        while let Some(id) = self.with_room[client as usize].last().copied() {
            let connection = self.connections.get_mut(id.index as usize);
            match connection.filter(|connection| connection.is_current(id.generation)) {
                Some(connection) if connection.has_room(&self.plan) => return Some(id),
                Some(connection) => connection.is_listed = false,
                None => {}
            }
            self.with_room[client as usize].pop();
        }
        None
    }

    /// Whether a client may open another connection.
    fn may_open(&self, client: u32) -> bool {
        let most = self.plan.connections_per_client.get();
        let most = if self.plan.clients.get() == 1 {
            self.share.of_count(most)
        } else {
            most
        };
        self.open[client as usize] < most
    }

    fn begin(&mut self, id: ConnectionId, request: Request, queued_until: Option<Instant>, now: Instant) {
        let serial = self.next_serial;
        self.next_serial += 1;
        self.in_flight += 1;
        let connection = &mut self.connections[id.index as usize];
        let stream = connection.begin(InFlight::new(request, serial, queued_until));
        let state = connection.state;
        let exchange = ExchangeId { connection: id, stream };
        self.timeouts
            .push(Reverse((request.released + self.plan.timeout, exchange, serial)));
        match state {
            State::Free | State::Opening => {}
            // Its service begins with the wait for the connection.
            State::Connecting | State::Securing => self.on_begun(exchange, now),
            State::Busy | State::Idle => {
                self.connections[id.index as usize].send(stream);
                self.write(id);
            }
        }
    }

    fn open_connection(&mut self, client: u32) -> ConnectionId {
        self.open[client as usize] += 1;
        self.connections_open += 1;
        let most = &mut self.measurement.connections_max;
        *most = self.connections_open.max(*most);
        let index = self.free.pop().unwrap_or_else(|| {
            self.connections.push(Connection::new(&self.plan));
            self.connections.len() as u32 - 1
        });
        let connection = &mut self.connections[index as usize];
        connection.client = client;
        connection.state = State::Opening;
        ConnectionId {
            index,
            generation: connection.generation,
        }
    }
}
