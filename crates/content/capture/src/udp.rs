//! Counts the packets between two UDP ports.

use crate::datagram::Datagram;
use lastmile_units::{ByteCount, Instant};
use std::net::SocketAddr;
use std::time::Duration;

/// All packets between two UDP ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UdpFlow {
    /// The sender of the first packet.
    pub client: SocketAddr,
    /// The other.
    pub server: SocketAddr,
    /// When its first packet passed.
    pub first: Instant,
    /// When its last packet passed.
    pub last: Instant,
    /// What the client sent.
    pub up: UdpSent,
    /// What the server sent.
    pub down: UdpSent,
}

/// What one side sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UdpSent {
    /// The number of packets.
    pub packets: u64,
    /// Bytes of IP packets, headers included.
    pub bytes: ByteCount,
    /// Bytes of their IP and UDP headers.
    pub headers: ByteCount,
}

impl UdpFlow {
    pub(crate) fn new(at: Instant, datagram: &Datagram<'_>) -> Self {
        Self {
            client: datagram.from,
            server: datagram.to,
            first: at,
            last: at,
            up: UdpSent::default(),
            down: UdpSent::default(),
        }
    }

    pub(crate) fn push(&mut self, at: Instant, datagram: &Datagram<'_>) {
        self.last = self.last.max(at);
        let sent = if datagram.from == self.client {
            &mut self.up
        } else {
            &mut self.down
        };
        sent.packets += 1;
        sent.bytes += ByteCount::new(datagram.length.into());
        sent.headers += ByteCount::new(datagram.header_length.into());
    }

    /// From its first packet to its last.
    pub fn duration(&self) -> Duration {
        self.last.saturating_since(self.first)
    }
}
