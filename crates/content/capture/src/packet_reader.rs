//! Reads the datagram of each captured packet once: what a monitor of 802.11 hears again is not read again.

use crate::container::Packet;
use crate::datagram::{self, Datagram, SkipReason};
use crate::link_layer::{is_wireless, unframe, unframe_wireless};
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
        let (ip, head) = if is_wireless(packet.link_type) {
            let frame = wireless::read(packet.bytes, packet.length).ok_or(SkipReason::BrokenHeader)?;
            if self.wireless.push(&frame) {
                return Err(SkipReason::MacRetry);
            }
            unframe_wireless(&frame)?
        } else {
            unframe(packet.link_type, packet.bytes)?
        };
        datagram::read(ip, packet.length.saturating_sub(head))
    }
}
