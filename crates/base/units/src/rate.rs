//! Bit rates.

use crate::ParseQuantityError;
use crate::quantity::{Kind, quantity_from_text, write_scaled};
use std::fmt;
use std::num::NonZeroU64;

/// Bits per second, at least one. Written `"512 kbit/s"`; K is 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(NonZeroU64);

impl BitRate {
    /// That many bits per second; none where it would be zero.
    pub const fn new(bits_per_second: u64) -> Option<Self> {
        match NonZeroU64::new(bits_per_second) {
            Some(rate) => Some(Self(rate)),
            None => None,
        }
    }

    /// The rate, as a number.
    pub const fn bits_per_second(self) -> u64 {
        self.0.get()
    }

    /// Reads `"512 kbit/s"`, also written `512kbps` and `512kbit`, rounded to a whole bit per second.
    ///
    /// # Errors
    /// When the number or its unit is missing or unknown, or the rate is below 1 bit/s or above 10 Tbit/s.
    pub fn parse(text: &str) -> Result<Self, ParseQuantityError> {
        let trimmed = text.trim();
        let number = trimmed.strip_suffix("bps").or_else(|| trimmed.strip_suffix("bit"));
        let in_full = number.and_then(|number| KIND.parse(&format!("{number}bit/s")).ok());
        let value = in_full.map_or_else(|| KIND.parse(text), Ok)?.round();
        if value > 1e13 {
            return Err(KIND.error(text, "it is above 10 Tbit/s"));
        }
        Self::new(value as u64).ok_or_else(|| KIND.error(text, "it is below 1 bit/s"))
    }
}

const KIND: Kind = Kind {
    what: "a bit rate",
    example: "512 kbit/s",
    units: &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)],
};

quantity_from_text!(BitRate);

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0.get() as f64, KIND.units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_printed_in_the_fields_terms() {
        for short in ["5 Mbps", "5Mbit", "5000kbps"] {
            assert_eq!(
                short.parse::<BitRate>().unwrap().bits_per_second(),
                5_000_000,
                "{short}"
            );
        }
        let rate: BitRate = "1638.4 kbit/s".parse().unwrap();
        assert_eq!(rate.bits_per_second(), 1_638_400);
        assert_eq!(rate.to_string(), "1.6384 Mbit/s");
    }

    #[test]
    fn a_rate_of_zero_and_an_unknown_unit_are_refused() {
        assert!(
            "0 bit/s"
                .parse::<BitRate>()
                .unwrap_err()
                .to_string()
                .contains("below 1 bit/s")
        );
        assert!(
            "5 MB/s"
                .parse::<BitRate>()
                .unwrap_err()
                .to_string()
                .contains("unknown unit \"MB/s\"")
        );
    }
}
