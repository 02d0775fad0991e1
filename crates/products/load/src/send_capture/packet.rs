//! What of an IP packet tells whether a request begins in it.

/// A TCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment<'a> {
    pub(super) source: u16,
    pub(super) destination: u16,
    pub(super) sequence: u32,
    /// It opens a connection: a SYN without an ACK.
    pub(super) is_syn: bool,
    pub(super) content: &'a [u8],
}

/// The protocol number of TCP.
const TCP: u8 = 6;
const SYN: u8 = 2;
const ACK: u8 = 16;
/// The methods that load generators send.
const METHODS: [&[u8]; 3] = [b"GET ", b"HEAD ", b"POST "];

impl<'a> Segment<'a> {
    /// Reads a packet that begins with IPv4, or IPv6 without extension headers; none of any other, or an incomplete one.
    pub(super) fn parse(packet: &'a [u8]) -> Option<Self> {
        let (protocol, header, end) = match packet.first()? >> 4 {
            4 => (
                packet.get(9)?,
                usize::from(packet[0] & 15) * 4,
                usize::from(u16_at(packet, 2)?),
            ),
            6 => (packet.get(6)?, 40, 40 + usize::from(u16_at(packet, 4)?)),
            _ => return None,
        };
        if *protocol != TCP {
            return None;
        }
        let tcp = packet.get(header..end.min(packet.len()))?;
        let flags = *tcp.get(13)?;
        Some(Self {
            source: u16_at(tcp, 0)?,
            destination: u16_at(tcp, 2)?,
            sequence: u32::from(u16_at(tcp, 4)?) << 16 | u32::from(u16_at(tcp, 6)?),
            is_syn: flags & (SYN | ACK) == SYN,
            content: tcp.get(usize::from(tcp[12] >> 4) * 4..)?,
        })
    }

    /// Whether an HTTP/1.1 request begins with this segment.
    pub(super) fn begins_request(&self) -> bool {
        METHODS.iter().any(|method| self.content.starts_with(method))
    }
}

fn u16_at(bytes: &[u8], index: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(index)?, *bytes.get(index + 1)?]))
}
