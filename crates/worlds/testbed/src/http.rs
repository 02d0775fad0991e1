//! HTTP in a world: hyper's client and server over any [`Host`]'s streams, in its time.
//!
//! [`connect`] opens one connection and [`serve`] answers incoming ones, by HTTP/1.1 or HTTP/2, with or without TLS. The caller decides
//! how many connections a client opens and what it requests. hyper gets no timer and no clock: the `Date` of a response comes from
//! virtual time unless its service sets one, and pings, keep-alive and adaptive windows are off.

mod client;
mod server;
pub mod tls;

pub use client::{Connection, HttpError, connect, handshake};
pub use server::{Encryption, serve};

use hyper::rt::Executor;
use lastmile_units::Instant;
use lastmile_world::Host;
use std::future::Future;
use std::rc::Rc;
use std::time::{Duration, SystemTime};
use tokio::io::{AsyncRead, AsyncWrite};

/// The version of HTTP that a connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// RFC 9112: one request at a time over a persistent connection.
    Http11,
    /// RFC 9113: many requests at a time.
    H2,
}

impl Version {
    /// Its name in a TLS handshake (RFC 7301).
    pub const fn protocol_name(self) -> &'static [u8] {
        match self {
            Self::Http11 => b"http/1.1",
            Self::H2 => b"h2",
        }
    }
}

/// The start of virtual time: 1 January 2026, 00:00 UTC, in seconds of Unix time. Our own choice, within the certificates' validity.
pub const EPOCH: Duration = Duration::from_secs(1_767_225_600);

/// The `Date` of a response made at `now`: always 29 bytes (RFC 9110 section 5.6.7).
pub fn date(now: Instant) -> String {
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + EPOCH + now.since_start())
}

/// The `Date` of a response to a real program, which compares it with the machine's clock: a browser judges by it how old a response is.
pub fn machine_date() -> String {
    httpdate::fmt_http_date(SystemTime::now())
}

/// A stream with or without encryption.
trait Io: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Io for T {}

/// Runs hyper's tasks in the world.
struct WorldExecutor<H>(Rc<H>);

impl<H> Clone for WorldExecutor<H> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<H: Host, F: Future<Output = ()> + 'static> Executor<F> for WorldExecutor<H> {
    fn execute(&self, task: F) {
        self.0.spawn(task);
    }
}

#[cfg(test)]
mod tests;
