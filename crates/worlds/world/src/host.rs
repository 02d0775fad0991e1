//! The [`Host`] trait: what a program does in a world. A program that uses it runs in either world.

use lastmile_units::Instant;
use std::future::Future;
use std::io;
use std::net::SocketAddrV4;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// A machine that a program runs on. Cloning gives another handle to the same machine.
///
/// Programs are async functions over this; their streams implement tokio's traits (the traits alone: no runtime), so hyper,
/// h2 and rustls run over them as they are.
pub trait Host: Clone + 'static {
    /// A TCP connection.
    type Stream: AsyncRead + AsyncWrite + Unpin + 'static;
    /// A listening socket.
    type Listener: Listener<Stream = Self::Stream> + 'static;

    /// The time in this world.
    fn now(&self) -> Instant;

    /// This machine's address with `port`.
    fn address(&self, port: u16) -> SocketAddrV4;

    /// Opens a connection, and returns after the handshake.
    ///
    /// # Errors
    /// `ConnectionRefused`, `TimedOut`, or `NetworkUnreachable` if there is no route.
    fn connect(&self, to: SocketAddrV4) -> impl Future<Output = io::Result<Self::Stream>>;

    /// Listens on `port`.
    ///
    /// # Errors
    /// `AddrInUse`.
    fn listen(&self, port: u16) -> io::Result<Self::Listener>;

    /// Listens on `port`, with at most `backlog` connections that wait to be accepted, and one more (listen(2)). A SYN that finds them there is dropped.
    ///
    /// # Errors
    /// `AddrInUse`.
    fn listen_with_backlog(&self, port: u16, backlog: u32) -> io::Result<Self::Listener>;

    /// Sleeps until `at`; returns at once if that has passed.
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + 'static;

    /// Computes `work`, a time on a reference core; this machine's cores may be slower, or busy.
    fn compute(&self, work: Duration) -> impl Future<Output = ()> + 'static;

    /// Runs `task` beside the caller, on the same thread.
    fn spawn(&self, task: impl Future<Output = ()> + 'static);
}

/// A listening socket.
pub trait Listener {
    /// An accepted connection.
    type Stream;

    /// The next connection, after its handshake.
    ///
    /// # Errors
    /// None in the simulated world; those of the kernel elsewhere.
    fn accept(&mut self) -> impl Future<Output = io::Result<Self::Stream>>;
}
