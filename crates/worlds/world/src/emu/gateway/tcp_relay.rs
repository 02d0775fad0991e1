//! Relays TCP connections between a world and the services outside. For each connection it opens a second one and copies bytes in
//! both directions; an end or a reset of one connection is passed on to the other.
//!
//! It adds no delay (no Nagle's algorithm) and buffers little: a sender that is faster than the link soon waits for it, as
//! it would without a gateway.

use crate::emu::namespace::Namespace;
use futures_util::future::try_join;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, copy_buf};
use tokio::net::{TcpSocket, TcpStream};

/// The target of a connection.
#[derive(Debug, Clone)]
pub(super) enum RelayTarget {
    /// A service on the machine's loopback address, of IPv4 or else of IPv6.
    Loopback(u16),
    Address(SocketAddr),
    /// A host's name, looked up for each connection, and a port.
    Named(String, u16),
}

/// The number of connections that may still send to their services.
#[derive(Debug, Clone, Default)]
pub(super) struct HalfOpenRelays(Arc<AtomicUsize>);

/// One such connection; it is counted until it is dropped.
struct HalfOpenRelay(HalfOpenRelays);

/// The size of a copy buffer, and of each kernel buffer towards a service. Our own choice: it fills 5 Gbit/s for a tenth of a
/// millisecond, about the time that a thread takes to wake up.
const CHUNK: u32 = 64 << 10;
/// The pause after a failed accept, which means that no descriptors are left. Our own choice.
const PAUSE: Duration = Duration::from_millis(10);

impl HalfOpenRelays {
    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn begin(&self) -> HalfOpenRelay {
        self.0.fetch_add(1, Ordering::Relaxed);
        HalfOpenRelay(self.clone())
    }
}

impl Drop for HalfOpenRelay {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Accepts connections until the listener is closed, and relays each to its target.
pub(super) async fn accept_and_relay(listener: TcpListener, target: RelayTarget, half_open: HalfOpenRelays) {
    let connect = || {
        let target = target.clone();
        async move { target.connect().await }
    };
    relay_each(listener, half_open, connect).await;
}

/// Accepts the connections of a listening socket, and relays each to `over`, from inside `near`.
pub(super) async fn relay_over_link(listener: TcpListener, near: Namespace, over: SocketAddrV4) {
    let connect = || {
        let socket = near.enter(TcpSocket::new_v4);
        async move {
            let socket = socket??;
            socket.set_nodelay(true)?;
            socket.connect(over.into()).await
        }
    };
    relay_each(listener, HalfOpenRelays::default(), connect).await;
}

/// Accepts connections until the listener is closed, and relays each to one that `connect` makes.
async fn relay_each<C: Future<Output = io::Result<TcpStream>> + Send + 'static>(
    listener: TcpListener,
    half_open: HalfOpenRelays,
    connect: impl Fn() -> C,
) {
    let listener = listener
        .set_nonblocking(true)
        .and_then(|()| tokio::net::TcpListener::from_std(listener));
    let Ok(listener) = listener else { return };
    while let Some(client) = accept(&listener).await {
        let (service, half_open_relay) = (connect(), half_open.begin());
        tokio::spawn(async move {
            let service = match client.set_nodelay(true) {
                Ok(()) => service.await,
                Err(error) => Err(error),
            };
            match service {
                Ok(service) => relay(client, service, half_open_relay).await,
                Err(_) => reset(&client),
            }
        });
    }
}

/// The next connection; none after the socket was closed.
async fn accept(listener: &tokio::net::TcpListener) -> Option<TcpStream> {
    loop {
        match listener.accept().await {
            Ok((client, _)) => return Some(client),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return None,
            // The connection is gone already, or no descriptor is left.
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

impl RelayTarget {
    async fn connect(&self) -> io::Result<TcpStream> {
        let addresses: Vec<SocketAddr> = match self {
            Self::Loopback(port) => vec![(Ipv4Addr::LOCALHOST, *port).into(), (Ipv6Addr::LOCALHOST, *port).into()],
            Self::Address(address) => vec![*address],
            Self::Named(host, port) => tokio::net::lookup_host((host.as_str(), *port)).await?.collect(),
        };
        let mut refused = io::Error::from(io::ErrorKind::NotFound);
        for address in addresses {
            match connect(address).await {
                Ok(service) => return Ok(service),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }
}

async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    socket.set_nodelay(true)?;
    socket.set_recv_buffer_size(CHUNK)?;
    socket.set_send_buffer_size(CHUNK)?;
    socket.connect(address).await
}

/// Copies bytes in both directions until both have ended, or one connection fails.
async fn relay(mut client: TcpStream, mut service: TcpStream, half_open_relay: HalfOpenRelay) {
    let (from_client, to_client) = client.split();
    let (from_service, to_service) = service.split();
    let up = async {
        let carried = copy_until_end(from_client, to_service).await;
        drop(half_open_relay);
        carried
    };
    if try_join(up, copy_until_end(from_service, to_client)).await.is_err() {
        reset(&client);
        reset(&service);
    }
}

async fn copy_until_end(from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) -> io::Result<()> {
    copy_buf(&mut BufReader::with_capacity(CHUNK as usize, from), &mut to).await?;
    to.shutdown().await
}

/// Makes dropping the connection reset it, instead of closing it in order.
fn reset(stream: &TcpStream) {
    // If that fails, the connection has failed already.
    let _ = stream.set_zero_linger();
}
