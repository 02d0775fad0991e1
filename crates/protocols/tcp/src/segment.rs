//! A TCP segment with its addresses, and its size on the wire.

use bytes::Bytes;
use lastmile_units::{ByteCount, Instant};
use std::net::SocketAddrV4;
use std::time::Duration;

/// A TCP segment in an IPv4 packet. The simulated network carries it as it is; the pcapng writer of `lastmile-world` turns it into bytes.
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
    /// As on the wire, before shifting by the agreed scale.
    pub window: u16,
    /// Largest segment the sender accepts (in a SYN).
    pub maximum_segment_size: Option<u16>,
    /// Shift of the sender's windows (in a SYN).
    pub window_scale: Option<u8>,
    /// Whether the sender accepts selective acknowledgements (in a SYN).
    pub sack_permitted: bool,
    /// RFC 7323.
    pub timestamps: Option<Timestamps>,
    /// RFC 2018.
    pub sack: SackBlocks,
    /// The data.
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
    /// How long ago the echoed timestamp was set. At least one tick, its resolution (Linux's `tcp_rtt_tsopt_us`).
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
    /// Deliver to the program without delay.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Flags = Flags(0x10);

    /// The union of both.
    #[must_use]
    pub const fn and(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Whether all of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits as on the wire.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

/// Up to three ranges (as many as fit beside timestamps) that have arrived out of order, as wire numbers, the newest first.
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

    /// Adds a range, `end` exclusive. Panics past the third: the caller limits the number.
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
    /// Bytes of IPv4 header (no options).
    pub const IP_HEADER: usize = 20;
    /// Bytes of TCP header without options.
    pub const TCP_HEADER: usize = 20;

    /// Bytes of TCP options, padded to a multiple of four.
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
        // Linux pads timestamps and blocks with two leading NOPs each, which equals rounding each up.
        let padded = |length: usize| length.next_multiple_of(4);
        if syn > 0 {
            padded(syn + timestamps)
        } else {
            padded(timestamps) + padded(sack)
        }
    }

    /// Size of the IP packet in bytes, headers included.
    pub fn size(&self) -> ByteCount {
        (Self::IP_HEADER + Self::TCP_HEADER + self.options_length() + self.payload.len()).into()
    }

    /// How much of the sequence space it uses: its payload, and one each for SYN and FIN.
    pub fn sequence_length(&self) -> u64 {
        self.payload.len() as u64 + u64::from(self.flags.has(Flags::SYN)) + u64::from(self.flags.has(Flags::FIN))
    }
}
