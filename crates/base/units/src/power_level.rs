//! Powers of radio signals, as levels above a milliwatt.

use crate::quantity::{Kind, quantity_from_text};
use crate::{Decibels, ParseQuantityError};
use std::fmt;
use std::ops::{Add, Sub};

/// A power in decibels above one milliwatt: 20 dBm are 100 mW. Written `"20 dBm"`, and read from `"100 mW"`, too.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Dbm(f64);

impl Dbm {
    /// That many decibels above a milliwatt.
    pub const fn new(level: f64) -> Self {
        Self(level)
    }

    /// The level as a number.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The level of a power above 0.
    pub fn from_milliwatts(milliwatts: f64) -> Self {
        Self(Decibels::from_ratio(milliwatts).get())
    }

    /// The power in milliwatts.
    pub fn milliwatts(self) -> f64 {
        Decibels::new(self.0).ratio()
    }

    /// Reads `"20 dBm"`, `"-92 dBm"`, `"100 mW"` or `"0.1 W"`.
    ///
    /// # Errors
    /// When the number or its unit is missing or unknown, a power in watts is not above 0, or the level is beyond 300 dBm.
    pub fn parse(text: &str) -> Result<Self, ParseQuantityError> {
        let level = if text.trim_end().ends_with("dBm") {
            LEVEL.parse_signed(text)?
        } else {
            Self::from_milliwatts(POWER.parse(text)?).get()
        };
        if level.abs() <= 300.0 {
            Ok(Self(level))
        } else {
            Err(LEVEL.error(text, "it is not between -300 and 300 dBm"))
        }
    }
}

const LEVEL: Kind = Kind {
    what: "a power",
    example: "20 dBm",
    units: &[("dBm", 1.0)],
};

const POWER: Kind = Kind {
    what: "a power",
    example: "20 dBm",
    units: &[("mW", 1.0), ("W", 1000.0), ("dBm", f64::NAN)],
};

quantity_from_text!(Dbm);

impl fmt::Display for Dbm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // 5 mW are 6.98970004336… dBm: what was written in milliwatts is printed so.
        let milliwatts = (self.milliwatts() * 1e6).round() / 1e6;
        let is_short = |number: f64| (number * 1e3).round() / 1e3 == number;
        if !is_short(self.0) && Self::from_milliwatts(milliwatts) == *self {
            write!(f, "{milliwatts} mW")
        } else {
            write!(f, "{} dBm", self.0)
        }
    }
}

impl Add<Decibels> for Dbm {
    type Output = Self;
    fn add(self, gain: Decibels) -> Self {
        Self(self.0 + gain.get())
    }
}

impl Sub<Decibels> for Dbm {
    type Output = Self;
    fn sub(self, loss: Decibels) -> Self {
        Self(self.0 - loss.get())
    }
}

impl Sub for Dbm {
    type Output = Decibels;
    fn sub(self, other: Self) -> Decibels {
        Decibels::new(self.0 - other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_milliwatts_are_twenty_dbm() {
        assert_eq!("100 mW".parse(), Ok(Dbm::new(20.0)));
        assert_eq!("20 dBm".parse(), Ok(Dbm::new(20.0)));
        assert_eq!("-92.5 dBm".parse(), Ok(Dbm::new(-92.5)));
        assert_eq!(Dbm::new(20.0).milliwatts(), 100.0);
        assert_eq!(Dbm::new(20.0) - Dbm::new(-5.0), Decibels::new(25.0));
    }

    #[test]
    fn a_power_is_printed_as_it_reads_back_and_shortly() {
        for text in ["5 mW", "20 dBm", "0.3 mW", "-92.5 dBm", "1.23456789 dBm"] {
            assert_eq!(text.parse::<Dbm>().unwrap().to_string(), text);
        }
        assert_eq!("100 mW".parse::<Dbm>().unwrap().to_string(), "20 dBm");
    }

    #[test]
    fn no_power_has_no_level() {
        for text in ["0 mW", "-1 mW", "20", "20 dB"] {
            assert!(text.parse::<Dbm>().is_err(), "{text}");
        }
        let refused = "20".parse::<Dbm>().unwrap_err().to_string();
        assert!(refused.contains("one of mW, W, dBm"), "{refused}");
    }
}
