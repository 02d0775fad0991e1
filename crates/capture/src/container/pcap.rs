//! How does a pcap file lay out its packets? A head of 24 octets, then records of 16 (or 24) and the packet.
//!
//! As draft-ietf-opsawg-pcap has it, in both byte orders, with times in microseconds or nanoseconds; and the variant of an old
//! patched libpcap (magic a1b2cd34), whose records have 8 octets more that matter to nobody here.

use super::order::Order;
use super::source::Source;
use super::{Interface, LinkType, Packet, Step};
use crate::error::Problem;
use lastmile_units::Instant;
use std::io::Read;

/// The length of the file's head.
const HEAD: usize = 24;

/// No packet is longer, unless the head says so. What libpcap calls MAXIMUM_SNAPLEN; loopback and USB reach it.
const LONGEST: u32 = 262_144;

/// What the file's head says.
#[derive(Debug)]
pub(super) struct Pcap {
    order: Order,
    /// Nanoseconds in the second number of a time.
    unit: u64,
    record: usize,
    interface: Interface,
}

impl Pcap {
    /// Whether a file that begins so is a pcap, and if so, in which order, time unit, and length of records.
    fn kind(magic: [u8; 4]) -> Option<(Order, u64, usize)> {
        let of = |order, number| match number {
            0xa1b2_c3d4 => Some((order, 1000, 16)),
            0xa1b2_3c4d => Some((order, 1, 16)),
            0xa1b2_cd34 => Some((order, 1000, 24)),
            _ => None,
        };
        of(Order::Little, u32::from_le_bytes(magic)).or_else(|| of(Order::Big, u32::from_be_bytes(magic)))
    }

    /// Reads the head; none where the file begins otherwise.
    pub(super) fn open<R: Read>(source: &mut Source<R>) -> Result<Option<Self>, Problem> {
        let head = super::read(source, HEAD)?;
        let Some((order, unit, record)) = head.first_chunk().and_then(|magic| Self::kind(*magic)) else {
            return Ok(None);
        };
        if head.len() < HEAD {
            return Err(Problem::NothingWhole { at: source.seen() });
        }
        let interface = Interface {
            // The upper half tells of checksums behind the packet, which the packet's own length leaves out.
            link_type: LinkType(order.u32(head, 20) as u16),
            snap_length: order.u32(head, 16),
        };
        source.take(HEAD);
        Ok(Some(Self {
            order,
            unit,
            record,
            interface,
        }))
    }

    pub(super) fn interfaces(&self) -> &[Interface] {
        std::slice::from_ref(&self.interface)
    }

    /// The next packet.
    pub(super) fn next<'a, R: Read>(&self, source: &'a mut Source<R>) -> Result<Step<'a>, Problem> {
        let at = source.offset();
        let head = super::read(source, self.record)?;
        if head.len() < self.record {
            return Ok(Step::ended(head.is_empty(), source.seen()));
        }
        let [seconds, fraction, captured, length] = [0, 4, 8, 12].map(|place| self.order.u32(head, place));
        let longest = LONGEST.max(self.interface.snap_length.min(i32::MAX as u32));
        if captured > longest {
            return Err(Problem::Damaged {
                at,
                what: "the length of a packet",
                found: captured.to_string(),
                wanted: format!("at most {longest}"),
            });
        }
        let whole = self.record + captured as usize;
        if super::read(source, whole)?.len() < whole {
            return Ok(Step::ended(false, source.seen()));
        }
        let nanoseconds = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.unit;
        Ok(Step::Packet(Packet {
            at: Instant::from_nanos(nanoseconds),
            link_type: self.interface.link_type,
            // A writer that states less than it captured is taken at its octets.
            length: length.max(captured),
            octets: &source.take(whole)[self.record..],
            comments: &[],
        }))
    }
}
