//! Parses and prints [`Duration`]s: `"50 ms"`, `"2 min"`.

use crate::ParseQuantityError;
use crate::quantity::Kind;
use std::time::Duration;

const KIND: Kind = Kind {
    what: "a duration",
    example: "50 ms",
    units: &[
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("min", 60e9),
        ("m", 60e9),
        ("h", 3600e9),
        ("d", 86_400e9),
        ("w", 604_800e9),
    ],
};

/// Up to this limit, some 26 days, a printed duration reads back exactly to the nanosecond: number and product are each
/// off by at most one part in 2^53, which together is less than half a nanosecond.
const NANOSECONDS_MAX: f64 = (1_u64 << 51) as f64;
/// Whole seconds are exact up to this limit of 100 years: their nanoseconds are multiples of 2^9, so that 2^53 of these multiples can be told apart.
const WHOLE_SECONDS_MAX: f64 = 100.0 * 365.25 * 86_400e9;

/// Reads `"50 ms"`, rounded to a nanosecond.
///
/// # Errors
/// When the number or its unit is missing or unknown, or it is longer than 26 days and no whole number of seconds up to 100 years.
pub fn parse(text: &str) -> Result<Duration, ParseQuantityError> {
    let nanoseconds = KIND.parse(text)?;
    let is_whole = nanoseconds % 1e9 == 0.0 && nanoseconds <= WHOLE_SECONDS_MAX;
    if nanoseconds > NANOSECONDS_MAX && !is_whole {
        return Err(KIND.error(
            text,
            "it is longer than 26 days, and no whole number of seconds up to 100 years",
        ));
    }
    Ok(Duration::from_nanos(nanoseconds.round() as u64))
}

/// Prints the shortest exact form: `50 ms`, `1.5 s`, `0 s`.
pub fn print(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos();
    match nanoseconds {
        0 => "0 s".to_owned(),
        n if n >= 1_000_000_000 => format!("{} s", n as f64 / 1e9),
        n if n >= 1_000_000 => format!("{} ms", n as f64 / 1e6),
        n if n >= 1_000 => format!("{} us", n as f64 / 1e3),
        n => format!("{n} ns"),
    }
}

/// Serde through the printed form: `#[serde(with = "crate::duration::text")]`.
pub mod text {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    /// Writes `"50 ms"`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::print(*duration))
    }

    /// Reads `"50 ms"`.
    ///
    /// # Errors
    /// As [`super::parse`].
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        super::parse(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_can_be_read_back() {
        for nanoseconds in [
            0,
            1,
            999,
            1_000,
            1_500_000,
            50_000_000,
            120_000_000_000,
            2_161_727_694_999_997,
            30 * 86_400_000_000_000,
            3_155_759_999_000_000_000,
        ] {
            let duration = Duration::from_nanos(nanoseconds);
            assert_eq!(parse(&print(duration)), Ok(duration));
        }
    }

    #[test]
    fn what_could_not_be_read_back_exactly_is_refused() {
        assert!(
            parse("4294967.695 s")
                .unwrap_err()
                .to_string()
                .contains("longer than 26 days")
        );
    }

    #[test]
    fn minutes_days_and_weeks_have_short_names() {
        assert_eq!(parse("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse("1w"), parse("7d"));
        assert_eq!(parse("1 d"), parse("24h"));
        assert!(parse("5").unwrap_err().to_string().contains("unit is missing"));
    }
}
