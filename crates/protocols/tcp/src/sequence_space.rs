//! Maps the 32-bit sequence numbers of the wire to 64-bit offsets in the stream.

/// The numbering of one direction. Internally, positions are 64-bit offsets that never wrap: the SYN is at 0, data begins at 1,
/// and the FIN follows the last byte. On the wire they are the initial sequence number plus the offset, modulo 2^32 (RFC 9293
/// section 3.4).
#[derive(Debug, Clone, Copy)]
pub(super) struct SequenceSpace {
    initial: u32,
}

impl SequenceSpace {
    pub(super) const fn new(initial: u32) -> Self {
        Self { initial }
    }

    pub(super) const fn to_wire(self, offset: u64) -> u32 {
        self.initial.wrapping_add(offset as u32)
    }

    /// The offset within 2^31 of `near` that `wire` stands for; 0 where that would be before the SYN.
    pub(super) fn to_offset(self, wire: u32, near: u64) -> u64 {
        let distance = wire.wrapping_sub(self.to_wire(near)) as i32;
        near.saturating_add_signed(i64::from(distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_survive_the_wrap_of_the_wire_number() {
        let numbering = SequenceSpace::new(0xffff_fff0);
        for offset in [0, 1, 15, 16, 17, 5_000_000_000] {
            let wire = numbering.to_wire(offset);
            for near in [offset.saturating_sub(1000), offset, offset + 1000] {
                assert_eq!(numbering.to_offset(wire, near), offset);
            }
        }
    }
}
