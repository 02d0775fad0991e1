//! The router over real sockets: a thread for each connection, and one more for each session, which writes its batches.
//!
//! Clients and back ends speak the Ice protocol. A client begins its session with a two-way call of `createSession` to the object `router`,
//! whose category is the client's name; batches then come over the same connection. A back end registers likewise, with `register` and its own
//! name, and then makes one-way calls of objects whose category is the name of a client. `ping` of the router is answered when the calls before
//! it have been offered.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "this module alone has sockets and a clock: it drives the router that real programs use"
)]

use super::{Counters, Router, SessionId, Settings};
use crate::ice::{self, CompressionPolicy, Encapsulation, Message, Reader, ReplyStatus};
use lastmile_units::Instant;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The connections that are open at the same time: our own choice. Others are closed at once.
const CONNECTIONS_MAX: usize = 1000;
/// The longest time that a client may take for a batch before its session ends: our own choice.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// The name of the router's own object.
const ROUTER: &str = "router";

/// A router that runs.
pub struct Server {
    shared: Arc<Shared>,
    /// Where clients connect to.
    pub clients: SocketAddr,
    /// Where back ends connect to.
    pub back_ends: SocketAddr,
}

struct Shared {
    router: Mutex<Router>,
    /// Something was offered, written, or has ended.
    changed: Condvar,
    compression: Option<(u32, CompressionPolicy)>,
    start: std::time::Instant,
    connections: AtomicUsize,
}

impl Server {
    /// Runs a router on these sockets until the program ends. Batches are compressed as `compression` says: a level of bzip2, and when.
    ///
    /// # Errors
    /// Where a socket is of no use.
    pub fn start(
        settings: Settings,
        compression: Option<(u32, CompressionPolicy)>,
        clients: TcpListener,
        back_ends: TcpListener,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            router: Mutex::new(Router::new(settings)),
            changed: Condvar::new(),
            compression,
            start: std::time::Instant::now(),
            connections: AtomicUsize::new(0),
        });
        let server = Self {
            clients: clients.local_addr()?,
            back_ends: back_ends.local_addr()?,
            shared: Arc::clone(&shared),
        };
        accept(clients, &shared, serve_client);
        accept(back_ends, &shared, serve_back_end);
        Ok(server)
    }

    /// Takes the remarks on forbidden calls: one for the first of each back end.
    pub fn take_remarks(&self) -> Vec<String> {
        self.shared.router().take_remarks()
    }

    /// What became of all calls so far.
    pub fn counters(&self) -> Counters {
        self.shared.router().counters()
    }
}

impl Shared {
    fn router(&self) -> MutexGuard<'_, Router> {
        // A thread that panicked did so between two calls of the router, which leave it whole.
        self.router.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Instant {
        Instant::START + self.start.elapsed()
    }
}

/// Accepts connections in a thread of its own, and serves each in another.
fn accept(listener: TcpListener, shared: &Arc<Shared>, serve: fn(&Arc<Shared>, TcpStream) -> io::Result<()>) {
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Such as too many open files: others may close theirs.
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            if shared.connections.load(Ordering::Relaxed) >= CONNECTIONS_MAX {
                continue;
            }
            shared.connections.fetch_add(1, Ordering::Relaxed);
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                // A connection that fails has ended; its calls are counted by the router.
                let _ = serve(&shared, stream);
                shared.connections.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
}

/// A connection from whose peer messages are read.
struct Connection {
    stream: TcpStream,
    reader: Reader,
    buffer: Vec<u8>,
}

impl Connection {
    fn open(mut stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.write_all(&Message::Validate.encode())?;
        Ok(Self {
            stream,
            reader: Reader::default(),
            buffer: vec![0; 64 << 10],
        })
    }

    /// The next message; none at the end of the connection.
    fn next(&mut self) -> io::Result<Option<Message>> {
        loop {
            match self.reader.next_message() {
                Ok(Some((Message::Close, _))) => return Ok(None),
                Ok(Some((message, _))) => return Ok(Some(message)),
                Ok(None) => {}
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
            }
            match self.stream.read(&mut self.buffer)? {
                0 => return Ok(None),
                length => self.reader.push(&self.buffer[..length]),
            }
        }
    }

    /// The name that the peer's first call of the router's `operation` has as its category; answers that call.
    fn introduction(&mut self, operation: &str) -> io::Result<Option<String>> {
        while let Some(message) = self.next()? {
            let Message::Request { id, invocation } = message else {
                return Ok(None);
            };
            let is_wanted = invocation.identity.name == ROUTER && invocation.operation == operation;
            if id == 0 || !is_wanted {
                self.refuse(id, &format!("the first call is {operation} of the object {ROUTER}"))?;
                continue;
            }
            if invocation.identity.category.is_empty() {
                self.refuse(id, &format!("your name is missing: call {operation} of the object NAME/{ROUTER}, whose category is your name"))?;
                continue;
            }
            self.confirm(id)?;
            return Ok(Some(invocation.identity.category));
        }
        Ok(None)
    }

    fn confirm(&mut self, id: u32) -> io::Result<()> {
        let status = ReplyStatus::Success(Encapsulation::new(Vec::new()));
        self.stream.write_all(&Message::Reply { id, status }.encode())
    }

    /// Answers a two-way call that the router does not carry out; one-way calls have no answer.
    fn refuse(&mut self, id: u32, reason: &str) -> io::Result<()> {
        if id == 0 {
            return Ok(());
        }
        let (status, reason) = (5, reason.to_owned());
        let status = ReplyStatus::Unknown { status, reason };
        self.stream.write_all(&Message::Reply { id, status }.encode())
    }
}

fn serve_client(shared: &Arc<Shared>, stream: TcpStream) -> io::Result<()> {
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let mut connection = Connection::open(stream)?;
    let Some(client) = connection.introduction("createSession")? else {
        return Ok(());
    };
    let writing = connection.stream.try_clone()?;
    let id = shared.router().begin_session(&client);
    shared.changed.notify_all();
    let writer = {
        let shared = Arc::clone(shared);
        thread::spawn(move || write_batches(&shared, id, writing))
    };
    // A client calls nothing: whatever it sends, its session ends with its connection.
    let ended = loop {
        match connection.next() {
            Ok(Some(_)) => {}
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    end_session(shared, id);
    // A writer that waits for the client is waiting in vain.
    let _ = connection.stream.shutdown(Shutdown::Both);
    // A writer that panicked has ended.
    let _ = writer.join();
    ended
}

fn end_session(shared: &Shared, id: SessionId) {
    shared.router().end_session(id);
    shared.changed.notify_all();
}

/// Writes the batches of a session until it ends.
fn write_batches(shared: &Shared, id: SessionId, mut stream: TcpStream) {
    while let Some(mut calls) = next_batch(shared, id) {
        let message = match calls.len() {
            1 => Message::Request {
                id: 0,
                invocation: calls.remove(0),
            },
            _ => Message::Batch(calls),
        };
        let encoded = message.encode();
        let encoded = match shared.compression {
            Some((level, policy)) => ice::compress(encoded, level, policy),
            None => encoded,
        };
        if stream.write_all(&encoded).is_err() {
            end_session(shared, id);
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
        shared.router().written(id);
    }
}

/// Waits for the next batch of a session; none where it has ended.
fn next_batch(shared: &Shared, id: SessionId) -> Option<Vec<ice::Invocation>> {
    let mut router = shared.router();
    while router.has_session(id) {
        let now = shared.now();
        if let Some(batch) = router.take_batch(id, now) {
            return Some(batch);
        }
        let until = router
            .due(id)
            .map_or(Duration::from_secs(1), |due| due.saturating_since(now));
        let waited = shared
            .changed
            .wait_timeout(router, until.max(Duration::from_micros(50)));
        router = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
    None
}

fn serve_back_end(shared: &Arc<Shared>, stream: TcpStream) -> io::Result<()> {
    let mut connection = Connection::open(stream)?;
    let Some(back_end) = connection.introduction("register")? else {
        return Ok(());
    };
    while let Some(message) = connection.next()? {
        match message {
            Message::Request { id: 0, invocation } => offer(shared, &back_end, vec![invocation]),
            Message::Batch(calls) => offer(shared, &back_end, calls),
            Message::Request { id, invocation } => {
                if invocation.identity.name == ROUTER && invocation.operation == "ping" {
                    connection.confirm(id)?;
                } else {
                    connection.refuse(id, "only one-way calls are routed")?;
                }
            }
            Message::Reply { .. } | Message::Validate | Message::Close => {}
        }
    }
    Ok(())
}

fn offer(shared: &Shared, back_end: &str, calls: Vec<ice::Invocation>) {
    let mut router = shared.router();
    let now = shared.now();
    for call in calls {
        // A refused call is counted.
        let _ = router.offer(back_end, call, now);
    }
    drop(router);
    shared.changed.notify_all();
}
