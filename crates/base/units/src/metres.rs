//! Distances.

use crate::ParseQuantityError;
use crate::quantity::{Kind, quantity_from_text};
use std::fmt;

/// A distance in metres, zero or more. Written `"10 m"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Metres(f64);

impl Metres {
    /// That many metres.
    ///
    /// # Panics
    /// Where it is negative or not a number.
    pub fn new(metres: f64) -> Self {
        assert!(metres >= 0.0, "a distance is not negative");
        Self(metres)
    }

    /// The number of metres.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Reads `"10 m"` or `"1.5 km"`.
    ///
    /// # Errors
    /// When the number or its unit is missing or unknown, or the distance is above 1,000 km.
    pub fn parse(text: &str) -> Result<Self, ParseQuantityError> {
        let value = KIND.parse(text)?;
        if value > 1e6 {
            return Err(KIND.error(text, "it is above 1,000 km"));
        }
        Ok(Self(value))
    }
}

const KIND: Kind = Kind {
    what: "a distance",
    example: "10 m",
    units: &[("m", 1.0), ("km", 1000.0)],
};

quantity_from_text!(Metres);

impl fmt::Display for Metres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} m", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_read_and_printed_in_metres() {
        assert_eq!("1.5 km".parse(), Ok(Metres::new(1500.0)));
        assert_eq!(Metres::new(10.0).to_string(), "10 m");
        assert!("-1 m".parse::<Metres>().is_err() && "10".parse::<Metres>().is_err());
    }
}
