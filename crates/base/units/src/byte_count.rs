//! Counts of bytes.

use crate::quantity::{Kind, quantity_from_text, write_scaled};
use crate::{BitRate, ParseQuantityError};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::time::Duration;

/// A count of bytes. Written `"1 MB"` (10^6) or `"1 MiB"` (2^20).
///
/// ```
/// use lastmile_units::{BitRate, ByteCount};
/// use std::time::Duration;
/// let page: ByteCount = "7 kB".parse().unwrap();
/// let modem: BitRate = "56 kbit/s".parse().unwrap();
/// assert_eq!(page / modem, Duration::from_secs(1));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteCount(u64);

impl ByteCount {
    /// No bytes.
    pub const ZERO: ByteCount = ByteCount(0);

    /// That many bytes.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// The count, as a number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The count, for arithmetic on ratios; exact up to 2^53.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// `self - other`, or zero where `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Reads `"1 MB"`; a fraction of a byte is rounded to the nearest.
    ///
    /// # Errors
    /// When the number or its unit is missing or unknown, with an example.
    pub fn parse(text: &str) -> Result<Self, ParseQuantityError> {
        let value = KIND.parse(text)?;
        if value > 9e15 {
            return Err(KIND.error(text, "more than 9 PB"));
        }
        Ok(Self(value.round() as u64))
    }
}

const KIND: Kind = Kind {
    what: "a number of bytes",
    example: "1 MB",
    units: &[
        ("B", 1.0),
        ("kB", 1e3),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
    ],
};

quantity_from_text!(ByteCount);

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.as_f64(), &[("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)])
    }
}

impl From<usize> for ByteCount {
    fn from(count: usize) -> Self {
        Self(count as u64)
    }
}

impl Add for ByteCount {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for ByteCount {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for ByteCount {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for ByteCount {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for ByteCount {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl Sum for ByteCount {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

impl Div<BitRate> for ByteCount {
    type Output = Duration;
    /// The time to serialise these bytes, rounded up to a nanosecond: a frame never ends before its last bit.
    fn div(self, rate: BitRate) -> Duration {
        let bits_ns = u128::from(self.0) * 8 * 1_000_000_000;
        Duration::from_nanos(bits_ns.div_ceil(u128::from(rate.bits_per_second())) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_is_a_thousand_and_kib_is_1024() {
        assert_eq!("1 kB".parse(), Ok(ByteCount::new(1000)));
        assert_eq!("1.5 KiB".parse(), Ok(ByteCount::new(1536)));
    }

    #[test]
    fn serialisation_time_is_rounded_up_to_a_nanosecond() {
        let rate = BitRate::new(3).unwrap();
        assert_eq!(ByteCount::new(1) / rate, Duration::from_nanos(2_666_666_667));
    }

    #[test]
    fn a_number_without_a_unit_is_refused_with_an_example() {
        let error = "1000".parse::<ByteCount>().unwrap_err().to_string();
        assert_eq!(
            error,
            "\"1000\" is not a number of bytes: its unit is missing (one of B, kB, KB, MB, GB, KiB, MiB, GiB); write it like \"1 MB\""
        );
    }

    #[test]
    fn what_is_printed_can_be_read_back() {
        for count in [0, 1, 999, 1000, 1500, 25_000_000, 123_456_789] {
            assert_eq!(ByteCount::new(count).to_string().parse(), Ok(ByteCount::new(count)));
        }
    }
}
