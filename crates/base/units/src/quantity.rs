//! Splits text such as "512 kbit/s" into a number and a unit, and explains the failure where that is not possible.

use std::fmt;

/// A quantity that could not be read: what was expected, what was found, and an example that would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not {what}: {problem}; write it like {example:?}")]
pub struct ParseQuantityError {
    what: &'static str,
    found: String,
    problem: String,
    example: &'static str,
}

/// The name of a kind of quantity, its units, and an example.
pub(crate) struct Kind {
    pub(crate) what: &'static str,
    pub(crate) example: &'static str,
    /// Accepted units, and how many base units each stands for.
    pub(crate) units: &'static [(&'static str, f64)],
}

impl Kind {
    /// Reads `text` as a finite, non-negative number followed by one of the units; returns it in base units.
    pub(crate) fn parse(&self, text: &str) -> Result<f64, ParseQuantityError> {
        let value = self.parse_signed(text)?;
        if value < 0.0 {
            return Err(self.error(text, "it is negative"));
        }
        Ok(value)
    }

    /// As [`Kind::parse`], for a number of either sign.
    pub(crate) fn parse_signed(&self, text: &str) -> Result<f64, ParseQuantityError> {
        let trimmed = text.trim();
        let number_ends = trimmed
            .char_indices()
            .find(|&(at, c)| !(c.is_ascii_digit() || c == '.' || c == '_' || (at == 0 && (c == '-' || c == '+'))))
            .map_or(trimmed.len(), |(at, _)| at);
        let (number, unit) = trimmed.split_at(number_ends);
        let unit = unit.trim();
        let value: f64 = number
            .replace('_', "")
            .parse()
            .map_err(|_| self.error(text, "it does not begin with a number"))?;
        let Some((_, scale)) = self.units.iter().find(|(name, _)| *name == unit) else {
            let known = self.units.iter().map(|(name, _)| *name).filter(|name| !name.is_empty());
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(self.error(
                text,
                if unit.is_empty() {
                    format!("its unit is missing (one of {known})")
                } else {
                    format!("unknown unit {unit:?} (one of {known})")
                },
            ));
        };
        Ok(value * scale)
    }

    pub(crate) fn error(&self, found: &str, problem: impl Into<String>) -> ParseQuantityError {
        ParseQuantityError {
            what: self.what,
            found: found.to_owned(),
            problem: problem.into(),
            example: self.example,
        }
    }
}

/// Prints `value` (in base units) in the largest of `units` in which it is at least 1, with as many digits as it needs.
pub(crate) fn write_scaled(f: &mut fmt::Formatter<'_>, value: f64, units: &[(&str, f64)]) -> fmt::Result {
    let (name, scale) = units
        .iter()
        .rev()
        .find(|(_, scale)| value >= *scale)
        .unwrap_or(&units[0]);
    write!(f, "{} {name}", value / scale)
}

/// Implements `FromStr`, and serde through the printed form, for a quantity.
macro_rules! quantity_from_text {
    ($type:ty) => {
        impl std::str::FromStr for $type {
            type Err = $crate::ParseQuantityError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = String::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use quantity_from_text;
