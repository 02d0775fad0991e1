//! Which end of a number comes first? Whoever wrote a capture chose; its first number tells.

/// The order of a number's octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The least significant octet comes first.
    Little,
    /// The most significant octet comes first.
    Big,
}

impl Order {
    /// The 16-bit number at `at`; the caller has made sure that it is there.
    pub(super) fn u16(self, octets: &[u8], at: usize) -> u16 {
        let number = [octets[at], octets[at + 1]];
        match self {
            Order::Little => u16::from_le_bytes(number),
            Order::Big => u16::from_be_bytes(number),
        }
    }

    /// The 32-bit number at `at`; the caller has made sure that it is there.
    pub(super) fn u32(self, octets: &[u8], at: usize) -> u32 {
        let number = [octets[at], octets[at + 1], octets[at + 2], octets[at + 3]];
        match self {
            Order::Little => u32::from_le_bytes(number),
            Order::Big => u32::from_be_bytes(number),
        }
    }

    /// The 64-bit number at `at`, its halves in this order too; the caller has made sure that it is there.
    pub(super) fn u64(self, octets: &[u8], at: usize) -> u64 {
        let halves = [self.u32(octets, at), self.u32(octets, at + 4)].map(u64::from);
        match self {
            Order::Little => halves[1] << 32 | halves[0],
            Order::Big => halves[0] << 32 | halves[1],
        }
    }
}
