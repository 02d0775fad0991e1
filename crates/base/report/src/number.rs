//! Writes figures for a person, as [`lastmile_units::number`] does, and those that have a spread.

use crate::record::Figure;
pub use lastmile_units::number::{
    NO_NUMBER, count, interval, percent, quantity, signed_percent, spread, with_decimals,
};

/// A number of things: `1 message`, `10,000 messages`.
pub fn counted(value: u64, what: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {what}{plural}", count(value))
}

/// A mean number of bytes, without its unit: with a tenth where it is below a thousand and not whole.
pub fn mean_bytes(bytes: f64) -> String {
    with_decimals(bytes, usize::from(bytes < 1000.0 && bytes.fract() != 0.0))
}

/// Mean and population deviation in one unit: `9.53 s ± 0.14`; the mean alone where there is one sample.
pub fn mean_and_spread(figure: &Figure) -> String {
    if figure.n < 2 {
        return quantity(figure.mean, &figure.unit);
    }
    spread(figure.mean, figure.population_sd, &figure.unit)
}
