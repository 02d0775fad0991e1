//! What does an IP packet carry, between whom? TCP segments and UDP datagrams, whole or cut by a snap length.

use etherparse::{IpNumber, LaxIpSlice};
use std::net::{IpAddr, SocketAddr};

/// An IP packet that carries TCP or UDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Datagram<'a> {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    /// The whole IP packet on the wire.
    pub(crate) length: u32,
    /// Headers of IP and of the transport.
    pub(crate) header_length: u32,
    pub(crate) transport: Transport<'a>,
}

/// What is in it.
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
    /// Octets of payload on the wire.
    pub(crate) length: u32,
    /// As much of the payload as was captured.
    pub(crate) payload: &'a [u8],
    /// As much of its options as was captured.
    pub(crate) options: &'a [u8],
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

    /// Octets of the sequence space that it takes: payload, SYN, FIN (RFC 9293 section 3.4).
    pub(crate) fn span(&self) -> i64 {
        i64::from(self.length) + i64::from(self.has(Self::SYN)) + i64::from(self.has(Self::FIN))
    }

    /// What its SYN announces (RFC 9293 section 3.7.1).
    pub(crate) fn maximum_segment_size(&self) -> Option<u16> {
        match self.option(Self::MAXIMUM_SEGMENT_SIZE)? {
            [high, low] if self.has(Self::SYN) => Some(u16::from_be_bytes([*high, *low])),
            _ => None,
        }
    }

    /// By how many bits its SYN says that windows are shifted (RFC 7323 section 2.2): 14 at most, whatever it says (section 2.3).
    pub(crate) fn window_scale(&self) -> Option<u8> {
        match self.option(Self::WINDOW_SCALE)? {
            [shift] if self.has(Self::SYN) => Some((*shift).min(14)),
            _ => None,
        }
    }

    /// The blocks of octets that were received, beginning and end (RFC 2018 section 3).
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
pub enum SetAside {
    /// Its link type is not known here.
    UnknownLink,
    /// It is no IP packet: ARP, for example.
    NotIp,
    /// It is a fragment of an IP packet; they are not put together.
    Fragment,
    /// It carries another protocol than TCP and UDP: ICMP, for example.
    OtherProtocol,
    /// Its headers are cut off by a snap length, or are no headers.
    BrokenHeader,
}

/// Reads an IP packet that had `length` octets on the wire.
pub(crate) fn read(packet: &[u8], length: u32) -> Result<Datagram<'_>, SetAside> {
    let (ip, _) = LaxIpSlice::from_slice(packet).map_err(|_| SetAside::BrokenHeader)?;
    if ip.is_fragmenting_payload() {
        return Err(SetAside::Fragment);
    }
    let payload = ip.payload();
    // What the IP header says. Segments that a network card is yet to divide may be longer than it can say, and it says 0.
    let (stated, least) = match &ip {
        LaxIpSlice::Ipv4(ip) => (u32::from(ip.header().total_len()), ip.header().slice().len() as u32),
        LaxIpSlice::Ipv6(ip) => (u32::from(ip.header().payload_length()) + 40, 41),
    };
    let length = if stated < least { length } else { stated };
    // Behind what is captured of a whole packet there may be padding, but nothing where it is cut short.
    let header_length = if payload.incomplete || stated < least {
        packet.len() - payload.payload.len()
    } else {
        length as usize - payload.payload.len()
    } as u32;
    let carried = length.saturating_sub(header_length);
    let octets = payload.payload;
    let (ports, transport, head) = match payload.ip_number {
        IpNumber::TCP => {
            let (segment, head) = segment(octets, carried).ok_or(SetAside::BrokenHeader)?;
            (ports(octets), Transport::Tcp(segment), head)
        }
        IpNumber::UDP if octets.len() >= 8 => (ports(octets), Transport::Udp, 8),
        IpNumber::UDP => return Err(SetAside::BrokenHeader),
        _ => return Err(SetAside::OtherProtocol),
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

fn ports(octets: &[u8]) -> (u16, u16) {
    (u16_at(octets, 0), u16_at(octets, 2))
}

/// The segment, and its header's length; none where its first 20 octets are not there, or it states a length that cannot be.
fn segment(octets: &[u8], carried: u32) -> Option<(Segment<'_>, u32)> {
    if octets.len() < 20 {
        return None;
    }
    let head = u32::from(octets[12] >> 4) * 4;
    if head < 20 || head > carried {
        return None;
    }
    let flags = octets[13];
    let options = octets.get(20..(head as usize).min(octets.len())).unwrap_or(&[]);
    let segment = Segment {
        sequence: u32_at(octets, 4),
        acknowledgement: u32_at(octets, 8),
        flags,
        window: u16_at(octets, 14),
        length: carried - head,
        payload: octets.get(head as usize..).unwrap_or(&[]),
        options,
    };
    Some((segment, head))
}

fn u16_at(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

fn u32_at(octets: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]])
}
