//! Finds the IP packet in a link-layer frame. Link types are numbered as at tcpdump.org/linktypes.html.

use crate::container::LinkType;
use crate::wireless;

/// A supported link type, and its framing.
struct LinkFormat {
    number: u16,
    name: &'static str,
    framing: Framing,
}

/// The header before an IP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// Nothing.
    Ip,
    /// Two addresses of 6 bytes, and an EtherType.
    Ethernet,
    /// "Linux cooked" capture, version 1: 14 bytes, and an EtherType.
    Cooked1,
    /// The same, version 2: an EtherType, and 18 bytes.
    Cooked2,
    /// An address family in 4 bytes, in the byte order of the capturing machine.
    Family,
    /// A radiotap header, an 802.11 header, and LLC with SNAP: 6 bytes, and an EtherType.
    Radiotap,
}

const LINK_FORMATS: [LinkFormat; 11] = [
    LinkFormat {
        number: 0,
        name: "BSD loopback",
        framing: Framing::Family,
    },
    LinkFormat {
        number: 1,
        name: "Ethernet",
        framing: Framing::Ethernet,
    },
    // Raw IP has its own number in files; some captures use the numbers of BSD and OpenBSD instead.
    LinkFormat {
        number: 12,
        name: "raw IP",
        framing: Framing::Ip,
    },
    LinkFormat {
        number: 14,
        name: "raw IP",
        framing: Framing::Ip,
    },
    LinkFormat {
        number: 101,
        name: "raw IP",
        framing: Framing::Ip,
    },
    LinkFormat {
        number: 108,
        name: "OpenBSD loopback",
        framing: Framing::Family,
    },
    LinkFormat {
        number: 113,
        name: "Linux cooked",
        framing: Framing::Cooked1,
    },
    LinkFormat {
        number: 127,
        name: "802.11 with radiotap",
        framing: Framing::Radiotap,
    },
    LinkFormat {
        number: 228,
        name: "raw IPv4",
        framing: Framing::Ip,
    },
    LinkFormat {
        number: 229,
        name: "raw IPv6",
        framing: Framing::Ip,
    },
    LinkFormat {
        number: 276,
        name: "Linux cooked 2",
        framing: Framing::Cooked2,
    },
];

/// EtherTypes (IEEE registry): IPv4, IPv6, and the tags of VLANs (802.1Q, 802.1ad, and its predecessor).
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN_TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];

/// What a frame contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framed<'a> {
    /// An IP packet, and the number of bytes before it.
    Ip(&'a [u8], u32),
    /// Something else.
    NotIp,
    /// Less than its own header.
    Short,
    /// Unknown: its link type is not supported.
    UnknownLink,
}

/// The name of a link type: `Ethernet`; its number where it has no name here.
pub fn link_type_name(link_type: LinkType) -> String {
    find(link_type).map_or_else(|| format!("link type {}", link_type.0), |known| known.name.to_owned())
}

fn find(link_type: LinkType) -> Option<&'static LinkFormat> {
    LINK_FORMATS.iter().find(|known| known.number == link_type.0)
}

/// Whether frames of this link type are those of 802.11 with radiotap headers.
pub(crate) fn is_wireless(link_type: LinkType) -> bool {
    find(link_type).is_some_and(|known| known.framing == Framing::Radiotap)
}

/// Removes a frame's header.
pub(crate) fn unframe(link_type: LinkType, frame: &[u8]) -> Framed<'_> {
    match find(link_type).map(|known| known.framing) {
        None => Framed::UnknownLink,
        Some(Framing::Ip) => Framed::Ip(frame, 0),
        Some(Framing::Ethernet) => ether(frame, 12, 14),
        Some(Framing::Cooked1) => ether(frame, 14, 16),
        Some(Framing::Cooked2) => ether(frame, 0, 20),
        Some(Framing::Family) => family(frame),
        Some(Framing::Radiotap) => match wireless::read(frame, frame.len() as u32) {
            Some(frame) => unframe_wireless(&frame),
            None => Framed::Short,
        },
    }
}

fn ether(frame: &[u8], type_at: usize, mut head: usize) -> Framed<'_> {
    let u16_at = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
    let mut ether_type = u16_at(type_at);
    while ether_type.is_some_and(|tag| VLAN_TAGS.contains(&tag)) {
        ether_type = u16_at(head + 2);
        head += 4;
    }
    match (ether_type, frame.get(head..)) {
        (Some(IPV4 | IPV6), Some(packet)) => Framed::Ip(packet, head as u32),
        (Some(_), Some(_)) => Framed::NotIp,
        _ => Framed::Short,
    }
}

/// The IP packet of an 802.11 frame.
pub(crate) fn unframe_wireless<'a>(frame: &wireless::MacFrame<'a>) -> Framed<'a> {
    /// LLC and SNAP of an Ethernet type (RFC 1042).
    const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
    match frame.body {
        Some((body, before)) if body.starts_with(&SNAP) => match ether(body, 6, 8) {
            Framed::Ip(packet, head) => Framed::Ip(packet, before + head),
            other => other,
        },
        _ => Framed::NotIp,
    }
}

/// 2 is IPv4 everywhere; IPv6 is 24 on NetBSD and OpenBSD, 28 on FreeBSD, 30 on macOS, 10 on Linux.
fn family(frame: &[u8]) -> Framed<'_> {
    let Some((family, packet)) = frame.split_first_chunk::<4>() else {
        return Framed::Short;
    };
    match u32::from_le_bytes(*family).min(u32::from_be_bytes(*family)) {
        2 | 10 | 24 | 28 | 30 => Framed::Ip(packet, 4),
        _ => Framed::NotIp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packet_begins_behind_each_kind_of_head() {
        let ether = |before: usize, types: &[u16], after: usize| {
            let mut frame = vec![9; before];
            frame.extend(types.iter().flat_map(|number| number.to_be_bytes()));
            frame.extend(vec![9; after]);
            frame.push(0x45);
            frame
        };
        for (number, frame, head) in [
            (101, vec![0x45], 0),
            (1, ether(12, &[0x0800], 0), 14),
            (1, ether(12, &[0x8100, 7, 0x86dd], 0), 18),
            (1, ether(12, &[0x88a8, 7, 0x8100, 7, 0x0800], 0), 22),
            (113, ether(14, &[0x0800], 0), 16),
            (276, ether(0, &[0x0800], 18), 20),
            (0, vec![2, 0, 0, 0, 0x45], 4),
            (0, vec![30, 0, 0, 0, 0x45], 4),
            (108, vec![0, 0, 0, 24, 0x45], 4),
        ] {
            assert_eq!(unframe(LinkType(number), &frame), Framed::Ip(&[0x45], head), "{number}");
        }
    }

    #[test]
    fn what_is_no_ip_packet_is_told_from_what_is_too_short() {
        let arp = [[9; 12].as_slice(), &[8, 6, 1]].concat();
        assert_eq!(unframe(LinkType(1), &arp), Framed::NotIp);
        assert_eq!(unframe(LinkType(1), &arp[..13]), Framed::Short);
        assert_eq!(unframe(LinkType(0), &[2, 0]), Framed::Short);
        assert_eq!(unframe(LinkType(105), &arp), Framed::UnknownLink);
        assert_eq!(link_type_name(LinkType(105)), "link type 105");
    }
}
