//! CCSDS Space Packets (CCSDS 133.0-B-2), the encoding of telemetry, and a check for missing packets.
//!
//! A packet is a primary header of 6 bytes and a data field of 1 to 65,536. What the data field means is left to the mission; see
//! `tm_packets` of `lastmile-workload` for housekeeping reports.

use bytes::Bytes;
use std::collections::BTreeMap;

/// The size of the primary header, in bytes (section 4.1.2).
pub const PRIMARY_HEADER: usize = 6;

/// Sequence counts run from 0 to one less than this, for each application process.
const SEQUENCE_COUNTS: u16 = 1 << 14;
const APPLICATION_PROCESSES: u16 = 1 << 11;

/// The direction of a packet (section 4.1.3.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketType {
    /// From the spacecraft.
    Telemetry,
    /// To the spacecraft.
    Telecommand,
}

/// Which part of a longer unit a packet holds (section 4.1.3.4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceFlags {
    /// A part from its middle.
    Continuation = 0,
    /// Its first part.
    First = 1,
    /// Its last part.
    Last = 2,
    /// All of it.
    Unsegmented = 3,
}

/// A packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpacePacket {
    /// Its direction.
    pub packet_type: PacketType,
    /// Whether its data field begins with a secondary header.
    pub has_secondary_header: bool,
    /// The application process identifier, 0 to 2047.
    pub application_process: u16,
    /// Which part of a longer unit it holds.
    pub sequence_flags: SequenceFlags,
    /// Counts the packets of its application process, 0 to 16,383.
    pub sequence_count: u16,
    /// The data field, secondary header included: 1 to 65,536 bytes.
    pub data: Bytes,
}

/// Why bytes are not a packet, or a packet cannot be encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// Another version of the protocol.
    #[error(
        "packet version number {found}: only version 0 (CCSDS 133.0-B) is read; is the offset of the packet right?"
    )]
    Version {
        /// The version number.
        found: u8,
    },
    /// Fewer bytes than the header needs or announces.
    #[error("a packet of {needed} bytes is cut off after {found}; feed the whole packet")]
    CutOff {
        /// The size of header and data field.
        needed: usize,
        /// The number of bytes present.
        found: usize,
    },
    /// More bytes than the header announces.
    #[error("a packet of {announced} bytes is followed by {surplus} more; cut packets at their announced length")]
    Surplus {
        /// The size of header and data field.
        announced: usize,
        /// The number of bytes that follow.
        surplus: usize,
    },
    /// A field that is out of its range.
    #[error("{field} is {found}, out of its range {range}")]
    Range {
        /// Its name.
        field: &'static str,
        /// Its value.
        found: usize,
        /// The values allowed.
        range: &'static str,
    },
}

impl SpacePacket {
    /// The packet as bytes.
    ///
    /// # Errors
    /// When a field is out of its range.
    pub fn encode(&self) -> Result<Bytes, PacketError> {
        let range = |field, found, range| Err(PacketError::Range { field, found, range });
        if self.application_process >= APPLICATION_PROCESSES {
            return range(
                "the application process identifier",
                usize::from(self.application_process),
                "0 to 2047",
            );
        }
        if self.sequence_count >= SEQUENCE_COUNTS {
            return range("the sequence count", usize::from(self.sequence_count), "0 to 16383");
        }
        let Some(length) = self
            .data
            .len()
            .checked_sub(1)
            .and_then(|length| u16::try_from(length).ok())
        else {
            return range("the length of the data field", self.data.len(), "1 to 65536");
        };
        let packet_type = u16::from(self.packet_type == PacketType::Telecommand);
        let identification = packet_type << 12 | u16::from(self.has_secondary_header) << 11 | self.application_process;
        let flags = self.sequence_flags as u16;
        let mut bytes = Vec::with_capacity(PRIMARY_HEADER + self.data.len());
        bytes.extend(identification.to_be_bytes());
        bytes.extend((flags << 14 | self.sequence_count).to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes.extend(&self.data);
        Ok(bytes.into())
    }

    /// Decodes `bytes`, which must be exactly one packet.
    ///
    /// # Errors
    /// When the version is another, or the length is not the announced one.
    pub fn decode(bytes: &Bytes) -> Result<Self, PacketError> {
        let found = bytes.len();
        let Some(&[first, second, third, fourth, fifth, sixth]) = bytes.first_chunk::<PRIMARY_HEADER>() else {
            return Err(PacketError::CutOff {
                needed: PRIMARY_HEADER + 1,
                found,
            });
        };
        if first >> 5 != 0 {
            return Err(PacketError::Version { found: first >> 5 });
        }
        let announced = PRIMARY_HEADER + 1 + usize::from(u16::from_be_bytes([fifth, sixth]));
        if found < announced {
            return Err(PacketError::CutOff {
                needed: announced,
                found,
            });
        }
        if found > announced {
            return Err(PacketError::Surplus {
                announced,
                surplus: found - announced,
            });
        }
        Ok(Self {
            packet_type: if first & 0x10 == 0 {
                PacketType::Telemetry
            } else {
                PacketType::Telecommand
            },
            has_secondary_header: first & 0x08 != 0,
            application_process: u16::from_be_bytes([first & 0x07, second]),
            sequence_flags: match third >> 6 {
                0 => SequenceFlags::Continuation,
                1 => SequenceFlags::First,
                2 => SequenceFlags::Last,
                _ => SequenceFlags::Unsegmented,
            },
            sequence_count: u16::from_be_bytes([third & 0x3f, fourth]),
            data: bytes.slice(PRIMARY_HEADER..),
        })
    }
}

/// Packets are missing, duplicated, or out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "application process {application_process}: sequence count {found} where {expected} was expected; packets are missing or out of order"
)]
pub struct SequenceGap {
    /// The application process of the packets.
    pub application_process: u16,
    /// The expected count.
    pub expected: u16,
    /// The count found.
    pub found: u16,
}

/// Checks the sequence counts of each application process.
#[derive(Debug, Clone, Default)]
pub struct SequenceCheck {
    due: BTreeMap<u16, u16>,
}

impl SequenceCheck {
    /// Checks the next packet; after a gap, counting continues from the packet found. The first packet of a process may have any count.
    ///
    /// # Errors
    /// When its count is not the expected one.
    pub fn accept(&mut self, packet: &SpacePacket) -> Result<(), SequenceGap> {
        let (application_process, found) = (packet.application_process, packet.sequence_count);
        match self.due.insert(application_process, (found + 1) % SEQUENCE_COUNTS) {
            Some(expected) if expected != found => Err(SequenceGap {
                application_process,
                expected,
                found,
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet(sequence_count: u16) -> SpacePacket {
        SpacePacket {
            packet_type: PacketType::Telemetry,
            has_secondary_header: true,
            application_process: 0x501,
            sequence_flags: SequenceFlags::Unsegmented,
            sequence_count,
            data: Bytes::from_static(&[1, 2, 3]),
        }
    }

    #[test]
    fn the_primary_header_is_as_in_the_standard() {
        // Version 0, telemetry, secondary header, process 0x501; unsegmented, count 5; three bytes announced as 2.
        assert_eq!(
            packet(5).encode().unwrap()[..],
            [0x0d, 0x01, 0xc0, 0x05, 0x00, 0x02, 1, 2, 3]
        );
    }

    #[test]
    fn another_version_and_a_wrong_length_are_refused() {
        let bytes = packet(5).encode().unwrap();
        let mut versioned = bytes.to_vec();
        versioned[0] |= 0x20;
        assert_eq!(
            SpacePacket::decode(&versioned.into()),
            Err(PacketError::Version { found: 1 })
        );
        assert_eq!(
            SpacePacket::decode(&bytes.slice(..8)),
            Err(PacketError::CutOff { needed: 9, found: 8 })
        );
        assert_eq!(
            SpacePacket::decode(&bytes.slice(..5)),
            Err(PacketError::CutOff { needed: 7, found: 5 })
        );
        let longer = [&bytes[..], &[0]].concat().into();
        assert_eq!(
            SpacePacket::decode(&longer),
            Err(PacketError::Surplus {
                announced: 9,
                surplus: 1
            })
        );
    }

    #[test]
    fn fields_out_of_range_are_refused() {
        let too_high = SpacePacket {
            application_process: 2048,
            ..packet(0)
        };
        assert!(
            too_high
                .encode()
                .unwrap_err()
                .to_string()
                .contains("2048, out of its range 0 to 2047")
        );
        assert!(packet(1 << 14).encode().is_err());
        assert!(
            SpacePacket {
                data: Bytes::new(),
                ..packet(0)
            }
            .encode()
            .is_err()
        );
    }

    #[test]
    fn a_gap_is_seen_once_and_the_count_may_wrap() {
        let mut check = SequenceCheck::default();
        assert_eq!(check.accept(&packet(16_382)), Ok(()));
        assert_eq!(check.accept(&packet(16_383)), Ok(()));
        assert_eq!(check.accept(&packet(0)), Ok(()));
        assert_eq!(
            check.accept(&packet(3)),
            Err(SequenceGap {
                application_process: 0x501,
                expected: 1,
                found: 3
            })
        );
        assert_eq!(check.accept(&packet(4)), Ok(()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_packet_that_encodes_to_them_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let bytes = Bytes::from(bytes);
            if let Ok(packet) = SpacePacket::decode(&bytes) {
                prop_assert_eq!(packet.encode().unwrap(), bytes);
            }
        }

        #[test]
        fn what_is_encoded_is_decoded_the_same(process in 0_u16..2048, count in 0_u16..16_384, data in prop::collection::vec(any::<u8>(), 1..2000)) {
            let sent = SpacePacket { application_process: process, data: data.into(), ..packet(count) };
            prop_assert_eq!(SpacePacket::decode(&sent.encode().unwrap()), Ok(sent));
        }
    }
}
