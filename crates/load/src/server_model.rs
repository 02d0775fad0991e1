//! A modelled HTTP server: requests queue for workers, and each is served for a random time. It is a program on a host of a world, and
//! speaks HTTP/1.1 over its streams.

mod service_time;

pub use service_time::{ServiceTime, ServiceTimeError};

use lastmile_units::{Bytes, Instant, Rng, Seed};
use lastmile_world::{Host, Listener};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::num::NonZeroU32;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;

/// A server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerModel {
    /// Requests that are served at once.
    pub workers: NonZeroU32,
    /// Requests that may wait for a worker. The connection of another one is closed without a response.
    pub backlog: u32,
    /// How long a worker serves a request. The workers wait rather than compute: a service time does not depend on the others.
    pub service_time: ServiceTime,
    /// The size of a response's body.
    pub body: Bytes,
    /// Whether connections stay open for further requests.
    pub keep_alive: bool,
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
            backlog: u32::MAX,
            service_time: ServiceTime::Constant(Duration::ZERO),
            body: Bytes::new(1_000),
            keep_alive: true,
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
        if self.backlog < u32::MAX {
            write!(f, ", at most {} waiting", self.backlog)?;
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
    workers: Semaphore,
    waiting: Cell<u32>,
    rng: RefCell<Rng>,
}

impl ServerModel {
    /// Serves on `port` of `host` until the world ends.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn start<H: Host>(&self, host: &H, port: u16, seed: Seed) -> io::Result<()> {
        let mut listener = host.listen(port)?;
        let began = host.now();
        let serving = Rc::new(Serving {
            model: self.clone(),
            stall: self.stall.as_ref().map(|stall| began + stall.start..began + stall.end),
            workers: Semaphore::new(self.workers.get() as usize),
            waiting: Cell::new(0),
            rng: RefCell::new(seed.derive("service time").rng()),
        });
        let accepting = host.clone();
        host.spawn(async move {
            while let Ok(stream) = listener.accept().await {
                let (serving, host) = (Rc::clone(&serving), accepting.clone());
                accepting.spawn(async move {
                    // A client that leaves is no fault of the server.
                    let _ = serving.serve_connection(&host, stream).await;
                });
            }
        });
        Ok(())
    }
}

impl Serving {
    async fn serve_connection<H: Host>(&self, host: &H, mut stream: H::Stream) -> io::Result<()> {
        let mut received = Vec::new();
        let body = vec![b'x'; PIECE];
        loop {
            let Some((length, asks_to_close)) = read_request(&mut stream, &mut received).await? else {
                return Ok(());
            };
            received.drain(..length);
            if !self.serve(host).await {
                return Ok(());
            }
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
            if closes {
                return stream.shutdown().await;
            }
        }
    }

    /// Waits for a worker, and for the end of the service; returns whether the request was served, as the queue may be full.
    async fn serve<H: Host>(&self, host: &H) -> bool {
        let _worker = match self.workers.try_acquire() {
            Ok(worker) => worker,
            Err(_) if self.waiting.get() >= self.model.backlog => return false,
            Err(_) => {
                self.waiting.set(self.waiting.get() + 1);
                let worker = self.workers.acquire().await;
                self.waiting.set(self.waiting.get() - 1);
                let Ok(worker) = worker else { return false };
                worker
            }
        };
        let service = self.model.service_time.draw(&mut self.rng.borrow_mut());
        let end = end_of_service(host.now(), service, self.stall.as_ref());
        host.sleep_until(end).await;
        true
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
        let mut fields = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut fields);
        match request.parse(received) {
            Ok(httparse::Status::Complete(length)) => {
                let asks_to_close = request.headers.iter().any(|field| {
                    field.name.eq_ignore_ascii_case("connection") && field.value.eq_ignore_ascii_case(b"close")
                });
                return Ok(Some((length, asks_to_close)));
            }
            Ok(httparse::Status::Partial) if received.len() < HEAD_MAX => {}
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
        if stream.read_buf(received).await? == 0 {
            return Ok(None);
        }
    }
}
