//! A modelled HTTP server: requests queue for workers, and each is served for a random time. It is a program on a host of a world, and
//! speaks HTTP/1.1 or HTTP/2 over its streams.

mod http2;
mod service_time;

pub use service_time::{ServiceTime, ServiceTimeError};

use lastmile_testbed::http::Version;
use lastmile_testbed::http::tls::ServerTls;
use lastmile_units::{ByteCount, Instant, Rng, Seed};
use lastmile_world::{Host, Listener};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::num::NonZeroU32;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, Semaphore};

/// A server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerModel {
    /// Requests that are served at once.
    pub workers: NonZeroU32,
    /// Connections that may wait in the kernel until a worker is free to accept one, and one more (listen(2)): SYNs beyond them are
    /// dropped, and the client's TCP sends them again. None where connections are accepted at once, and their requests wait.
    pub backlog: Option<u32>,
    /// How long a worker serves a request. The workers wait rather than compute: a service time does not depend on the others.
    pub service_time: ServiceTime,
    /// The size of a response's body.
    pub body: ByteCount,
    /// Whether connections stay open for further requests.
    pub keep_alive: bool,
    /// Which version of HTTP it speaks.
    pub version: Version,
    /// Whether connections are secured by TLS 1.3, with the certificates of [`lastmile_testbed::http::tls::ServerTls`]. Encrypting takes no time.
    pub tls: bool,
    /// A time, from the start of the server, during which no work goes on.
    pub stall: Option<Range<Duration>>,
}

/// The maximum size of a request's head: our own choice.
const HEAD_MAX: usize = 64 * 1024;
/// The size of pieces in which a body is written: our own choice.
const PIECE: usize = 16 * 1024;

impl Default for ServerModel {
    /// One worker that serves at once, 1,000 bytes each.
    fn default() -> Self {
        Self {
            workers: NonZeroU32::MIN,
            backlog: None,
            service_time: ServiceTime::Constant(Duration::ZERO),
            body: ByteCount::new(1_000),
            keep_alive: true,
            version: Version::Http11,
            tls: false,
            stall: None,
        }
    }
}

impl fmt::Display for ServerModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            workers,
            service_time,
            body,
            ..
        } = self;
        let plural = if workers.get() == 1 { "" } else { "s" };
        write!(
            f,
            "{workers} worker{plural}, service time {service_time}, responses of {body}"
        )?;
        if let Some(backlog) = self.backlog {
            write!(f, ", a backlog of {backlog}")?;
        }
        if self.version == Version::H2 {
            f.write_str(", over HTTP/2")?;
        }
        if self.tls {
            f.write_str(", over TLS")?;
        }
        if !self.keep_alive {
            f.write_str(", connections closed after each response")?;
        }
        Ok(())
    }
}

/// What the connections share.
struct Serving {
    model: ServerModel,
    /// The stall, in the world's time.
    stall: Option<Range<Instant>>,
    tls: Option<ServerTls>,
    workers: Semaphore,
    /// Connections that were accepted, and whose first request has no worker yet.
    new_connections: Cell<usize>,
    /// A worker is free again, or a new connection has got one or is gone.
    changed: Notify,
    rng: RefCell<Rng>,
}

impl ServerModel {
    /// Serves on `port` of `host` until the world ends.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn start<H: Host>(&self, host: &H, port: u16, seed: Seed) -> io::Result<()> {
        let mut listener = match self.backlog {
            None => host.listen(port)?,
            Some(backlog) => host.listen_with_backlog(port, backlog)?,
        };
        let began = host.now();
        let serving = Rc::new(Serving {
            model: self.clone(),
            stall: self.stall.as_ref().map(|stall| began + stall.start..began + stall.end),
            tls: self.tls.then(|| ServerTls::new(self.version)),
            workers: Semaphore::new(self.workers.get() as usize),
            new_connections: Cell::new(0),
            changed: Notify::new(),
            rng: RefCell::new(seed.derive("service time").rng()),
        });
        let accepting = host.clone();
        host.spawn(async move {
            loop {
                serving.is_ready_to_accept().await;
                let Ok(stream) = listener.accept().await else { return };
                serving.new_connections.set(serving.new_connections.get() + 1);
                let (serving, host) = (Rc::clone(&serving), accepting.clone());
                accepting.spawn(async move {
                    // A client that leaves is no fault of the server.
                    let new = NewConnection::new(&serving);
                    let _ = match &serving.tls {
                        None => serving.serve_connection(&host, stream, new).await,
                        // Boxed: its state is large, and would be part of every connection without TLS.
                        Some(tls) => Box::pin(serving.serve_secured(&host, stream, tls, new)).await,
                    };
                });
            }
        });
        Ok(())
    }
}

/// A connection whose first request has no worker yet.
struct NewConnection(Cell<Option<Rc<Serving>>>);

impl NewConnection {
    fn new(serving: &Rc<Serving>) -> Self {
        Self(Cell::new(Some(Rc::clone(serving))))
    }

    fn has_worker(&self) {
        if let Some(serving) = self.0.take() {
            serving.new_connections.set(serving.new_connections.get() - 1);
            serving.changed.notify_one();
        }
    }
}

impl Drop for NewConnection {
    fn drop(&mut self) {
        self.has_worker();
    }
}

impl Serving {
    /// Waits until a worker is free for another connection, where connections wait for one.
    async fn is_ready_to_accept(&self) {
        while self.model.backlog.is_some() && self.new_connections.get() >= self.workers.available_permits() {
            self.changed.notified().await;
        }
    }

    async fn serve_secured<H: Host>(
        self: &Rc<Self>,
        host: &H,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        tls: &ServerTls,
        new: NewConnection,
    ) -> io::Result<()> {
        let stream = tls.accept(stream).await?;
        self.serve_connection(host, stream, new).await
    }

    async fn serve_connection<H: Host>(
        self: &Rc<Self>,
        host: &H,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        new: NewConnection,
    ) -> io::Result<()> {
        match self.model.version {
            Version::Http11 => self.serve_http1(host, stream, &new).await,
            Version::H2 => Box::pin(self.serve_http2(host, stream, new)).await,
        }
    }

    async fn serve_http1<H: Host>(
        &self,
        host: &H,
        mut stream: impl AsyncRead + AsyncWrite + Unpin,
        new: &NewConnection,
    ) -> io::Result<()> {
        let mut received = Vec::new();
        let body = vec![b'x'; self.model.body.get().min(PIECE as u64) as usize];
        loop {
            let Some((length, asks_to_close)) = read_request(&mut stream, &mut received).await? else {
                return Ok(());
            };
            received.drain(..length);
            self.serve(host, new).await;
            let closes = asks_to_close || !self.model.keep_alive;
            let connection = if closes { "close" } else { "keep-alive" };
            let mut left = self.model.body.get();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {left}\r\nConnection: {connection}\r\n\r\n");
            // A small body goes with its head.
            let first = left.min(PIECE as u64) as usize;
            stream.write_all(&[head.as_bytes(), &body[..first]].concat()).await?;
            left -= first as u64;
            while left > 0 {
                let piece = left.min(PIECE as u64) as usize;
                stream.write_all(&body[..piece]).await?;
                left -= piece as u64;
            }
            stream.flush().await?;
            if closes {
                return stream.shutdown().await;
            }
        }
    }

    /// Waits for a worker, and for the end of the service.
    async fn serve<H: Host>(&self, host: &H, new: &NewConnection) {
        // The semaphore is never closed.
        let worker = self.workers.acquire().await;
        new.has_worker();
        let service = self.model.service_time.draw(&mut self.rng.borrow_mut());
        let end = end_of_service(host.now(), service, self.stall.as_ref());
        host.sleep_until(end).await;
        drop(worker);
        self.changed.notify_one();
    }
}

/// When a service that begins at `start` ends: no work goes on during the stall.
fn end_of_service(start: Instant, service: Duration, stall: Option<&Range<Instant>>) -> Instant {
    let end = start + service;
    match stall {
        Some(stall) if start < stall.end && end > stall.start => end + (stall.end - start.max(stall.start)),
        _ => end,
    }
}

/// Reads up to the end of a request's head; returns its length, and whether it asks to close. None at the end of the connection.
async fn read_request(
    stream: &mut (impl AsyncReadExt + Unpin),
    received: &mut Vec<u8>,
) -> io::Result<Option<(usize, bool)>> {
    loop {
        if let Some(head) = request_head(received)? {
            return Ok(Some(head));
        }
        if stream.read_buf(received).await? == 0 {
            return Ok(None);
        }
    }
}

/// The length of a request's head, and whether it asks to close; none where its end has not been received.
fn request_head(received: &[u8]) -> io::Result<Option<(usize, bool)>> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(received) {
        Ok(httparse::Status::Complete(length)) => {
            let asks_to_close = request.headers.iter().any(|field| {
                field.name.eq_ignore_ascii_case("connection") && field.value.eq_ignore_ascii_case(b"close")
            });
            Ok(Some((length, asks_to_close)))
        }
        Ok(httparse::Status::Partial) if received.len() < HEAD_MAX => Ok(None),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
