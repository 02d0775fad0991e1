//! Parses IP packets that carry TCP segments or UDP datagrams, complete or cut by a snap length.

use etherparse::{IpNumber, LaxIpSlice};
use std::net::{IpAddr, SocketAddr};

/// An IP packet that carries TCP or UDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Datagram<'a> {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    /// The length of the whole IP packet on the wire.
    pub(crate) length: u32,
    /// The length of the IP and transport headers.
    pub(crate) header_length: u32,
    pub(crate) transport: Transport<'a>,
}

/// The transport-layer payload of the IP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport<'a> {
    Tcp(Segment<'a>),
    Udp,
}

/// A TCP segment (RFC 9293 section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment<'a> {
    pub(crate) sequence: u32,
    pub(crate) acknowledgement: u32,
    pub(crate) flags: u8,
    pub(crate) window: u16,
    /// Bytes of payload on the wire.
    pub(crate) length: u32,
    /// The payload, as much as was captured.
    pub(crate) payload: &'a [u8],
    /// The options, as many as were captured.
    pub(crate) options: &'a [u8],
}

impl Datagram<'_> {
    /// The client and the server, as the first `segment` of their connection shows them: it is the client's, but for the answer to a SYN.
    pub(crate) fn client_and_server(&self, segment: &Segment<'_>) -> (SocketAddr, SocketAddr) {
        if segment.has(Segment::SYN) && segment.has(Segment::ACK) {
            (self.to, self.from)
        } else {
            (self.from, self.to)
        }
    }
}

impl<'a> Segment<'a> {
    pub(crate) const FIN: u8 = 1;
    pub(crate) const SYN: u8 = 2;
    pub(crate) const RST: u8 = 4;
    pub(crate) const ACK: u8 = 16;

    /// Whether one of these flags is set.
    pub(crate) fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Whether it begins another connection between ends that have one, whose client sent a SYN with the number `first`: it is a SYN with a
    /// different number.
    pub(crate) fn reopens(&self, is_of_client: bool, first: Option<u32>) -> bool {
        let is_syn = self.has(Self::SYN) && !self.has(Self::ACK | Self::RST);
        is_syn && !(is_of_client && first == Some(self.sequence))
    }

    /// How much of the sequence space it uses: payload, SYN, FIN (RFC 9293 section 3.4).
    pub(crate) fn span(&self) -> i64 {
        i64::from(self.length) + i64::from(self.has(Self::SYN)) + i64::from(self.has(Self::FIN))
    }

    /// The MSS that its SYN announces (RFC 9293 section 3.7.1).
    pub(crate) fn maximum_segment_size(&self) -> Option<u16> {
        match self.option(Self::MAXIMUM_SEGMENT_SIZE)? {
            [high, low] if self.has(Self::SYN) => Some(u16::from_be_bytes([*high, *low])),
            _ => None,
        }
    }

    /// The window shift that its SYN announces (RFC 7323 section 2.2): 14 at most, whatever it announces (section 2.3).
    pub(crate) fn window_scale(&self) -> Option<u8> {
        match self.option(Self::WINDOW_SCALE)? {
            [shift] if self.has(Self::SYN) => Some((*shift).min(14)),
            _ => None,
        }
    }

    /// The received blocks, beginning and end (RFC 2018 section 3).
    pub(crate) fn selective_acknowledgements(&self) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let blocks = self.option(Self::SELECTIVE_ACKNOWLEDGEMENT).unwrap_or_default();
        blocks.chunks_exact(8).map(|block| (u32_at(block, 0), u32_at(block, 4)))
    }

    /// The value of the first option of a kind (RFC 9293 section 3.1).
    fn option(&self, wanted: u8) -> Option<&'a [u8]> {
        let mut options = self.options;
        loop {
            match *options {
                // No operation.
                [1, ..] => options = &options[1..],
                [kind, length, ..] if kind > 1 && length >= 2 => {
                    let (option, rest) = options.split_at_checked(length.into())?;
                    if kind == wanted {
                        return Some(&option[2..]);
                    }
                    options = rest;
                }
                _ => return None,
            }
        }
    }

    const MAXIMUM_SEGMENT_SIZE: u8 = 2;
    const WINDOW_SCALE: u8 = 3;
    const SELECTIVE_ACKNOWLEDGEMENT: u8 = 5;
}

/// Why a packet is in no flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// Its link type is not supported.
    UnknownLink,
    /// It is not an IP packet: ARP, for example, or an ACK of 802.11.
    NotIp,
    /// It is a frame that an 802.11 station sends again; the packet was read when it was sent first.
    MacRetry,
    /// It is a fragment of an IP packet; fragments are not reassembled.
    Fragment,
    /// It carries a protocol other than TCP and UDP: ICMP, for example.
    OtherProtocol,
    /// Its headers are cut off by a snap length, or are invalid.
    BrokenHeader,
}

/// Reads an IP packet that had `length` bytes on the wire.
pub(crate) fn read(packet: &[u8], length: u32) -> Result<Datagram<'_>, SkipReason> {
    let (ip, _) = LaxIpSlice::from_slice(packet).map_err(|_| SkipReason::BrokenHeader)?;
    if ip.is_fragmenting_payload() {
        return Err(SkipReason::Fragment);
    }
    let payload = ip.payload();
    // The length in the IP header. Segments that a network card has yet to split may exceed the field, which is then 0.
    let (stated, least) = match &ip {
        LaxIpSlice::Ipv4(ip) => (u32::from(ip.header().total_len()), ip.header().slice().len() as u32),
        LaxIpSlice::Ipv6(ip) => (u32::from(ip.header().payload_length()) + 40, 41),
    };
    let length = if stated < least { length } else { stated };
    // A complete captured packet may be followed by padding; one cut short is not.
    let header_length = if payload.incomplete || stated < least {
        packet.len() - payload.payload.len()
    } else {
        length as usize - payload.payload.len()
    } as u32;
    let carried = length.saturating_sub(header_length);
    let bytes = payload.payload;
    let (ports, transport, head) = match payload.ip_number {
        IpNumber::TCP => {
            let (segment, head) = segment(bytes, carried).ok_or(SkipReason::BrokenHeader)?;
            (ports(bytes), Transport::Tcp(segment), head)
        }
        IpNumber::UDP if bytes.len() >= 8 => (ports(bytes), Transport::Udp, 8),
        IpNumber::UDP => return Err(SkipReason::BrokenHeader),
        _ => return Err(SkipReason::OtherProtocol),
    };
    let end = |address: IpAddr, port| SocketAddr::new(address, port);
    Ok(Datagram {
        from: end(ip.source_addr(), ports.0),
        to: end(ip.destination_addr(), ports.1),
        length,
        header_length: header_length + head,
        transport,
    })
}

fn ports(bytes: &[u8]) -> (u16, u16) {
    (u16_at(bytes, 0), u16_at(bytes, 2))
}

/// The segment, and its header's length; none where its first 20 bytes are missing, or it states an impossible length.
fn segment(bytes: &[u8], carried: u32) -> Option<(Segment<'_>, u32)> {
    if bytes.len() < 20 {
        return None;
    }
    let head = u32::from(bytes[12] >> 4) * 4;
    if head < 20 || head > carried {
        return None;
    }
    let flags = bytes[13];
    let options = bytes.get(20..(head as usize).min(bytes.len())).unwrap_or(&[]);
    let segment = Segment {
        sequence: u32_at(bytes, 4),
        acknowledgement: u32_at(bytes, 8),
        flags,
        window: u16_at(bytes, 14),
        length: carried - head,
        payload: bytes.get(head as usize..).unwrap_or(&[]),
        options,
    };
    Some((segment, head))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
