//! What the kernel knows about a TCP connection (tcp(7), `TCP_INFO`).

use super::syscalls;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// Counters of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpInfo {
    /// Segments that this side has sent again, SYNs among them.
    pub retransmissions: u32,
    /// The smoothed round-trip time (RFC 6298), in whole microseconds.
    pub round_trip: Duration,
}

impl TcpInfo {
    /// The counters of a TCP socket, as they are now.
    ///
    /// # Errors
    /// When it is no TCP socket.
    pub fn read(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let info = syscalls::tcp_info(socket)?;
        Ok(Self {
            retransmissions: info.tcpi_total_retrans,
            round_trip: Duration::from_micros(info.tcpi_rtt.into()),
        })
    }
}
