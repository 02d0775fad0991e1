//! What does the gateway do with a connection? It makes a second one, and carries bytes both ways: an end of one is an end of the
//! other, and so is a reset.
//!
//! It adds no delay (no Nagle's algorithm) and holds little: a sender that is faster than the link soon waits for it, as
//! it would without a gateway.

use super::doors::Door;
use crate::emu::namespace::Namespace;
use futures_util::future::try_join;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, copy_buf};
use tokio::net::{TcpSocket, TcpStream};

/// Whom a connection is for.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// A service on the machine's loopback address, of IPv4 or else of IPv6.
    Loopback(u16),
    Address(SocketAddr),
    /// A host's name, looked up for each connection, and a port.
    Named(String, u16),
}

/// Connections whose way to the service is not done yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Uploads(Arc<AtomicUsize>);

/// One of them.
struct Upload(Uploads);

/// How much is carried at once, and how much each of the kernel's buffers towards a service holds. Our own choice: what fills
/// 5 Gbit/s for a tenth of a millisecond, about as long as a thread takes to wake up.
const CHUNK: u32 = 64 << 10;
/// How long a listening socket that takes no connections is left alone: there are no descriptors left. Our own choice.
const PAUSE: Duration = Duration::from_millis(10);

impl Uploads {
    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn begin(&self) -> Upload {
        self.0.fetch_add(1, Ordering::Relaxed);
        Upload(self.clone())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Takes the connections of a door until it is shut, and carries each on to whom it is for.
pub(super) async fn take(door: Door, uploads: Uploads) {
    let Door { listener, target } = door;
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    while let Some(client) = accept(&listener).await {
        let (target, upload) = (target.clone(), uploads.begin());
        tokio::spawn(async move {
            match target.connect().await {
                Ok(service) => carry(client, service, upload).await,
                Err(_) => reset(&client),
            }
        });
    }
}

/// Takes the connections of a listening socket, and carries each on to `over`, from inside `near`.
pub(super) async fn enter(listener: TcpListener, near: Namespace, over: SocketAddrV4) {
    let uploads = Uploads::default();
    let listener = listener
        .set_nonblocking(true)
        .and_then(|()| tokio::net::TcpListener::from_std(listener));
    let Ok(listener) = listener else { return };
    while let Some(client) = accept(&listener).await {
        let socket = near.enter(TcpSocket::new_v4);
        let upload = uploads.begin();
        tokio::spawn(async move {
            let server = async {
                client.set_nodelay(true)?;
                let socket = socket??;
                socket.set_nodelay(true)?;
                socket.connect(over.into()).await
            };
            match server.await {
                Ok(server) => carry(client, server, upload).await,
                Err(_) => reset(&client),
            }
        });
    }
}

/// The next connection; none once the socket listens no longer.
async fn accept(listener: &tokio::net::TcpListener) -> Option<TcpStream> {
    loop {
        match listener.accept().await {
            Ok((client, _)) => return Some(client),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return None,
            // A connection that is gone already, or no descriptor left.
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

impl Target {
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

/// Carries bytes both ways until both have come to their end, or one side breaks off.
async fn carry(mut client: TcpStream, mut service: TcpStream, upload: Upload) {
    let (from_client, to_client) = client.split();
    let (from_service, to_service) = service.split();
    let up = async {
        let carried = one_way(from_client, to_service).await;
        drop(upload);
        carried
    };
    if try_join(up, one_way(from_service, to_client)).await.is_err() {
        reset(&client);
        reset(&service);
    }
}

async fn one_way(from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) -> io::Result<()> {
    copy_buf(&mut BufReader::with_capacity(CHUNK as usize, from), &mut to).await?;
    to.shutdown().await
}

/// Lets the connection break off as it is dropped, instead of ending in good order.
fn reset(stream: &TcpStream) {
    // Where that fails, it is broken already.
    let _ = stream.set_zero_linger();
}
