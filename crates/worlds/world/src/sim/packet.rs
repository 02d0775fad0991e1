//! The packets of the simulated world: a segment, with the part of its IP header that changes on the way.

use crate::pcapng_writer::write_ipv4;
use crate::topology::Payload;
use lastmile_tcp::Segment;
use lastmile_units::ByteCount;

/// An IP packet.
#[derive(Debug, Clone)]
pub(super) struct Packet {
    pub(super) segment: Segment,
    time_to_live: u8,
}

/// The initial time to live of a packet (`net.ipv4.ip_default_ttl` of Linux).
const TIME_TO_LIVE: u8 = 64;

impl Packet {
    pub(super) const fn new(segment: Segment) -> Self {
        let time_to_live = TIME_TO_LIVE;
        Self { segment, time_to_live }
    }

    /// The packet as a router forwards it; none if its time to live is over (RFC 1812, section 5.3.1). Paths have no loops, so that only
    /// happens behind 63 routers in a row.
    pub(super) fn forwarded(self) -> Option<Self> {
        let time_to_live = self.time_to_live - 1;
        let segment = self.segment;
        (time_to_live > 0).then_some(Self { segment, time_to_live })
    }
}

impl Payload for Packet {
    fn size(&self) -> ByteCount {
        self.segment.size()
    }

    fn append_to(&self, bytes: &mut Vec<u8>) {
        write_ipv4(&self.segment, self.time_to_live, bytes);
    }
}
