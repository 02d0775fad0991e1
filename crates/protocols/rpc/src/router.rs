//! Routes one-way calls of back ends to clients, in batches: what Glacier, the router of Ice, does.
//!
//! Clients hold sessions. A back end reaches only the clients and operations that an [`AllowList`] names. The router gathers the calls of all
//! back ends for a client, and hands them out as batches whenever the client's connection can take one. [`Router`] is given calls and times
//! and returns batches: the simulated and the emulated world and [`server`] drive it.
//!
//! A queue is bounded by its bytes. A call that finds it full is refused, and counted: a client that does not read neither takes memory nor delays
//! others. Every call that was offered is accounted for ([`Counters`]), and none is handed out twice.

mod allow_list;
pub mod server;

pub use allow_list::{AllowList, AllowListError};

use crate::batch::BatchLimits;
use crate::ice::Invocation;
use lastmile_units::{ByteCount, Instant};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// The settings of a router.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Who may call what.
    pub allowed: AllowList,
    /// When a batch is sent. The delay bounds how long a call waits for others; without one, a batch is sent as soon as the connection is free.
    pub batch: BatchLimits,
    /// The bytes of calls that may wait for one client.
    pub queue: ByteCount,
}

/// What became of the calls of a router, or of one client. Offered calls are those refused, waiting, on the way, written and lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Calls that back ends made.
    pub offered: u64,
    /// Those that the allow-list does not name.
    pub forbidden: u64,
    /// Those for a client without a session.
    pub without_session: u64,
    /// Those that found the client's queue full.
    pub queue_full: u64,
    /// Those in a queue.
    pub waiting: u64,
    /// Those in a batch that is being written.
    pub on_the_way: u64,
    /// Those whose batch was written to the client's connection.
    pub written: u64,
    /// Those that waited or were on the way when the session ended.
    pub lost: u64,
}

impl Counters {
    /// Whether every offered call is accounted for.
    pub const fn is_complete(&self) -> bool {
        let refused = self.forbidden + self.without_session + self.queue_full;
        self.offered == refused + self.waiting + self.on_the_way + self.written + self.lost
    }
}

/// Why a call is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The allow-list does not name it.
    #[error("the allow-list does not let this back end call this operation of this client")]
    Forbidden,
    /// The client has no session.
    #[error("the client has no session")]
    WithoutSession,
    /// The client's queue is full.
    #[error("the client's queue is full")]
    QueueFull,
}

/// A session of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(u64);

struct Session {
    client: String,
    queue: VecDeque<Waiting>,
    bytes: ByteCount,
    /// The calls of the batch that is being written.
    on_the_way: usize,
}

struct Waiting {
    call: Invocation,
    bytes: ByteCount,
    since: Instant,
}

/// How many back ends get a remark, on their first forbidden call: our own choice.
const REMARKS_MAX: usize = 100;

/// The router.
pub struct Router {
    settings: Settings,
    sessions: BTreeMap<SessionId, Session>,
    /// The session of each client.
    clients: BTreeMap<String, SessionId>,
    next: u64,
    counters: Counters,
    /// The back ends of which a call was forbidden.
    forbidden: BTreeSet<String>,
    /// The remarks on the first forbidden call of each.
    remarks: Vec<String>,
}

impl Router {
    /// A router without sessions.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            sessions: BTreeMap::new(),
            clients: BTreeMap::new(),
            next: 0,
            counters: Counters::default(),
            forbidden: BTreeSet::new(),
            remarks: Vec::new(),
        }
    }

    /// Begins a session of a client. An earlier session of the same client ends, as its connection is probably dead.
    pub fn begin_session(&mut self, client: &str) -> SessionId {
        if let Some(earlier) = self.clients.get(client).copied() {
            self.end_session(earlier);
        }
        let id = SessionId(self.next);
        self.next += 1;
        let session = Session {
            client: client.to_owned(),
            queue: VecDeque::new(),
            bytes: ByteCount::ZERO,
            on_the_way: 0,
        };
        self.sessions.insert(id, session);
        self.clients.insert(client.to_owned(), id);
        id
    }

    /// Ends a session. The calls that wait for it, or are on the way, are lost.
    pub fn end_session(&mut self, id: SessionId) {
        let Some(session) = self.sessions.remove(&id) else {
            return;
        };
        self.clients.remove(&session.client);
        let (waiting, on_the_way) = (session.queue.len() as u64, session.on_the_way as u64);
        self.counters.waiting -= waiting;
        self.counters.on_the_way -= on_the_way;
        self.counters.lost += waiting + on_the_way;
    }

    /// Takes the remarks on forbidden calls: one for the first of each back end.
    pub fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    /// Whether the session still is that of its client.
    pub fn has_session(&self, id: SessionId) -> bool {
        self.sessions.contains_key(&id)
    }

    /// Takes a one-way call of a back end for the client that the category of its identity names, and returns the session that it waits for.
    ///
    /// # Errors
    /// Why it is refused; it is then counted.
    pub fn offer(&mut self, back_end: &str, call: Invocation, now: Instant) -> Result<SessionId, Refusal> {
        self.counters.offered += 1;
        let client = &call.identity.category;
        if !self.settings.allowed.allows(back_end, client, &call.operation) {
            self.counters.forbidden += 1;
            if self.forbidden.len() < REMARKS_MAX && self.forbidden.insert(back_end.to_owned()) {
                self.remarks.push(format!(
                    "no rule lets the back end {back_end:?} call {} of the client {client:?}: its calls are dropped, and counted as forbidden",
                    call.operation
                ));
            }
            return Err(Refusal::Forbidden);
        }
        let session = self
            .clients
            .get(client)
            .and_then(|id| Some((*id, self.sessions.get_mut(id)?)));
        let Some((id, session)) = session else {
            self.counters.without_session += 1;
            return Err(Refusal::WithoutSession);
        };
        let bytes = ByteCount::from(call.encoded_length());
        if session.bytes + bytes > self.settings.queue {
            self.counters.queue_full += 1;
            return Err(Refusal::QueueFull);
        }
        session.bytes += bytes;
        session.queue.push_back(Waiting {
            call,
            bytes,
            since: now,
        });
        self.counters.waiting += 1;
        Ok(id)
    }

    /// The next batch of a session whose connection is free, if it is complete or due. [`Self::written`] must follow before the next.
    pub fn take_batch(&mut self, id: SessionId, now: Instant) -> Option<Vec<Invocation>> {
        let limits = self.settings.batch;
        let session = self.sessions.get_mut(&id).filter(|session| session.on_the_way == 0)?;
        if session.queue.is_empty() || !is_complete(limits, session) && due(limits, session)? > now {
            return None;
        }
        let mut taken = ByteCount::ZERO;
        let mut batch = Vec::new();
        while let Some(first) = session.queue.front() {
            let fits = limits.bytes.is_none_or(|limit| taken + first.bytes <= limit);
            if batch.len() >= limits.calls.get() || !batch.is_empty() && !fits {
                break;
            }
            taken += first.bytes;
            batch.extend(session.queue.pop_front().map(|waiting| waiting.call));
        }
        session.bytes -= taken;
        session.on_the_way = batch.len();
        self.counters.waiting -= batch.len() as u64;
        self.counters.on_the_way += batch.len() as u64;
        Some(batch)
    }

    /// The batch of a session was written to its connection, which is free again.
    pub fn written(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.get_mut(&id) {
            let calls = std::mem::take(&mut session.on_the_way) as u64;
            self.counters.on_the_way -= calls;
            self.counters.written += calls;
        }
    }

    /// When [`Self::take_batch`] returns the next batch of a session although nothing more is offered; none where nothing waits.
    pub fn due(&self, id: SessionId) -> Option<Instant> {
        let session = self.sessions.get(&id)?;
        if is_complete(self.settings.batch, session) {
            return session.queue.front().map(|first| first.since);
        }
        due(self.settings.batch, session)
    }

    /// What became of all calls so far.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// The bytes of calls that wait for a session.
    pub fn waiting_bytes(&self, id: SessionId) -> ByteCount {
        self.sessions.get(&id).map_or(ByteCount::ZERO, |session| session.bytes)
    }
}

fn is_complete(limits: BatchLimits, session: &Session) -> bool {
    session.queue.len() >= limits.calls.get() || limits.bytes.is_some_and(|limit| session.bytes >= limit)
}

/// When the first call has waited for as long as it may.
fn due(limits: BatchLimits, session: &Session) -> Option<Instant> {
    let first = session.queue.front()?;
    Some(first.since + limits.delay.unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests;
