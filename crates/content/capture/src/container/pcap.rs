//! Reads pcap files: a header of 24 bytes, then records of 16 (or 24) bytes, each followed by its packet.
//!
//! As in draft-ietf-opsawg-pcap, in both byte orders, with times in microseconds or nanoseconds; and the variant of an old patched libpcap
//! (magic a1b2cd34), whose records have 8 more bytes that are not used here.

use super::endianness::Endianness;
use super::source::Source;
use super::{Interface, LinkType, Packet, ReadStep};
use crate::error::Problem;
use lastmile_units::Instant;
use std::io::Read;

/// The length of the file header.
const HEAD: usize = 24;

/// The longest packet, unless the file header states a larger one. libpcap calls it MAXIMUM_SNAPLEN; loopback and USB reach it.
const PACKET_LENGTH_MAX: u32 = 262_144;

/// The contents of the file header.
#[derive(Debug)]
pub(super) struct Pcap {
    order: Endianness,
    /// Nanoseconds per unit of a time's fraction.
    unit: u64,
    record: usize,
    interface: Interface,
}

impl Pcap {
    /// The byte order, time unit and record length of a pcap that begins with `magic`; none where it is not a pcap.
    fn kind(magic: [u8; 4]) -> Option<(Endianness, u64, usize)> {
        let of = |order, number| match number {
            0xa1b2_c3d4 => Some((order, 1000, 16)),
            0xa1b2_3c4d => Some((order, 1, 16)),
            0xa1b2_cd34 => Some((order, 1000, 24)),
            _ => None,
        };
        of(Endianness::Little, u32::from_le_bytes(magic)).or_else(|| of(Endianness::Big, u32::from_be_bytes(magic)))
    }

    /// Reads the file header; none where the file begins otherwise.
    pub(super) fn open<R: Read>(source: &mut Source<R>) -> Result<Option<Self>, Problem> {
        let head = super::read(source, HEAD)?;
        let Some((order, unit, record)) = head.first_chunk().and_then(|magic| Self::kind(*magic)) else {
            return Ok(None);
        };
        if head.len() < HEAD {
            return Err(Problem::NothingWhole {
                at: source.bytes_read(),
            });
        }
        let interface = Interface {
            // The upper half describes checksums after the packet, which the packet's own length excludes.
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
    pub(super) fn next<'a, R: Read>(&self, source: &'a mut Source<R>) -> Result<ReadStep<'a>, Problem> {
        let at = source.offset();
        let head = super::read(source, self.record)?;
        if head.len() < self.record {
            return Ok(ReadStep::ended(head.is_empty(), source.bytes_read()));
        }
        let [seconds, fraction, captured, length] = [0, 4, 8, 12].map(|offset| self.order.u32(head, offset));
        let longest = PACKET_LENGTH_MAX.max(self.interface.snap_length.min(i32::MAX as u32));
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
            return Ok(ReadStep::ended(false, source.bytes_read()));
        }
        let nanoseconds = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.unit;
        Ok(ReadStep::Packet(Packet {
            at: Instant::from_nanos(nanoseconds),
            link_type: self.interface.link_type,
            // Where a writer states a smaller length than it captured, the captured length counts.
            length: length.max(captured),
            bytes: &source.take(whole)[self.record..],
            comments: &[],
        }))
    }
}
