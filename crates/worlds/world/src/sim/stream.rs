//! Reads and writes a connection: tokio's traits over a socket of the simulated network.

use super::Inner;
use super::socket::SocketId;
use lastmile_tcp::Read;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A TCP connection. Dropping it closes it as a kernel does: data that was written is still delivered.
pub struct SimStream {
    inner: Rc<Inner>,
    id: SocketId,
}

impl SimStream {
    pub(super) const fn new(inner: Rc<Inner>, id: SocketId) -> Self {
        Self { inner, id }
    }

    /// Waits for the handshake.
    pub(super) async fn connected(&self) -> io::Result<()> {
        poll_fn(|context| {
            self.inner.with(|state| {
                let connection = state.network.connection(self.id);
                if let Some(error) = connection.error() {
                    return Poll::Ready(Err(error.into()));
                }
                if connection.is_open() {
                    return Poll::Ready(Ok(()));
                }
                state.network.wake_when_writable(self.id, context.waker());
                Poll::Pending
            })
        })
        .await
    }

    /// Writes the pieces together, as `writev` does: no segment is sent before all of them are in the buffer.
    fn write_pieces<'a>(
        &self,
        context: &Context<'_>,
        pieces: impl Iterator<Item = &'a [u8]>,
    ) -> Poll<io::Result<usize>> {
        self.inner.with(|state| {
            let connection = state.network.connection(self.id);
            let mut written = 0;
            let mut asked = false;
            for piece in pieces.filter(|piece| !piece.is_empty()) {
                asked = true;
                let taken = connection.write(piece)?;
                written += taken;
                if taken < piece.len() {
                    break;
                }
            }
            if written == 0 && asked {
                state.network.wake_when_writable(self.id, context.waker());
                return Poll::Pending;
            }
            state.network.flush(self.id);
            Poll::Ready(Ok(written))
        })
    }
}

impl AsyncRead for SimStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if to.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        self.inner.with(|state| {
            let now = state.network.now;
            match state.network.connection(self.id).read(now, to.initialize_unfilled())? {
                Read::Bytes(read) => {
                    to.advance(read);
                    // Reading may have opened the window enough for a window update.
                    state.network.flush(self.id);
                    Poll::Ready(Ok(()))
                }
                Read::End => Poll::Ready(Ok(())),
                Read::Empty => {
                    state.network.wake_when_readable(self.id, context.waker());
                    Poll::Pending
                }
            }
        })
    }
}

impl AsyncWrite for SimStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        self.write_pieces(context, std::iter::once(from))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write_pieces(context, from.iter().map(|piece| &**piece))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.with(|state| {
            state.network.connection(self.id).shutdown();
            state.network.flush(self.id);
        });
        Poll::Ready(Ok(()))
    }
}

impl Drop for SimStream {
    fn drop(&mut self) {
        self.inner.with(|state| state.network.release(self.id));
    }
}
