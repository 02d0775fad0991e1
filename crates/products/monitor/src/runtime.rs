//! What a sensor and a client need of the place where they run: connections to a monitor, and the time.

use bytes::Bytes;
use futures_util::future::{self, Either};
use http_body_util::Full;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use lastmile_events::{Chunk, Timestamp};
use std::io;
use std::pin::pin;
use std::time::Duration;
use tokio::net::TcpStream;

/// The place where a sensor or a client runs: this machine ([`TokioRuntime`]), or a host of a world. Cloning gives another handle to it.
pub trait Runtime: Clone {
    /// Opens a connection for HTTP/1.1 to an authority, `HOST:PORT`.
    fn connect(&self, authority: &str) -> impl Future<Output = io::Result<SendRequest<Full<Bytes>>>>;

    /// Sleeps so long.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()>;

    /// The time since a fixed moment. It grows evenly, even where the date is set anew.
    fn uptime(&self) -> Duration;

    /// The date.
    fn now(&self) -> Timestamp;

    /// Lets the time pass that a sensor computes for an application's chunk. On a machine it passes by itself.
    fn compute_for(&self, chunk: &Chunk) -> impl Future<Output = ()>;
}

/// What `work` returns; `None` if it takes longer than `time`.
pub(crate) async fn within<R: Runtime, T>(runtime: &R, time: Duration, work: impl Future<Output = T>) -> Option<T> {
    match future::select(pin!(work), pin!(runtime.sleep(time))).await {
        Either::Left((output, _)) => Some(output),
        Either::Right(_) => None,
    }
}

/// This machine, with tokio's sockets and timers.
#[derive(Debug, Clone, Copy)]
pub struct TokioRuntime {
    start: tokio::time::Instant,
}

impl Default for TokioRuntime {
    fn default() -> Self {
        Self {
            start: tokio::time::Instant::now(),
        }
    }
}

impl Runtime for TokioRuntime {
    async fn connect(&self, authority: &str) -> io::Result<SendRequest<Full<Bytes>>> {
        let stream = TcpStream::connect(authority).await?;
        let _ = stream.set_nodelay(true);
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        tokio::spawn(connection);
        Ok(sender)
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    fn uptime(&self) -> Duration {
        self.start.elapsed()
    }

    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    async fn compute_for(&self, _: &Chunk) {}
}
