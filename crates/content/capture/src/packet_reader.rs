//! Reads the datagram of each captured packet once: what a monitor of 802.11 hears again is not read again.

use crate::container::Packet;
use crate::datagram::{self, Datagram, SkipReason};
use crate::link_layer::{Framed, is_wireless, unframe, unframe_wireless};
use crate::wireless::{self, Wireless};

/// A reader of the packets of one capture, in file order.
#[derive(Debug, Default)]
pub(crate) struct PacketReader {
    /// The frames of 802.11 that were read so far.
    pub(crate) wireless: Wireless,
}

impl PacketReader {
    /// The datagram of a packet, or why there is none: [`SkipReason::MacRetry`] where it was read before.
    pub(crate) fn read<'a>(&mut self, packet: &Packet<'a>) -> Result<Datagram<'a>, SkipReason> {
        if !is_wireless(packet.link_type) {
            return datagram_of(unframe(packet.link_type, packet.bytes), packet.length);
        }
        let frame = wireless::read(packet.bytes, packet.length).ok_or(SkipReason::BrokenHeader)?;
        if self.wireless.push(&frame) {
            return Err(SkipReason::MacRetry);
        }
        datagram_of(unframe_wireless(&frame), packet.length)
    }
}

fn datagram_of(framed: Framed<'_>, length: u32) -> Result<Datagram<'_>, SkipReason> {
    match framed {
        Framed::Ip(ip, head) => datagram::read(ip, length.saturating_sub(head)),
        Framed::NotIp => Err(SkipReason::NotIp),
        Framed::Short => Err(SkipReason::BrokenHeader),
        Framed::UnknownLink => Err(SkipReason::UnknownLink),
    }
}
