//! A pipe in memory: the stream that `h2` reads and writes.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Both ends of it. A clone is the same pipe.
#[derive(Debug, Clone, Default)]
pub(super) struct Pipe(Rc<RefCell<Buffers>>);

#[derive(Debug, Default)]
struct Buffers {
    /// What is to be read, and how much of it was.
    received: Vec<u8>,
    read: usize,
    written: Vec<u8>,
}

impl Pipe {
    /// Adds what is to be read.
    pub(super) fn receive(&self, bytes: &[u8]) {
        let mut buffers = self.0.borrow_mut();
        if buffers.read == buffers.received.len() {
            buffers.read = 0;
            buffers.received.clear();
        }
        buffers.received.extend_from_slice(bytes);
    }

    /// Moves what was written into `buffer`, which is empty and whose memory is used again.
    pub(super) fn take_written(&self, buffer: &mut Vec<u8>) {
        std::mem::swap(&mut self.0.borrow_mut().written, buffer);
    }

    /// Whether anything was written.
    pub(super) fn has_written(&self) -> bool {
        !self.0.borrow().written.is_empty()
    }
}

impl AsyncRead for Pipe {
    /// Where nothing is there, nobody is woken: whoever adds something polls.
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut buffers = self.0.borrow_mut();
        let there = &buffers.received[buffers.read..];
        if there.is_empty() {
            return Poll::Pending;
        }
        let length = there.len().min(buffer.remaining());
        buffer.put_slice(&there[..length]);
        buffers.read += length;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().written.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
