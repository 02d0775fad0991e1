//! Probabilities: ratios from 0 to 1.

use crate::ParseQuantityError;
use crate::quantity::{Kind, quantity_from_text};
use std::fmt;

/// A ratio from 0 to 1. Written `"2 %"` or `"0.02"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// Never.
    pub const NEVER: Probability = Probability(0.0);
    /// Always.
    pub const ALWAYS: Probability = Probability(1.0);

    /// The probability with this ratio; none where it is not between 0 and 1.
    pub fn new(ratio: f64) -> Option<Self> {
        (0.0..=1.0).contains(&ratio).then_some(Self(ratio))
    }

    /// The ratio.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Reads `"2 %"` or `"0.02"`.
    ///
    /// # Errors
    /// When it is not a number, or lies outside 0 to 1.
    pub fn parse(text: &str) -> Result<Self, ParseQuantityError> {
        Self::new(KIND.parse(text)?).ok_or_else(|| KIND.error(text, "it lies outside 0 to 100 %"))
    }
}

const KIND: Kind = Kind {
    what: "a probability",
    example: "1 %",
    units: &[("%", 0.01), ("", 1.0)],
};

quantity_from_text!(Probability);

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded to 1e-10 of a per cent, so that 0.07 is not printed as 7.000000000000001 %.
        write!(f, "{} %", (self.0 * 1e12).round() / 1e10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn per_cent_and_ratio_are_both_read() {
        assert_eq!("2 %".parse(), Ok(Probability(0.02)));
        assert_eq!("0.5".parse(), Ok(Probability(0.5)));
        assert_eq!(Probability(0.07).to_string(), "7 %");
    }

    #[test]
    fn more_than_certain_is_refused() {
        assert!(
            "101 %"
                .parse::<Probability>()
                .unwrap_err()
                .to_string()
                .contains("outside 0 to 100 %")
        );
    }
}
