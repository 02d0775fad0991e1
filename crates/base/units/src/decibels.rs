//! Ratios of powers in decibels.

use crate::ParseQuantityError;
use crate::quantity::{Kind, quantity_from_text};
use std::fmt;
use std::ops::{Add, Neg};

/// A ratio of two powers in decibels: 10 dB are a factor of ten. Written `"5 dB"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Decibels(f64);

impl Decibels {
    /// That many decibels.
    pub const fn new(decibels: f64) -> Self {
        Self(decibels)
    }

    /// The number of decibels.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The decibels of a ratio above 0.
    pub fn from_ratio(ratio: f64) -> Self {
        Self(10.0 * libm::log10(ratio))
    }

    /// The ratio.
    pub fn ratio(self) -> f64 {
        libm::pow(10.0, self.0 / 10.0)
    }

    /// Reads `"5 dB"` or `"-3 dB"`.
    ///
    /// # Errors
    /// When the number or its unit is missing or unknown, or beyond 1,000 dB.
    pub fn parse(text: &str) -> Result<Self, ParseQuantityError> {
        let value = KIND.parse_signed(text)?;
        if value.abs() > 1000.0 {
            return Err(KIND.error(text, "it is beyond 1,000 dB"));
        }
        Ok(Self(value))
    }
}

const KIND: Kind = Kind {
    what: "a ratio of powers",
    example: "5 dB",
    units: &[("dB", 1.0)],
};

quantity_from_text!(Decibels);

impl fmt::Display for Decibels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dB", self.0)
    }
}

impl Add for Decibels {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Neg for Decibels {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_decibels_are_a_factor_of_ten() {
        assert_eq!(Decibels::new(10.0).ratio(), 10.0);
        assert_eq!(Decibels::from_ratio(100.0).get(), 20.0);
        assert_eq!("-3.5 dB".parse(), Ok(Decibels::new(-3.5)));
        assert_eq!(Decibels::new(-3.5).to_string(), "-3.5 dB");
    }

    #[test]
    fn a_ratio_without_its_unit_is_refused() {
        let refused = "5".parse::<Decibels>().unwrap_err().to_string();
        assert!(refused.contains("its unit is missing"), "{refused}");
        assert!("2000 dB".parse::<Decibels>().is_err());
    }
}
