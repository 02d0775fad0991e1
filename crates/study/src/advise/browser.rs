//! How does a browser load a page? It opens connections as it needs them, asks, reads, decodes, and goes on to what waited for that.
//!
//! **Connections.** Over HTTP/1.1 at most six a host, as Chromium (`g_max_sockets_per_group` in net/socket/client_socket_pool_manager.cc)
//! and Firefox (`network.http.max-persistent-connections-per-server`) have it; requests that find none free wait in order. Over
//! HTTP/2 one a host. A request goes out over the connection that is ready first, be it the one that was opened for it or not.
//!
//! **Not modelled**: looking up names, caches, priorities, the time it takes to parse, run scripts and paint (the gaps of the recording
//! hold it), bodies of requests.

use super::order::Order;
use super::site;
use crate::http::tls::ClientTls;
use crate::http::{Connection, HttpError, Version, connect};
use bytes::Bytes as Octets;
use http_body_util::{BodyExt, Empty};
use lastmile_units::{Bytes, Instant};
use lastmile_world::Host;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::SocketAddrV4;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

type Link = Connection<Empty<Octets>>;

/// Connections a host over HTTP/1.1.
pub(super) const CONNECTIONS_HTTP11: usize = 6;

/// Connections a host over HTTP/2.
pub(super) const CONNECTIONS_H2: usize = 1;

/// How a response went.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loaded {
    pub(super) place: usize,
    /// When its request was sent: it had a connection by then.
    pub(super) asked: Instant,
    /// When its last octet was decoded.
    pub(super) decoded: Instant,
}

/// A browser on a machine. Cloning gives another handle to it.
pub(super) struct Browser<H> {
    host: H,
    version: Version,
    tls: Option<ClientTls>,
    orders: Rc<[Order]>,
    pools: Rc<[RefCell<Pool>]>,
}

/// The connections to one host.
struct Pool {
    address: SocketAddrV4,
    /// Those that nobody uses; over HTTP/2 the one, which all share.
    idle: Vec<Link>,
    /// How many there are, those being opened among them.
    opened: usize,
    waiting: VecDeque<oneshot::Sender<Result<Link, Rc<HttpError>>>>,
}

impl<H: Host> Clone for Browser<H> {
    fn clone(&self) -> Self {
        let (orders, pools) = (Rc::clone(&self.orders), Rc::clone(&self.pools));
        Self {
            host: self.host.clone(),
            version: self.version,
            tls: self.tls.clone(),
            orders,
            pools,
        }
    }
}

impl<H: Host> Browser<H> {
    pub(super) fn new(
        host: H,
        version: Version,
        tls: Option<ClientTls>,
        orders: Rc<[Order]>,
        servers: &[SocketAddrV4],
    ) -> Self {
        let pool = |address: &SocketAddrV4| {
            RefCell::new(Pool {
                address: *address,
                idle: Vec::new(),
                opened: 0,
                waiting: VecDeque::new(),
            })
        };
        Self {
            host,
            version,
            tls,
            orders,
            pools: servers.iter().map(pool).collect(),
        }
    }

    fn connections(&self) -> usize {
        match self.version {
            Version::Http11 => CONNECTIONS_HTTP11,
            Version::H2 => CONNECTIONS_H2,
        }
    }

    /// Opens every connection that the page can use, one after the other, and fetches so many octets over each, so that its congestion
    /// window has grown.
    pub(super) async fn warm(&self, size: Bytes) -> Result<(), Rc<HttpError>> {
        for (server, pool) in self.pools.iter().enumerate() {
            let requests = self.orders.iter().filter(|order| order.host == server).count();
            for _ in 0..self.connections().min(requests) {
                let address = pool.borrow().address;
                let mut link = connect(&self.host, address, self.version, self.tls.as_ref())
                    .await
                    .map_err(Rc::new)?;
                let response = link.send(site::warming(size)).await.map_err(Rc::new)?;
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

    /// Loads the page: every order, as its turn comes. In the order in which they were done.
    pub(super) async fn load(&self) -> Result<Vec<Loaded>, Rc<HttpError>> {
        let (done, mut outcomes) = mpsc::unbounded_channel();
        let dependents: Vec<bool> = self.waits_for_another();
        for place in (0..self.orders.len()).filter(|place| !dependents[*place]) {
            self.start(place, done.clone());
        }
        drop(done);
        let mut loaded = Vec::with_capacity(self.orders.len());
        while let Some(outcome) = outcomes.recv().await {
            loaded.push(outcome?);
        }
        Ok(loaded)
    }

    fn waits_for_another(&self) -> Vec<bool> {
        let mut waits = vec![false; self.orders.len()];
        for place in self.orders.iter().flat_map(|order| &order.dependents) {
            waits[*place] = true;
        }
        waits
    }

    /// Runs one order beside the others, and when it is done starts those that waited for it.
    fn start(&self, place: usize, done: mpsc::UnboundedSender<Result<Loaded, Rc<HttpError>>>) {
        let browser = self.clone();
        self.host.spawn(async move {
            let outcome = browser.fetch(place).await;
            let failed = outcome.is_err();
            // Whoever waits for the page may have given it up.
            let _ = done.send(outcome);
            if !failed {
                for dependent in &browser.orders[place].dependents {
                    browser.start(*dependent, done.clone());
                }
            }
        });
    }

    async fn fetch(&self, place: usize) -> Result<Loaded, Rc<HttpError>> {
        let order = &self.orders[place];
        self.host.sleep_until(self.host.now() + order.gap).await;
        let mut link = self.acquire(order.host).await?;
        let asked = self.host.now();
        self.host.compute(order.exchange.fetching).await;
        let response = link.send(site::request(place, order)).await.map_err(Rc::new)?;
        let mut body = response.into_body();
        let (mut read, mut computed) = (0, Duration::ZERO);
        let reading = order.decoding + order.exchange.opening;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Rc::new(HttpError::from(error)))?;
            read += frame.data_ref().map_or(0, Octets::len) as u64;
            // Opening and decoding keep step with what has come; their parts add up to the whole.
            let share = u128::from(read) * reading.as_nanos() / u128::from(order.size.get().max(1));
            let due = Duration::from_nanos(share as u64);
            self.host.compute(due.saturating_sub(computed)).await;
            computed = due;
        }
        debug_assert_eq!(read, order.size.get(), "a server sends what was ordered");
        let decoded = self.host.now();
        self.release(order.host, link);
        Ok(Loaded { place, asked, decoded })
    }

    /// A connection to `server` that can take a request.
    async fn acquire(&self, server: usize) -> Result<Link, Rc<HttpError>> {
        let place = {
            let mut pool = self.pools[server].borrow_mut();
            if let Some(link) = pool.idle.pop() {
                if let Some(shared) = link.share() {
                    pool.idle.push(shared);
                }
                return Ok(link);
            }
            if pool.opened < self.connections() {
                pool.opened += 1;
                self.open(server, pool.address);
            }
            let (give, place) = oneshot::channel();
            pool.waiting.push_back(give);
            place
        };
        place.await.expect("a pool keeps those who wait until they are served")
    }

    fn open(&self, server: usize, address: SocketAddrV4) {
        let browser = self.clone();
        self.host.spawn(async move {
            match connect(&browser.host, address, browser.version, browser.tls.as_ref()).await {
                Ok(link) => browser.release(server, link),
                Err(error) => {
                    let error = Rc::new(error);
                    for waiting in browser.pools[server].borrow_mut().waiting.drain(..) {
                        let _ = waiting.send(Err(Rc::clone(&error)));
                    }
                }
            }
        });
    }

    /// Hands a connection to who has waited longest, or, where it can be shared, to all; else keeps it.
    fn release(&self, server: usize, link: Link) {
        let mut pool = self.pools[server].borrow_mut();
        if link.share().is_some() {
            while let Some(waiting) = pool.waiting.pop_front() {
                let _ = waiting.send(
                    link.share()
                        .ok_or_else(|| unreachable!("a link that can be shared stays so")),
                );
            }
            if pool.idle.is_empty() {
                pool.idle.push(link);
            }
            return;
        }
        match pool.waiting.pop_front() {
            Some(waiting) => {
                let _ = waiting.send(Ok(link));
            }
            None => pool.idle.push(link),
        }
    }
}
