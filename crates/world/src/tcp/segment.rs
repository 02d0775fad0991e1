//! What is on the wire? A segment with its addresses, and its size.

use bytes::Bytes;
use lastmile_units::{Bytes as ByteCount, Instant};
use std::net::SocketAddrV4;
use std::time::Duration;

/// A TCP segment in an IPv4 packet. The simulated network carries it as it is; [`crate::capture`] turns it into octets.
#[derive(Debug, Clone)]
pub struct Segment {
    /// Sender.
    pub source: SocketAddrV4,
    /// Receiver.
    pub destination: SocketAddrV4,
    /// Number of the first byte of the payload, or of the SYN or FIN.
    pub sequence: u32,
    /// The next number expected, where [`Flags::ACK`] is set.
    pub acknowledgement: u32,
    /// SYN, ACK, FIN, RST, PSH.
    pub flags: Flags,
    /// As on the wire: to be shifted by the scale agreed on.
    pub window: u16,
    /// Largest segment the sender takes (in a SYN).
    pub maximum_segment_size: Option<u16>,
    /// Shift of the sender's windows (in a SYN).
    pub window_scale: Option<u8>,
    /// Whether the sender takes selective acknowledgements (in a SYN).
    pub sack_permitted: bool,
    /// RFC 7323.
    pub timestamps: Option<Timestamps>,
    /// RFC 2018.
    pub sack: SackBlocks,
    /// What is carried.
    pub payload: Bytes,
}

/// The timestamps option, in milliseconds as Linux counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The receiver's clock, as last seen by the sender.
    pub echo: u32,
}

impl Timestamps {
    /// How long ago the echoed stamp was set. At least one tick: a stamp knows no less (Linux's `tcp_rtt_tsopt_us`).
    pub(super) fn age(self, now: Instant) -> Duration {
        Duration::from_millis(u64::from(milliseconds(now).wrapping_sub(self.echo).max(1)))
    }
}

/// The clock of RFC 7323 timestamps: milliseconds since the world began, as Linux counts since boot.
pub(super) const fn milliseconds(now: Instant) -> u32 {
    (now.as_nanos() / 1_000_000) as u32
}

/// The control bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// None of them.
    pub const NONE: Flags = Flags(0);
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Hand over to the program.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgement number counts.
    pub const ACK: Flags = Flags(0x10);

    /// Both sets.
    #[must_use]
    pub const fn and(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Whether all of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// As on the wire.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

/// Up to three ranges (what fits beside timestamps) that have arrived out of order, as wire numbers, the newest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); 3],
    count: u8,
}

impl SackBlocks {
    /// No range.
    pub const NONE: SackBlocks = SackBlocks {
        blocks: [(0, 0); 3],
        count: 0,
    };
    /// How many blocks fit beside timestamps.
    pub const CAPACITY: usize = 3;

    /// Adds a range, `end` exclusive. Panics past the third: the caller bounds it.
    pub fn push(&mut self, start: u32, end: u32) {
        self.blocks[usize::from(self.count)] = (start, end);
        self.count += 1;
    }

    /// The ranges, the newest first.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl Segment {
    /// Octets of IPv4 header (no options).
    pub const IP_HEADER: usize = 20;
    /// Octets of TCP header without options.
    pub const TCP_HEADER: usize = 20;

    /// Octets of TCP options, padded to a multiple of four.
    pub fn options_length(&self) -> usize {
        let syn = if self.maximum_segment_size.is_some() { 4 } else { 0 }
            + if self.window_scale.is_some() { 3 } else { 0 }
            + if self.sack_permitted { 2 } else { 0 };
        let timestamps = if self.timestamps.is_some() { 10 } else { 0 };
        let sack = if self.sack.is_empty() {
            0
        } else {
            2 + 8 * self.sack.as_slice().len()
        };
        // Linux pads timestamps and blocks with two leading NOPs each, which is the same as rounding each up.
        let padded = |length: usize| length.next_multiple_of(4);
        if syn > 0 {
            padded(syn + timestamps)
        } else {
            padded(timestamps) + padded(sack)
        }
    }

    /// Octets of the IP packet, headers included.
    pub fn size(&self) -> ByteCount {
        (Self::IP_HEADER + Self::TCP_HEADER + self.options_length() + self.payload.len()).into()
    }

    /// How much of the sequence space it takes: its payload, and one each for SYN and FIN.
    pub fn sequence_length(&self) -> u64 {
        self.payload.len() as u64 + u64::from(self.flags.has(Flags::SYN)) + u64::from(self.flags.has(Flags::FIN))
    }
}
