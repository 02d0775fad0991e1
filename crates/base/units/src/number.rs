//! Writes figures for a person: with an SI prefix, three significant digits, and the spread in the same unit.
//!
//! Units are those of the records: `s`, `B`, `bit/s`, `1`, `1/s`, or the name of what is counted (`packet`). CSV and JSON print numbers
//! in full, for machines.

/// A prefix chosen for a unit: a value divided by `size` is written before `unit`.
#[derive(Debug, Clone, PartialEq)]
pub struct Prefixed {
    /// What a value is divided by.
    pub size: f64,
    /// The unit's symbol with its prefix.
    pub unit: String,
}

/// The units, each by its base name with the prefixes that are common with it.
const PREFIXES: &[(&str, &[(&str, f64)])] = &[
    ("s", &[("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)]),
    ("B", &[("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)]),
    (
        "bit/s",
        &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)],
    ),
    ("1", &[("", 1.0)]),
    ("1/s", &[("/s", 1.0)]),
];

/// The prefix with which `value` is at least 1, or the smallest there is; 0 is written in the base unit.
pub fn prefix(value: f64, unit: &str) -> Prefixed {
    let Some((_, sizes)) = PREFIXES.iter().find(|(name, _)| *name == unit) else {
        return Prefixed {
            size: 1.0,
            unit: unit.to_owned(),
        };
    };
    let base = sizes.iter().find(|(_, size)| *size == 1.0).unwrap_or(&sizes[0]);
    let chosen = if value == 0.0 || !value.is_finite() {
        base
    } else {
        // 0.9995 instead of 1, so that 999.7 ms, which three digits would print as "1000 ms", is written "1.00 s".
        sizes
            .iter()
            .rev()
            .find(|(_, size)| value.abs() >= size * 0.9995)
            .unwrap_or(&sizes[0])
    };
    Prefixed {
        size: chosen.1,
        unit: chosen.0.to_owned(),
    }
}

/// `9.53 s`, `512 kbit/s`, `0.93`.
pub fn quantity(value: f64, unit: &str) -> String {
    let Prefixed { size, unit } = prefix(value, unit);
    let value = value / size;
    with_unit(&with_decimals(value, decimals(value)), &unit)
}

/// `9.53 s ± 0.14`: the mean has as many decimals as two digits of the spread need, at most two more than without a spread.
pub fn spread(mean: f64, population_sd: f64, unit: &str) -> String {
    let Prefixed { size, unit } = prefix(mean, unit);
    let (mean, population_sd) = (mean / size, population_sd / size);
    if population_sd == 0.0 {
        return format!("{} ± 0", with_unit(&with_decimals(mean, decimals(mean)), &unit));
    }
    let most = decimals(mean) + 2;
    let decimals = (0..most)
        .find(|decimals| population_sd >= 19.9 * half_unit(*decimals))
        .unwrap_or(most);
    let population_sd = if population_sd < half_unit(decimals) {
        format!("<{}", with_decimals(half_unit(decimals) * 2.0, decimals))
    } else {
        with_decimals(population_sd, decimals)
    };
    format!("{} ± {population_sd}", with_unit(&with_decimals(mean, decimals), &unit))
}

/// `9.40 to 9.66 s`, with the prefix of the larger.
pub fn interval([low, high]: [f64; 2], unit: &str) -> String {
    let Prefixed { size, unit } = prefix(low.abs().max(high.abs()), unit);
    let decimals = decimals(low.abs().max(high.abs()) / size);
    format!(
        "{} to {}",
        with_decimals(low / size, decimals),
        with_unit(&with_decimals(high / size, decimals), &unit)
    )
}

/// A ratio in per cent, with its sign: `+5.2 %`.
pub fn signed_percent(ratio: f64) -> String {
    if !ratio.is_finite() {
        return NO_NUMBER.to_owned();
    }
    format!("{}{}", if ratio > 0.0 { "+" } else { "" }, percent(ratio))
}

/// A ratio in per cent: `84 %`, `5.2 %`, `0.04 %`.
pub fn percent(ratio: f64) -> String {
    // Rounded to 1e-10 of a per cent first, so that 0.07 is 7 % without decimals, and not 7.000000000000001 %.
    let percent = (ratio * 1e12).round() / 1e10;
    format!(
        "{} %",
        with_decimals(percent, decimals(percent).min(if percent.abs() < 1.0 { 2 } else { 1 }))
    )
}

/// The text of a value that is not a number.
pub const NO_NUMBER: &str = "n/a";

fn with_unit(number: &str, unit: &str) -> String {
    match unit {
        "" => number.to_owned(),
        unit => format!("{number} {unit}"),
    }
}

/// Decimal places for three digits: 2 below 10, 1 below 100, none above; more below 1, up to 6.
fn decimals(value: f64) -> usize {
    let value = value.abs();
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let mut decimals = 0;
    let mut bound = 99.95;
    while value < bound && decimals < 6 {
        decimals += 1;
        bound /= 10.0;
    }
    // A whole number needs no decimals: 5 objects, and not 5.00.
    if value.fract() == 0.0 { 0 } else { decimals }
}

fn half_unit(decimals: usize) -> f64 {
    let mut half = 0.5;
    for _ in 0..decimals {
        half /= 10.0;
    }
    half
}

/// A whole number, with separators of thousands from 10,000 up.
pub fn count(value: u64) -> String {
    with_decimals(value as f64, 0)
}

/// With `decimals` decimals, separators of thousands from 10,000 up, and no negative zero.
pub fn with_decimals(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return NO_NUMBER.to_owned();
    }
    let text = format!("{value:.decimals$}");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) if digits.bytes().any(|b| matches!(b, b'1'..=b'9')) => ("-", digits),
        Some(digits) => ("", digits),
        None => ("", text.as_str()),
    };
    let whole = digits.split('.').next().unwrap_or(digits).len();
    let mut grouped = String::from(sign);
    for (at, c) in digits.chars().enumerate() {
        if whole >= 5 && at > 0 && at < whole && (whole - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(c);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_has_a_prefix_and_three_digits() {
        assert_eq!(quantity(9.5301, "s"), "9.53 s");
        assert_eq!(quantity(0.000_48, "s"), "480 µs");
        assert_eq!(quantity(0.9997, "s"), "1.00 s");
        assert_eq!(quantity(512_000.0, "bit/s"), "512 kbit/s");
        assert_eq!(quantity(55_538.0, "B"), "55.5 kB");
        assert_eq!(quantity(0.0, "s"), "0 s");
        assert_eq!(quantity(0.93, "1"), "0.930");
        assert_eq!(quantity(12_345.0, "packet"), "12,345 packet");
        assert_eq!(quantity(f64::NAN, "s"), "n/a s");
    }

    #[test]
    fn a_spread_is_in_the_unit_of_its_mean_and_never_reads_zero_when_it_is_not() {
        assert_eq!(spread(9.53, 0.137, "s"), "9.53 s ± 0.14");
        assert_eq!(spread(9.53, 0.000_4, "s"), "9.5300 s ± 0.0004");
        assert_eq!(spread(9.53, 0.000_000_4, "s"), "9.5300 s ± <0.0001");
        assert_eq!(spread(0.0057, 0.016, "1"), "0.006 ± 0.016");
        assert_eq!(spread(55_538.0, 0.0, "B"), "55.5 kB ± 0");
    }

    #[test]
    fn changes_carry_their_sign() {
        assert_eq!(signed_percent(0.052), "+5.2 %");
        assert_eq!(signed_percent(-0.4), "-40 %");
        assert_eq!(signed_percent(f64::INFINITY), "n/a");
        assert_eq!(percent(0.4321), "43.2 %");
    }

    #[test]
    fn intervals_share_one_unit() {
        assert_eq!(interval([0.0094, 0.0103], "s"), "9.4 to 10.3 ms");
        assert_eq!(interval([-0.1, 0.2], "s"), "-100 to 200 ms");
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(with_decimals(-0.001, 1), "0.0");
        assert_eq!(with_decimals(-1234567.0, 0), "-1,234,567");
    }
}
