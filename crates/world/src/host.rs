//! What can a program do in a world? The contract that lets one program run in any of them.

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

    /// Opens a connection; done when the handshake is.
    ///
    /// # Errors
    /// `ConnectionRefused`, `TimedOut`, or `NetworkUnreachable` where no link leads there.
    fn connect(&self, to: SocketAddrV4) -> impl Future<Output = io::Result<Self::Stream>>;

    /// Listens on `port`.
    ///
    /// # Errors
    /// `AddrInUse`.
    fn listen(&self, port: u16) -> io::Result<Self::Listener>;

    /// Sleeps until `at`; done at once where that has passed.
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + 'static;

    /// Computes for as long as `work` takes on a reference core; this machine's cores may be slower, or busy.
    fn compute(&self, work: Duration) -> impl Future<Output = ()> + 'static;

    /// Runs `task` beside the caller, on the same thread.
    fn spawn(&self, task: impl Future<Output = ()> + 'static);
}

/// A socket that connections come in at.
pub trait Listener {
    /// A connection that came in.
    type Stream;

    /// The next connection whose handshake is done.
    ///
    /// # Errors
    /// None in the simulated world; those of the kernel elsewhere.
    fn accept(&mut self) -> impl Future<Output = io::Result<Self::Stream>>;
}
