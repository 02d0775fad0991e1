//! Which request is next, and over which connection it goes: one that is idle, a new one, or none yet.

use super::connection::{Connection, InFlight, State};
use super::{Action, Client, ConnectionId, Request};
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

    /// Begins a request over a connection that is idle, or a new one; else it waits.
    pub(super) fn dispatch(&mut self, request: Request) {
        let client = request.client as usize;
        while let Some(id) = self.idle[client].pop() {
            if self
                .connection(id)
                .is_some_and(|connection| connection.state == State::Idle)
            {
                self.begin(id, request, State::Busy);
                self.actions.push_back(Action::Write(id));
                return;
            }
        }
        let most = self.plan.connections_per_client.get();
        let most = if self.plan.clients.get() == 1 {
            self.share.of_count(most)
        } else {
            most
        };
        if self.open[client] < most {
            let id = self.open_connection();
            self.open[client] += 1;
            self.begin(id, request, State::Opening);
            self.actions.push_back(Action::Connect(id));
        } else {
            self.queues.push(request);
        }
    }

    pub(super) fn begin(&mut self, id: ConnectionId, request: Request, state: State) {
        let serial = self.next_serial;
        self.next_serial += 1;
        self.in_flight += 1;
        self.timeouts
            .push(Reverse((request.released + self.plan.timeout, id, serial)));
        self.connections[id.index as usize].begin(InFlight::new(request, serial), state);
    }

    fn open_connection(&mut self) -> ConnectionId {
        self.connections_open += 1;
        let most = &mut self.measurement.connections_max;
        *most = self.connections_open.max(*most);
        let index = self.free.pop().unwrap_or_else(|| {
            self.connections.push(Connection::new(&self.plan.request));
            self.connections.len() as u32 - 1
        });
        ConnectionId {
            index,
            generation: self.connections[index as usize].generation,
        }
    }
}
