//! Captures for tests, crafted byte by byte: packets with the fields that matter, in pcap or pcapng.

use crate::{Analysis, CaptureError, analyse};

/// A TCP segment between a client (10.0.0.1:4000) and a server (10.0.0.2:80).
#[derive(Debug, Clone, Copy)]
pub struct Tcp<'a> {
    pub from_client: bool,
    pub flags: u8,
    pub sequence: u32,
    pub acknowledgement: u32,
    pub window: u16,
    pub payload: &'a [u8],
}

pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;
pub const ACK: u8 = 16;

/// What the client sends.
pub fn up(flags: u8, sequence: u32, acknowledgement: u32, payload: &[u8]) -> Tcp<'_> {
    Tcp {
        from_client: true,
        flags,
        sequence,
        acknowledgement,
        window: 1000,
        payload,
    }
}

/// What the server sends.
pub fn down(flags: u8, sequence: u32, acknowledgement: u32, payload: &[u8]) -> Tcp<'_> {
    Tcp {
        from_client: false,
        ..up(flags, sequence, acknowledgement, payload)
    }
}

impl Tcp<'_> {
    /// Its IPv4 packet; checksums are left out, as with a network card that computes them later.
    pub fn ipv4(&self) -> Vec<u8> {
        let (client, server) = (([10, 0, 0, 1], 4000_u16), ([10, 0, 0, 2], 80_u16));
        let (from, to) = if self.from_client {
            (client, server)
        } else {
            (server, client)
        };
        let mut packet = vec![0x45, 0];
        packet.extend((40 + self.payload.len() as u16).to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        packet.extend(from.0);
        packet.extend(to.0);
        packet.extend(from.1.to_be_bytes());
        packet.extend(to.1.to_be_bytes());
        packet.extend(self.sequence.to_be_bytes());
        packet.extend(self.acknowledgement.to_be_bytes());
        packet.extend([0x50, self.flags]);
        packet.extend(self.window.to_be_bytes());
        packet.extend([0; 4]);
        packet.extend(self.payload);
        packet
    }
}

/// A byte order, as a function.
pub type Put = fn(u32) -> [u8; 4];
pub const LITTLE: Put = u32::to_le_bytes;
pub const BIG: Put = u32::to_be_bytes;

/// A pcap file header.
pub fn pcap_head(put: Put, magic: u32, link_type: u32) -> Vec<u8> {
    // Version 2.4 is stored as two halves of a number.
    let version = if put(1) == LITTLE(1) { 2 | 4 << 16 } else { 2 << 16 | 4 };
    [magic, version, 0, 0, 65_535, link_type].map(put).concat()
}

/// A pcap record.
pub fn record(put: Put, seconds: u32, fraction: u32, captured: &[u8], length: u32) -> Vec<u8> {
    let head = [seconds, fraction, captured.len() as u32, length].map(put).concat();
    [&head, captured].concat()
}

/// A pcapng block, padded.
pub fn block(put: Put, kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let length = put(padded as u32 + 12);
    [&put(kind), &length, body, &vec![0; padded - body.len()], &length].concat()
}

/// A section header.
pub fn section(put: Put) -> Vec<u8> {
    let version = if put(1) == LITTLE(1) { 1 } else { 1 << 16 };
    let body = [0x1a2b_3c4d, version, u32::MAX, u32::MAX].map(put).concat();
    block(put, 0x0a0d_0d0a, &body)
}

/// An option, padded.
pub fn option(put: Put, code: u16, value: &[u8]) -> Vec<u8> {
    let head = if put(1) == LITTLE(1) {
        u32::from(code) | (value.len() as u32) << 16
    } else {
        u32::from(code) << 16 | value.len() as u32
    };
    let padding = value.len().next_multiple_of(4) - value.len();
    [&put(head), value, &vec![0; padding]].concat()
}

/// An interface description.
pub fn interface(put: Put, link_type: u16, snap_length: u32, options: &[u8]) -> Vec<u8> {
    let kind = if put(1) == LITTLE(1) {
        u32::from(link_type)
    } else {
        u32::from(link_type) << 16
    };
    block(put, 1, &[&put(kind), &put(snap_length), options].concat())
}

/// An enhanced packet block.
pub fn enhanced(put: Put, interface: u32, time: u64, captured: &[u8], length: u32, options: &[u8]) -> Vec<u8> {
    let head = [
        interface,
        (time >> 32) as u32,
        time as u32,
        captured.len() as u32,
        length,
    ]
    .map(put)
    .concat();
    let padding = captured.len().next_multiple_of(4) - captured.len();
    block(put, 6, &[&head, captured, &vec![0; padding], options].concat())
}

/// A pcapng with a raw IP interface, and times in nanoseconds.
pub fn nanosecond_pcapng() -> Vec<u8> {
    [section(LITTLE), interface(LITTLE, 101, 0, &option(LITTLE, 9, &[9]))].concat()
}

/// A capture of these segments, each with the millisecond at which it passed.
pub fn capture(segments: &[(u64, Tcp<'_>)]) -> Vec<u8> {
    let mut file = nanosecond_pcapng();
    for (millisecond, segment) in segments {
        let packet = segment.ipv4();
        file.extend(enhanced(
            LITTLE,
            0,
            millisecond * 1_000_000,
            &packet,
            packet.len() as u32,
            &[],
        ));
    }
    file
}

/// The analysis of such a capture.
pub fn analysis(segments: &[(u64, Tcp<'_>)]) -> Analysis {
    analyse(&capture(segments)[..], "crafted").unwrap()
}

/// The error for a file that cannot be analysed.
pub fn refusal(file: &[u8]) -> String {
    let error: CaptureError = analyse(file, "crafted").unwrap_err();
    error.to_string()
}
