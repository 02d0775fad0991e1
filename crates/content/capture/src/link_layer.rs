//! Finds the IP packet in a link-layer frame. Link types are numbered as at tcpdump.org/linktypes.html.

use crate::container::LinkType;
use crate::datagram::SkipReason;
use crate::wireless;

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

/// The number of each link type that is read, its name, and the header of its frames.
const LINK_TYPES: [(u16, &str, Framing); 11] = [
    (0, "BSD loopback", Framing::Family),
    (1, "Ethernet", Framing::Ethernet),
    // Raw IP has its own number in files; some captures use the numbers of BSD and OpenBSD instead.
    (12, "raw IP", Framing::Ip),
    (14, "raw IP", Framing::Ip),
    (101, "raw IP", Framing::Ip),
    (108, "OpenBSD loopback", Framing::Family),
    (113, "Linux cooked", Framing::Cooked1),
    (127, "802.11 with radiotap", Framing::Radiotap),
    (228, "raw IPv4", Framing::Ip),
    (229, "raw IPv6", Framing::Ip),
    (276, "Linux cooked 2", Framing::Cooked2),
];

/// EtherTypes (IEEE registry): IPv4, IPv6, and the tags of VLANs (802.1Q, 802.1ad, and its predecessor).
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN_TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];

/// The name of a link type: `Ethernet`; its number where it has no name here.
pub fn link_type_name(link_type: LinkType) -> String {
    find(link_type).map_or_else(
        || format!("link type {}", link_type.0),
        |(_, name, _)| (*name).to_owned(),
    )
}

fn find(link_type: LinkType) -> Option<&'static (u16, &'static str, Framing)> {
    LINK_TYPES.iter().find(|(number, ..)| *number == link_type.0)
}

/// Whether frames of this link type are those of 802.11 with radiotap headers.
pub(crate) fn is_wireless(link_type: LinkType) -> bool {
    find(link_type).is_some_and(|(.., framing)| *framing == Framing::Radiotap)
}

/// The IP packet in a frame, and the number of bytes before it.
///
/// # Errors
/// [`SkipReason::BrokenHeader`] where the frame is shorter than its own header.
pub(crate) fn unframe(link_type: LinkType, frame: &[u8]) -> Result<(&[u8], u32), SkipReason> {
    match find(link_type).map(|(.., framing)| *framing) {
        None => Err(SkipReason::UnknownLink),
        Some(Framing::Ip) => Ok((frame, 0)),
        Some(Framing::Ethernet) => ether(frame, 12, 14),
        Some(Framing::Cooked1) => ether(frame, 14, 16),
        Some(Framing::Cooked2) => ether(frame, 0, 20),
        Some(Framing::Family) => family(frame),
        Some(Framing::Radiotap) => {
            let frame = wireless::read(frame, frame.len() as u32).ok_or(SkipReason::BrokenHeader)?;
            unframe_wireless(&frame)
        }
    }
}

fn ether(frame: &[u8], type_at: usize, mut head: usize) -> Result<(&[u8], u32), SkipReason> {
    let u16_at = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
    let mut ether_type = u16_at(type_at);
    while ether_type.is_some_and(|tag| VLAN_TAGS.contains(&tag)) {
        ether_type = u16_at(head + 2);
        head += 4;
    }
    match (ether_type, frame.get(head..)) {
        (Some(IPV4 | IPV6), Some(packet)) => Ok((packet, head as u32)),
        (Some(_), Some(_)) => Err(SkipReason::NotIp),
        _ => Err(SkipReason::BrokenHeader),
    }
}

/// The IP packet of an 802.11 frame.
pub(crate) fn unframe_wireless<'a>(frame: &wireless::MacFrame<'a>) -> Result<(&'a [u8], u32), SkipReason> {
    /// LLC and SNAP of an Ethernet type (RFC 1042).
    const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
    match frame.body {
        Some((body, before)) if body.starts_with(&SNAP) => {
            let (packet, head) = ether(body, 6, 8)?;
            Ok((packet, before + head))
        }
        _ => Err(SkipReason::NotIp),
    }
}

/// 2 is IPv4 everywhere; IPv6 is 24 on NetBSD and OpenBSD, 28 on FreeBSD, 30 on macOS, 10 on Linux.
fn family(frame: &[u8]) -> Result<(&[u8], u32), SkipReason> {
    let Some((family, packet)) = frame.split_first_chunk::<4>() else {
        return Err(SkipReason::BrokenHeader);
    };
    match u32::from_le_bytes(*family).min(u32::from_be_bytes(*family)) {
        2 | 10 | 24 | 28 | 30 => Ok((packet, 4)),
        _ => Err(SkipReason::NotIp),
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
            assert_eq!(unframe(LinkType(number), &frame), Ok((&[0x45][..], head)), "{number}");
        }
    }

    #[test]
    fn what_is_no_ip_packet_is_told_from_what_is_too_short() {
        let arp = [[9; 12].as_slice(), &[8, 6, 1]].concat();
        assert_eq!(unframe(LinkType(1), &arp), Err(SkipReason::NotIp));
        assert_eq!(unframe(LinkType(1), &arp[..13]), Err(SkipReason::BrokenHeader));
        assert_eq!(unframe(LinkType(0), &[2, 0]), Err(SkipReason::BrokenHeader));
        assert_eq!(unframe(LinkType(105), &arp), Err(SkipReason::UnknownLink));
        assert_eq!(link_type_name(LinkType(105)), "link type 105");
    }
}
