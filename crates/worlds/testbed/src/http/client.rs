//! An HTTP client's connection, and requests over it.

use super::tls::ClientTls;
use super::{Io, Version, WorldExecutor};
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use lastmile_world::Host;
use std::error::Error;
use std::io;
use std::net::SocketAddrV4;
use std::rc::Rc;

/// The flow-control windows of an HTTP/2 stream and connection: 6 MiB and 15 MiB, as in Chromium
/// (`kSpdyStreamMaxRecvWindowSize` in net/http/http_network_session.cc, `kSpdySessionMaxRecvWindowSize` in
/// net/spdy/spdy_session.h).
const STREAM_WINDOW: u32 = 6 << 20;
const CONNECTION_WINDOW: u32 = 15 << 20;

/// An open connection. An HTTP/2 connection may have several handles (see [`Connection::share`]), an HTTP/1.1 connection only one.
#[derive(Debug)]
pub enum Connection<B> {
    /// An HTTP/1.1 connection.
    Http11(http1::SendRequest<B>),
    /// An HTTP/2 connection.
    H2(http2::SendRequest<B>),
}

/// An exchange that failed.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The connection could not be opened, or its TLS handshake failed.
    #[error("the connection could not be opened: {0}")]
    Connect(#[from] io::Error),
    /// A message was cut off, or is not HTTP.
    #[error("the exchange failed: {0}")]
    Exchange(#[from] hyper::Error),
}

/// Opens a connection from `host` to `to`: the TCP handshake, then the TLS handshake if `tls` is given, then HTTP/2's preface.
///
/// # Errors
/// [`HttpError::Connect`] where nothing listens, or the TLS handshake fails.
pub async fn connect<H, B>(
    host: &H,
    to: SocketAddrV4,
    version: Version,
    tls: Option<&ClientTls>,
) -> Result<Connection<B>, HttpError>
where
    H: Host,
    B: Body + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let stream = host.connect(to).await?;
    handshake(host, stream, version, tls).await
}

/// Makes an HTTP connection of a TCP connection: the TLS handshake if `tls` is given, then HTTP/2's preface.
///
/// # Errors
/// [`HttpError::Connect`] where the TLS handshake fails.
pub async fn handshake<H, B>(
    host: &H,
    plain: H::Stream,
    version: Version,
    tls: Option<&ClientTls>,
) -> Result<Connection<B>, HttpError>
where
    H: Host,
    B: Body + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let stream: Box<dyn Io> = match tls {
        None => Box::new(plain),
        Some(tls) => {
            let stream = tls.open(plain).await?;
            host.compute(tls.cost()).await;
            Box::new(stream)
        }
    };
    let io = TokioIo::new(stream);
    // A request that waits for a response learns that the connection has ended, so the outcome of this task is not needed.
    match version {
        Version::Http11 => {
            let (sender, connection) = http1::handshake(io).await?;
            host.spawn(async move { drop(connection.await) });
            Ok(Connection::Http11(sender))
        }
        Version::H2 => {
            let mut builder = http2::Builder::new(WorldExecutor(Rc::new(host.clone())));
            builder
                .initial_stream_window_size(STREAM_WINDOW)
                .initial_connection_window_size(CONNECTION_WINDOW);
            let (sender, connection) = builder.handshake(io).await?;
            host.spawn(async move { drop(connection.await) });
            Ok(Connection::H2(sender))
        }
    }
}

impl<B: Body + 'static> Connection<B> {
    /// Sends a request, and waits for the response's head.
    ///
    /// # Errors
    /// When the connection ends before that.
    pub async fn send(&mut self, request: Request<B>) -> Result<Response<Incoming>, HttpError> {
        match self {
            Self::Http11(sender) => {
                sender.ready().await?;
                Ok(sender.send_request(request).await?)
            }
            Self::H2(sender) => {
                sender.ready().await?;
                Ok(sender.send_request(request).await?)
            }
        }
    }

    /// Another handle to the same connection; none for HTTP/1.1, which serves one request at a time.
    pub fn share(&self) -> Option<Self> {
        match self {
            Self::Http11(_) => None,
            Self::H2(sender) => Some(Self::H2(sender.clone())),
        }
    }

    /// Waits until the connection can accept another request: over HTTP/1.1, until the last response has been read.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn ready(&mut self) -> Result<(), HttpError> {
        match self {
            Self::Http11(sender) => Ok(sender.ready().await?),
            Self::H2(sender) => Ok(sender.ready().await?),
        }
    }
}
