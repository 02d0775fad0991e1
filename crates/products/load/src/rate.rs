//! Request rates, and lists of them as text: `100`, `10..160/10`.

use std::fmt;
use std::str::FromStr;

/// Requests per second: more than 0, at most 10 million.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct RequestRate(f64);

/// The largest rate: more than one machine sends; our own choice.
const RATE_MAX: f64 = 1e7;
/// The maximum number of rates of a sweep: our own choice.
const STEPS_MAX: usize = 10_000;

impl RequestRate {
    /// A rate; none if it is not above 0 and at most 10 million per second.
    pub fn new(per_second: f64) -> Option<Self> {
        (per_second > 0.0 && per_second <= RATE_MAX).then_some(Self(per_second))
    }

    /// Requests per second.
    pub const fn per_second(self) -> f64 {
        self.0
    }

    /// The time between two requests of a constant rate, in nanoseconds.
    pub(crate) fn interval_nanos(self) -> f64 {
        1e9 / self.0
    }
}

impl fmt::Display for RequestRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

/// A rate that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not {what}: {problem}; write it like {example}")]
pub struct ParseRateError {
    found: String,
    what: &'static str,
    problem: &'static str,
    example: &'static str,
}

impl FromStr for RequestRate {
    type Err = ParseRateError;

    /// Reads `100`, `100/s` or `2.5`: requests per second.
    fn from_str(text: &str) -> Result<Self, ParseRateError> {
        let refused = |problem| ParseRateError {
            found: text.to_owned(),
            what: "a rate",
            problem,
            example: "100 or 2.5, in requests per second",
        };
        let number = text.trim();
        let number = number.strip_suffix("/s").unwrap_or(number).trim_end();
        let number: f64 = number.parse().map_err(|_| refused("it is no number"))?;
        Self::new(number).ok_or_else(|| refused("it is not above 0 and at most 10000000"))
    }
}

/// Rates from the first to the last in equal steps: `10..160/10`.
#[derive(Debug, Clone, PartialEq)]
pub struct RateSweep(pub Vec<RequestRate>);

impl FromStr for RateSweep {
    type Err = ParseRateError;

    /// Reads `10..160/10` (from 10 to 160, both included, by 10) or `50,75,100`.
    fn from_str(text: &str) -> Result<Self, ParseRateError> {
        let refused = |problem| ParseRateError {
            found: text.to_owned(),
            what: "a sweep of rates",
            problem,
            example: "10..160/10 (from 10 to 160 by 10) or 50,75,100",
        };
        let Some((first, rest)) = text.split_once("..") else {
            return text.split(',').map(str::parse).collect::<Result<_, _>>().map(Self);
        };
        let (last, step) = rest.split_once('/').ok_or_else(|| refused("the step is missing"))?;
        let [first, last, step] = [first, last, step].map(str::parse::<RequestRate>);
        let ([first, last], step) = ([first?.0, last?.0], step?.0);
        if last < first {
            return Err(refused("it ends below its beginning"));
        }
        // A last step that misses the end by rounding still counts.
        let steps = ((last - first) / step + 1e-9).floor();
        if steps >= STEPS_MAX as f64 {
            return Err(refused("it has more than 10000 steps"));
        }
        let rates = (0..=steps as u32).map(|index| RequestRate(first + f64::from(index) * step));
        Ok(Self(rates.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_includes_both_ends() {
        let rates = |text: &str| {
            text.parse::<RateSweep>()
                .map(|sweep| sweep.0.iter().map(|rate| rate.0).collect::<Vec<_>>())
        };
        assert_eq!(rates("10..40/10"), Ok(vec![10.0, 20.0, 30.0, 40.0]));
        assert_eq!(rates("10..35/10"), Ok(vec![10.0, 20.0, 30.0]));
        assert_eq!(rates("0.1..0.3/0.1").map(|rates| rates.len()), Ok(3));
        assert_eq!(rates("50, 75/s"), Ok(vec![50.0, 75.0]));
        for wrong in ["", "10..", "40..10/10", "10..40", "0..40/10", "1..1e7/1", "-1", "inf"] {
            let refused = rates(wrong).unwrap_err().to_string();
            assert!(refused.contains("write it like"), "{refused}");
        }
    }
}
