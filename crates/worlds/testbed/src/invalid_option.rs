//! The error for an option that is out of its range, and the checks that several products make.

use std::fmt::Display;

/// An option is out of its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{option} is {found}; {remedy}")]
pub struct InvalidOption {
    /// The option.
    pub option: &'static str,
    /// Its value.
    pub found: String,
    /// The values that are allowed.
    pub remedy: &'static str,
}

impl InvalidOption {
    /// The error for `option`, whose value is `found`.
    pub fn new(option: &'static str, found: impl Display, remedy: &'static str) -> Self {
        let found = found.to_string();
        Self { option, found, remedy }
    }
}

/// Checks how many times slower a CPU is than the one that was measured: above 0, and up to 1,000,000, our own choice.
///
/// # Errors
/// When the factor of `option` is out of that range.
pub fn check_slow_down(option: &'static str, factor: f64) -> Result<(), InvalidOption> {
    if factor > 0.0 && factor <= 1e6 {
        return Ok(());
    }
    let remedy = "give a factor above 0 and up to 1000000, like 4";
    Err(InvalidOption::new(option, compact_number(factor), remedy))
}

/// With an exponent from 1e9 on: 1e300 has 301 digits.
fn compact_number(value: f64) -> String {
    if value.abs() < 1e9 {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_down_is_above_zero_and_at_most_a_million() {
        let check = |factor| check_slow_down("the client's slow-down", factor).map_err(|error| error.to_string());
        assert_eq!([0.5, 1.0, 1e6].map(check), [Ok(()), Ok(()), Ok(())]);
        for (factor, found) in [(0.0, "0"), (-1.0, "-1"), (f64::NAN, "NaN"), (1e300, "1e300")] {
            let refused = check(factor).unwrap_err();
            assert_eq!(
                refused,
                format!("the client's slow-down is {found}; give a factor above 0 and up to 1000000, like 4")
            );
        }
    }
}
