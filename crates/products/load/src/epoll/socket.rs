//! System calls on non-blocking TCP sockets.

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, SockaddrStorage, connect, recv, send, setsockopt, socket, sockopt,
};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A TCP socket that never blocks.
#[derive(Debug)]
pub(super) struct Socket(OwnedFd);

/// The result of a call that may have to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// That many bytes.
    Bytes(usize),
    /// Nothing now.
    WouldBlock,
}

impl Socket {
    /// A new socket for connections to `server`. With `no_delay`, it sends short segments while others are on their way.
    pub(super) fn new(server: SocketAddr, no_delay: bool) -> io::Result<Self> {
        let family = if server.is_ipv4() {
            AddressFamily::Inet
        } else {
            AddressFamily::Inet6
        };
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let descriptor = socket(family, SockType::Stream, flags, None)?;
        if no_delay {
            setsockopt(&descriptor, sockopt::TcpNoDelay, &true)?;
        }
        Ok(Self(descriptor))
    }

    /// Begins the handshake.
    pub(super) fn connect(&self, server: SocketAddr) -> io::Result<()> {
        match connect(self.0.as_raw_fd(), &SockaddrStorage::from(server)) {
            Ok(()) | Err(Errno::EINPROGRESS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends as many bytes as the socket's buffer has room for.
    pub(super) fn send(&self, bytes: &[u8]) -> io::Result<Outcome> {
        outcome(send(
            self.0.as_raw_fd(),
            bytes,
            MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT,
        ))
    }

    /// Receives what is there; 0 bytes are the end.
    pub(super) fn receive(&self, buffer: &mut [u8]) -> io::Result<Outcome> {
        outcome(recv(self.0.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT))
    }

    /// Closes it. Where debug assertions are on, dropping a descriptor costs a system call more.
    pub(super) fn close(self) {
        // Whatever the answer, the descriptor is gone (close(2)).
        let _ = nix::unistd::close(self.0);
    }

    /// The error that broke the connection, or its handshake; none if there is none.
    pub(super) fn take_error(&self) -> Option<io::Error> {
        match nix::sys::socket::getsockopt(&self.0, sockopt::SocketError) {
            Ok(0) => None,
            Ok(number) => Some(io::Error::from_raw_os_error(number)),
            Err(error) => Some(error.into()),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn outcome(result: nix::Result<usize>) -> io::Result<Outcome> {
    match result {
        Ok(bytes) => Ok(Outcome::Bytes(bytes)),
        // EWOULDBLOCK is the same number on Linux.
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(Outcome::WouldBlock),
        Err(error) => Err(error.into()),
    }
}
