//! The byte order of a capture, which its writer chose and which its first number shows.

/// The byte order of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endianness {
    /// The least significant byte comes first.
    Little,
    /// The most significant byte comes first.
    Big,
}

impl Endianness {
    /// The 16-bit number at `at`; the caller has checked that it is there.
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let number = [bytes[at], bytes[at + 1]];
        match self {
            Endianness::Little => u16::from_le_bytes(number),
            Endianness::Big => u16::from_be_bytes(number),
        }
    }

    /// The 32-bit number at `at`; the caller has checked that it is there.
    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let number = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Endianness::Little => u32::from_le_bytes(number),
            Endianness::Big => u32::from_be_bytes(number),
        }
    }

    /// The 64-bit number at `at`, its halves in this order too; the caller has checked that it is there.
    pub(super) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let halves = [self.u32(bytes, at), self.u32(bytes, at + 4)].map(u64::from);
        match self {
            Endianness::Little => halves[1] << 32 | halves[0],
            Endianness::Big => halves[0] << 32 | halves[1],
        }
    }
}
