//! Prints figures beside their aims, as a table for people or as one JSON object for machines.

use crate::{Aim, Figure};
use lastmile_bench::spread::Spread;
use serde_json::{Value, json};

impl Aim {
    /// Whether the median meets the aim; none where there is no aim.
    fn is_met(self, spread: Spread) -> Option<bool> {
        match self {
            Self::AtLeast(aim) => Some(spread.median >= aim),
            Self::AtMost(aim) => Some(spread.median <= aim),
            Self::Open => None,
        }
    }
}

/// A table with the least, median and most of each figure.
pub(crate) fn text(figures: &[Figure]) -> String {
    let width = figures.iter().map(|figure| figure.name.len()).max().unwrap_or(0);
    let mut text = format!(
        "{:<width$}  {:>10} {:>10} {:>10}  {:<10} runs  aim\n",
        "", "least", "median", "most", "unit"
    );
    for Figure {
        name,
        unit,
        aim,
        spread,
    } in figures
    {
        let row = match spread {
            Some(Spread { min, median, max, n }) => {
                format!(
                    "{:>10} {:>10} {:>10}  {unit:<10} {n:>4}",
                    written(*min),
                    written(*median),
                    written(*max)
                )
            }
            None => "not measured".to_owned(),
        };
        let verdict = match spread.and_then(|spread| aim.is_met(spread)) {
            Some(true) => ": met",
            Some(false) => ": MISSED",
            None => "",
        };
        let aim = match aim {
            Aim::AtLeast(aim) => format!("at least {}", written(*aim)),
            Aim::AtMost(aim) => format!("at most {}", written(*aim)),
            Aim::Open => "none".to_owned(),
        };
        text += &format!("{name:<width$}  {row}  {aim}{verdict}\n");
    }
    text
}

/// One JSON object.
pub(crate) fn json(figures: &[Figure]) -> String {
    let figure = |Figure {
                      name,
                      unit,
                      aim,
                      spread,
                  }: &Figure| {
        let (aim, better) = match aim {
            Aim::AtLeast(aim) => (json!(aim), "more"),
            Aim::AtMost(aim) => (json!(aim), "less"),
            Aim::Open => (Value::Null, "less"),
        };
        json!({
            "name": name, "unit": unit, "better": better, "aim": aim,
            "n": spread.map_or(0, |spread| spread.n),
            "min": spread.map(|spread| spread.min),
            "median": spread.map(|spread| spread.median),
            "max": spread.map(|spread| spread.max),
        })
    };
    let figures: Vec<_> = figures.iter().map(figure).collect();
    format!("{:#}\n", json!({ "schema": "lastmile/bench/1", "figures": figures }))
}

/// Three or four digits; two for small values.
fn written(value: f64) -> String {
    match value {
        value if value > 0.0 && value < 0.01 => {
            let zeroes = -value.log10().floor() as usize;
            format!("{value:.*}", (zeroes + 1).min(9))
        }
        value if value >= 1e6 => format!("{:.2} M", value / 1e6),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(aim: Aim) -> Figure {
        let spread = Spread {
            min: 0.9e6,
            median: 1.2e6,
            max: 1.3e6,
            n: 5,
        };
        Figure {
            name: "packets".to_owned(),
            unit: "packets/s",
            aim,
            spread: Some(spread),
        }
    }

    #[test]
    fn a_median_is_held_against_the_aim() {
        assert!(text(&[figure(Aim::AtLeast(1e6))]).ends_with("at least 1.00 M: met\n"));
        assert!(text(&[figure(Aim::AtMost(1e6))]).ends_with("at most 1.00 M: MISSED\n"));
        assert!(text(&[figure(Aim::Open)]).ends_with("none\n"));
    }

    #[test]
    fn what_is_small_is_not_written_as_nothing() {
        assert_eq!(written(0.01), "0.010");
        assert_eq!(written(0.004_56), "0.0046");
        assert_eq!(written(0.000_02), "0.000020");
        assert_eq!(written(0.0), "0.000");
    }

    #[test]
    fn what_could_not_be_measured_is_shown_as_that() {
        let figure = Figure {
            spread: None,
            ..figure(Aim::AtMost(1.0))
        };
        assert!(text(std::slice::from_ref(&figure)).contains("not measured"));
        assert!(json(&[figure]).contains("\"median\": null"));
    }
}
