//! The data field of a housekeeping packet: a time, a structure identifier and 16-bit parameters.
//!
//! Laid out after the packet utilisation standard ECSS-E-70-41A: a data field header (section 5.4), a housekeeping parameter
//! report (service 3, subtype 25, section 8), and the packet error control (annex A). Widths that the standard leaves to missions
//! (time of 4 + 2 bytes, structure identifier and parameters of 2) are our own choice.

use bytes::Bytes;
use lastmile_wire_formats::ccsds::{PacketType, SequenceFlags, SpacePacket};

/// The service and its subtype: housekeeping parameter reports.
pub(super) const SERVICE: (u8, u8) = (3, 25);

/// Bytes of the data field beside parameters: header 10, structure identifier 2, packet error control 2.
pub(super) const WITHOUT_PARAMETERS: usize = 14;

/// Version 1 of the standard's telemetry data field header.
const HEADER_VERSION: u8 = 0x10;
const GROUND: u8 = 0;

/// A housekeeping report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HousekeepingReport {
    /// When the parameters were sampled, in 1/65,536 s of the spacecraft's clock (48 bits).
    pub time: u64,
    /// The structure identifier, which says what the parameters are.
    pub structure: u16,
    /// Their raw values.
    pub parameters: Vec<u16>,
}

/// Why a packet is not a housekeeping report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HousekeepingError {
    /// A packet of another kind.
    #[error("a packet of service {0}, subtype {1}, with {2} bytes of data is not a housekeeping report (3, 25)")]
    Kind(u8, u8, usize),
    /// The packet was damaged.
    #[error("packet error control is {found:#06x}, but the packet's bytes give {expected:#06x}; the packet is damaged")]
    ErrorControl {
        /// The value computed from the bytes.
        expected: u16,
        /// The value in the packet.
        found: u16,
    },
}

impl HousekeepingReport {
    /// The telemetry packet that carries it.
    pub(super) fn packet(&self, application_process: u16, sequence_count: u16) -> SpacePacket {
        let mut data = Vec::with_capacity(WITHOUT_PARAMETERS + 2 * self.parameters.len());
        data.extend([HEADER_VERSION, SERVICE.0, SERVICE.1, GROUND]);
        data.extend(&self.time.to_be_bytes()[2..]);
        data.extend(self.structure.to_be_bytes());
        for parameter in &self.parameters {
            data.extend(parameter.to_be_bytes());
        }
        data.extend([0, 0]);
        let mut packet = SpacePacket {
            packet_type: PacketType::Telemetry,
            has_secondary_header: true,
            application_process,
            sequence_flags: SequenceFlags::Unsegmented,
            sequence_count,
            data: data.clone().into(),
        };
        let bytes = packet.encode().expect("the plan keeps every field in its range");
        let control = error_control(&bytes[..bytes.len() - 2]);
        let end = data.len() - 2;
        data[end..].copy_from_slice(&control.to_be_bytes());
        packet.data = data.into();
        packet
    }

    /// Reads it from `packet`, whose bytes are `bytes`.
    ///
    /// # Errors
    /// When the packet is of another kind, or damaged.
    pub(super) fn read(packet: &SpacePacket, bytes: &Bytes) -> Result<Self, HousekeepingError> {
        let data = &packet.data;
        let kind = |at: usize| data.get(at).copied().unwrap_or_default();
        if data.len() < WITHOUT_PARAMETERS || !data.len().is_multiple_of(2) || (kind(1), kind(2)) != SERVICE {
            return Err(HousekeepingError::Kind(kind(1), kind(2), data.len()));
        }
        let (checked, found) = bytes.split_at(bytes.len() - 2);
        let (expected, found) = (error_control(checked), u16::from_be_bytes([found[0], found[1]]));
        if expected != found {
            return Err(HousekeepingError::ErrorControl { expected, found });
        }
        let words: Vec<u16> = data[4..data.len() - 2]
            .chunks_exact(2)
            .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
            .collect();
        let time = words[..3].iter().fold(0, |time, &word| time << 16 | u64::from(word));
        Ok(Self {
            time,
            structure: words[3],
            parameters: words[4..].to_vec(),
        })
    }
}

/// The cyclic redundancy code of annex A: x^16 + x^12 + x^5 + 1, started from ones.
fn error_control(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |mut code, &byte| {
        code ^= u16::from(byte) << 8;
        for _ in 0..8 {
            code = if code & 0x8000 == 0 {
                code << 1
            } else {
                code << 1 ^ 0x1021
            };
        }
        code
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_control_is_the_standards() {
        // The check values of ECSS-E-70-41A, annex A.1.5.
        assert_eq!(error_control(&[0x00, 0x00]), 0x1d0f);
        assert_eq!(error_control(&[0x00, 0x00, 0x00]), 0xcc9c);
        assert_eq!(error_control(&[0xab, 0xcd, 0xef, 0x01]), 0x04a2);
    }

    #[test]
    fn a_report_comes_back_and_a_damaged_one_does_not() {
        let report = HousekeepingReport {
            time: 0x1234_5678_9abc,
            structure: 2,
            parameters: vec![1, 0xffff, 3],
        };
        let packet = report.packet(0x501, 9);
        let bytes = packet.encode().unwrap();
        assert_eq!(bytes.len(), 6 + WITHOUT_PARAMETERS + 6);
        assert_eq!(HousekeepingReport::read(&packet, &bytes), Ok(report));
        for at in 0..bytes.len() * 8 {
            let mut damaged = bytes.to_vec();
            damaged[at / 8] ^= 1 << (at % 8);
            let damaged = Bytes::from(damaged);
            if let Ok(packet) = SpacePacket::decode(&damaged) {
                assert!(HousekeepingReport::read(&packet, &damaged).is_err(), "bit {at}");
            }
        }
    }
}
