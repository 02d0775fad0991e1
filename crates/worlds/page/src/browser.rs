//! The simulated browser that loads a page: it opens connections as needed, and fetches and decompresses the responses.
//!
//! **Connections.** Over HTTP/1.1 at most six per host, as in Chromium (`g_max_sockets_per_group` in
//! net/socket/client_socket_pool_manager.cc) and Firefox (`network.http.max-persistent-connections-per-server`); requests that find no
//! free one wait by priority, then in order. Over HTTP/2 one per host. A request uses the connection that is ready first, even if another
//! was opened for it. Requests without cookies have connections of their own (`privacy_mode` in net/base/privacy_mode.h). If the first connection to a host is not established within 250 ms, a second is opened
//! (`kMaxConnectRetryIntervalMs` in net/socket/client_socket_pool.cc).
//!
//! **Requests** are made when what leads to them has arrived (`dependencies`), and sent when the browser's schedulers let them
//! (`request_scheduler`). The priorities of HTTP/2 streams are not sent: the servers answer in turns.
//!
//! **Not modelled**: DNS lookups, caches, request bodies, and the time to parse, run scripts and paint (it is part of the recorded gaps).

use crate::dependencies::Priority;
use crate::origin_server;
use crate::prerequisite_tracker::{PrerequisiteTracker, Waiter};
use crate::request_scheduler::{RequestClass, RequestScheduler};
use crate::request_timing::RequestTiming;
use crate::scripted_response::PageScript;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use lastmile_testbed::http::tls::ClientTls;
use lastmile_testbed::http::{Connection, HttpError, Version, handshake};
use lastmile_units::{ByteCount, Instant};
use lastmile_world::Host;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// An open connection.
struct Link {
    http: Connection<Empty<Bytes>>,
    /// Its number in the order in which connections are opened, from 0, of all hosts together.
    number: usize,
    /// How it was opened; the first request on it takes this.
    opening: Option<ConnectionOpening>,
}

impl Link {
    /// Another handle to the same connection; none for HTTP/1.1.
    fn share(&self) -> Option<Self> {
        let share = |http| Self {
            http,
            number: self.number,
            opening: None,
        };
        self.http.share().map(share)
    }
}

/// When the opening of a connection began, and when its TCP handshake ended.
#[derive(Debug, Clone, Copy)]
struct ConnectionOpening {
    started: Instant,
    established: Instant,
}

/// When a request is due, and why.
#[derive(Debug, Clone, Copy)]
struct DueRequest {
    at: Instant,
    /// The resource that it waited for last.
    waited_for: Option<usize>,
}

/// Connections per host over HTTP/1.1.
const CONNECTIONS_HTTP11: usize = 6;

/// Connections per host over HTTP/2.
const CONNECTIONS_H2: usize = 1;

/// If the first connection to a host is not established within this time, a second is opened.
const CONNECT_RETRY: Duration = Duration::from_millis(250);

/// A browser on a machine. Cloning gives another handle to it.
pub(crate) struct Browser<H> {
    host: H,
    script: Rc<PageScript>,
    pools: Rc<[RefCell<Pool>]>,
    /// The number of connections opened so far.
    opened: Rc<Cell<usize>>,
}

/// A server as the browser reaches it.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: SocketAddrV4,
    pub(crate) version: Version,
    /// None where connections are not encrypted.
    pub(crate) tls: Option<ClientTls>,
}

impl Server {
    /// The number of connections that it may have.
    const fn connections(&self) -> usize {
        connections_per_host(self.version)
    }
}

/// The most connections that a browser has to a host over a version of HTTP.
pub const fn connections_per_host(version: Version) -> usize {
    match version {
        Version::Http11 => CONNECTIONS_HTTP11,
        Version::H2 => CONNECTIONS_H2,
    }
}

/// The connections to one host, for requests with cookies or for those without.
struct Pool {
    server: Server,
    /// Idle connections; over HTTP/2 the one that all requests share.
    idle: Vec<Link>,
    /// The number of connections, including those being opened.
    opened: usize,
    /// Whether a TCP connection has ever been established.
    is_reached: bool,
    /// The requests that wait for a connection, the first to serve first.
    waiting: BTreeMap<QueueKey, oneshot::Sender<Result<Link, Rc<HttpError>>>>,
    /// How many requests have waited.
    waited: u64,
}

/// The order of requests in a queue for connections: by priority, then in order.
type QueueKey = (Reverse<Priority>, u64);

impl<H: Host> Clone for Browser<H> {
    fn clone(&self) -> Self {
        Self {
            host: self.host.clone(),
            script: Rc::clone(&self.script),
            pools: Rc::clone(&self.pools),
            opened: Rc::clone(&self.opened),
        }
    }
}

impl<H: Host> Browser<H> {
    pub(crate) fn new(host: H, script: Rc<PageScript>, servers: Vec<Server>) -> Self {
        let pool = |server| {
            RefCell::new(Pool {
                server,
                idle: Vec::new(),
                opened: 0,
                is_reached: false,
                waiting: BTreeMap::new(),
                waited: 0,
            })
        };
        Self {
            host,
            script,
            pools: servers
                .into_iter()
                .flat_map(|server| [server.clone(), server])
                .map(pool)
                .collect(),
            opened: Rc::default(),
        }
    }

    /// Opens every connection that the page can use, one after the other, and fetches `size` bytes over each, so that its congestion
    /// window grows.
    pub(crate) async fn warm(&self, size: ByteCount) -> Result<(), Rc<HttpError>> {
        for (at, pool) in self.pools.iter().enumerate() {
            let requests = self.script.responses.iter().filter(|response| response.pool() == at);
            let server = pool.borrow().server.clone();
            for _ in 0..server.connections().min(requests.count()) {
                let mut link = self.connect(at, &server).await.map_err(Rc::new)?;
                link.opening = None;
                let response = link.http.send(origin_server::warming(size)).await.map_err(Rc::new)?;
                let mut body = response.into_body();
                while let Some(frame) = body.frame().await {
                    frame.map_err(|error| Rc::new(HttpError::from(error)))?;
                }
                let mut pool = pool.borrow_mut();
                pool.idle.push(link);
                pool.opened += 1;
            }
        }
        Ok(())
    }

    /// Loads the page: fetches every response when it is due. Returns their times in the order of the page.
    pub(crate) async fn load(&self) -> Result<Vec<RequestTiming>, Rc<HttpError>> {
        let started = self.host.now();
        let responses = &self.script.responses;
        let prerequisites = responses.iter().map(|response| &*response.prerequisites);
        let (tracker, free) = PrerequisiteTracker::new(prerequisites, &self.script.body_begins);
        let classes = responses.iter().map(|response| RequestClass {
            host: response.host,
            priority: response.priority,
            is_throttled: response.is_throttled,
        });
        let scheduler = RequestScheduler::new(classes.collect());
        let (done, mut outcomes) = mpsc::unbounded_channel();
        let load = Load {
            browser: self.clone(),
            tracker: Rc::new(RefCell::new(tracker)),
            scheduler: Rc::new(RefCell::new(scheduler)),
            started,
            due: Rc::default(),
            done,
        };
        load.release(free, None);
        let mut loaded = BTreeMap::new();
        while loaded.len() < responses.len() {
            let (request, timing) = outcomes.recv().await.expect("this load holds a sender")?;
            loaded.insert(request, timing);
        }
        Ok(loaded.into_values().collect())
    }

    /// A connection of a pool that can take a request.
    async fn acquire(&self, at: usize, priority: Priority) -> Result<Link, Rc<HttpError>> {
        let slot = {
            let mut pool = self.pools[at].borrow_mut();
            if let Some(link) = pool.idle.pop() {
                if let Some(shared) = link.share() {
                    pool.idle.push(shared);
                }
                return Ok(link);
            }
            let most = pool.server.connections();
            if pool.opened < most {
                self.open(at, &mut pool);
                if pool.opened == 1 && most > 1 {
                    self.open_another_if_late(at);
                }
            }
            let (give, slot) = oneshot::channel();
            pool.waited += 1;
            let number = pool.waited;
            pool.waiting.insert((Reverse(priority), number), give);
            slot
        };
        slot.await.expect("a pool keeps those who wait until they are served")
    }

    fn open(&self, at: usize, pool: &mut Pool) {
        pool.opened += 1;
        let (browser, server) = (self.clone(), pool.server.clone());
        self.host.spawn(async move {
            match browser.connect(at, &server).await {
                Ok(link) => browser.release(at, link),
                Err(error) => {
                    let error = Rc::new(error);
                    let waiting = std::mem::take(&mut browser.pools[at].borrow_mut().waiting);
                    for give in waiting.into_values() {
                        let _ = give.send(Err(Rc::clone(&error)));
                    }
                }
            }
        });
    }

    async fn connect(&self, at: usize, server: &Server) -> Result<Link, HttpError> {
        let number = self.opened.replace(self.opened.get() + 1);
        let started = self.host.now();
        let stream = self.host.connect(server.address).await?;
        self.pools[at].borrow_mut().is_reached = true;
        let established = self.host.now();
        let http = handshake(&self.host, stream, server.version, server.tls.as_ref()).await?;
        Ok(Link {
            http,
            number,
            opening: Some(ConnectionOpening { started, established }),
        })
    }

    fn open_another_if_late(&self, at: usize) {
        let browser = self.clone();
        self.host.spawn(async move {
            browser.host.sleep_until(browser.host.now() + CONNECT_RETRY).await;
            let mut pool = browser.pools[at].borrow_mut();
            if !pool.is_reached && !pool.waiting.is_empty() && pool.opened < pool.server.connections() {
                browser.open(at, &mut pool);
            }
        });
    }

    /// Gives a connection to the first request in the queue, or to all if it can be shared; keeps it if none waits.
    fn release(&self, at: usize, mut link: Link) {
        let mut pool = self.pools[at].borrow_mut();
        if link.share().is_some() {
            for give in std::mem::take(&mut pool.waiting).into_values() {
                let mut shared = link.share().expect("a link that can be shared stays so");
                shared.opening = link.opening.take();
                let _ = give.send(Ok(shared));
            }
            if pool.idle.is_empty() {
                pool.idle.push(link);
            }
            return;
        }
        match pool.waiting.pop_first() {
            Some((_, give)) => {
                let _ = give.send(Ok(link));
            }
            None => pool.idle.push(link),
        }
    }
}

/// One load of a page. Cloning gives another handle to it.
struct Load<H> {
    browser: Browser<H>,
    tracker: Rc<RefCell<PrerequisiteTracker>>,
    scheduler: Rc<RefCell<RequestScheduler>>,
    started: Instant,
    /// The requests that are due, or have been.
    due: Rc<RefCell<BTreeMap<usize, DueRequest>>>,
    done: mpsc::UnboundedSender<Result<(usize, RequestTiming), Rc<HttpError>>>,
}

impl<H: Host> Clone for Load<H> {
    fn clone(&self) -> Self {
        Self {
            browser: self.browser.clone(),
            tracker: Rc::clone(&self.tracker),
            scheduler: Rc::clone(&self.scheduler),
            started: self.started,
            due: Rc::clone(&self.due),
            done: self.done.clone(),
        }
    }
}

impl<H: Host> Load<H> {
    /// Makes the requests that need not wait any longer, each after its gap. `waited_for` is the resource that they waited for last.
    fn release(&self, free: Vec<Waiter>, waited_for: Option<usize>) {
        let mut due: BTreeMap<Instant, Vec<usize>> = BTreeMap::new();
        for waiter in free {
            match waiter {
                Waiter::Body => {
                    self.scheduler.borrow_mut().loosen();
                    self.send();
                }
                Waiter::Request(request) => {
                    let at = self.browser.host.now() + self.browser.script.responses[request].gap;
                    due.entry(at).or_default().push(request);
                    self.due.borrow_mut().insert(request, DueRequest { at, waited_for });
                }
            }
        }
        for (at, requests) in due {
            let load = self.clone();
            self.browser.host.spawn(async move {
                load.browser.host.sleep_until(at).await;
                let mut startable = Vec::new();
                for request in requests {
                    let mut scheduler = load.scheduler.borrow_mut();
                    scheduler.ask(request);
                    startable.extend(scheduler.startable());
                }
                load.start(startable);
            });
        }
    }

    /// Sends the requests that the schedulers let through.
    fn send(&self) {
        let startable = self.scheduler.borrow_mut().startable();
        self.start(startable);
    }

    /// Sends requests of one moment: over HTTP/1.1 in their order, over HTTP/2 by priority, since a session writes its frames so
    /// (`SpdyWriteQueue` in net/spdy/spdy_write_queue.cc).
    fn start(&self, mut requests: Vec<usize>) {
        requests.sort_by_key(|request| {
            let response = &self.browser.script.responses[*request];
            let is_multiplexed = self.browser.pools[response.pool()].borrow().server.version == Version::H2;
            is_multiplexed.then_some(Reverse(response.priority))
        });
        for request in requests {
            let load = self.clone();
            self.browser.host.spawn(async move {
                let outcome = load.fetch(request).await.map(|timing| (request, timing));
                // The receiver is gone if loading the page was given up.
                if load.done.send(outcome).is_ok() {
                    load.scheduler.borrow_mut().end(request);
                    let free = load.tracker.borrow_mut().ended(request);
                    load.release(free, Some(request));
                    load.send();
                }
            });
        }
    }

    /// Reports the bytes that have been decoded: at once, or, of a document, when the browser has made a page for it.
    fn report(&self, read_from: Instant, request: usize, decoded: ByteCount) {
        if self.browser.host.now() >= read_from {
            let free = self.tracker.borrow_mut().decoded(request, decoded);
            self.release(free, Some(request));
            return;
        }
        let load = self.clone();
        self.browser.host.spawn(async move {
            load.browser.host.sleep_until(read_from).await;
            let free = load.tracker.borrow_mut().decoded(request, decoded);
            load.release(free, Some(request));
        });
    }

    async fn fetch(&self, request: usize) -> Result<RequestTiming, Rc<HttpError>> {
        let (browser, host) = (&self.browser, &self.browser.host);
        let scripted = &browser.script.responses[request];
        let queued = host.now();
        let mut link = browser.acquire(scripted.pool(), scripted.priority).await?;
        if browser.pools[scripted.pool()].borrow().server.version == Version::H2 {
            self.scheduler.borrow_mut().learn_multiplexing(scripted.host);
        }
        let connected = host.now();
        let (connection, opening) = (link.number, link.opening.take());
        host.compute(scripted.exchange.fetching).await;
        let sent = host.now();
        let response = link
            .http
            .send(origin_server::request(request, scripted))
            .await
            .map_err(Rc::new)?;
        let first_byte = host.now();
        let mut last_byte = first_byte;
        let mut body = response.into_body();
        let (mut read, mut computed, mut read_from) = (0, Duration::ZERO, None);
        let reading = scripted.decoding + scripted.exchange.opening;
        let size = u128::from(scripted.size.get().max(1));
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Rc::new(HttpError::from(error)))?;
            last_byte = host.now();
            read += frame.data_ref().map_or(0, Bytes::len) as u64;
            // Decryption and decompression keep pace with the data received; their parts add up to the whole.
            let due = Duration::from_nanos((u128::from(read) * reading.as_nanos() / size) as u64);
            host.compute(due.saturating_sub(computed)).await;
            computed = due;
            let decoded = ByteCount::new((u128::from(read) * u128::from(scripted.plain.get()) / size) as u64);
            let read_from = *read_from.get_or_insert(host.now() + scripted.commit);
            self.report(read_from, request, decoded);
        }
        assert_eq!(read, scripted.size.get(), "a server sends what was scripted");
        let decoded = host.now();
        browser.release(scripted.pool(), link);
        if let Some(read_from) = read_from {
            host.sleep_until(read_from).await;
        }
        let DueRequest { at, waited_for } = self.due.borrow()[&request];
        // A connection that was being opened before this request came to it delays the request for the rest of that time.
        let clipped = |time: Instant| time.clamp(queued, connected);
        let [unblocked, established] = opening.as_ref().map_or([connected; 2], |opening| {
            [opening.started, opening.established].map(clipped)
        });
        let since_start = |time: Instant| time - self.started;
        Ok(RequestTiming {
            waited_for,
            connection,
            opens_connection: opening.is_some(),
            start: since_start(at),
            unblocked: since_start(unblocked),
            established: since_start(established),
            connected: since_start(connected),
            sent: since_start(sent),
            first_byte: since_start(first_byte),
            last_byte: since_start(last_byte),
            decoded: since_start(decoded),
        })
    }
}
