//! What must hold? Rules such as `"p95(transfer_time)" = "< 20 s"`, each held against every cell.

use crate::figure::{self, Figure};
use lastmile_units::{BitRate, Bytes, duration};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// The rules of a study.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Thresholds(pub Vec<Rule>);

/// A bound on a statistic of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Of the figure's samples.
    pub statistic: Statistic,
    /// The figure.
    pub figure: &'static Figure,
    /// On which side of the bound it must lie.
    pub comparison: Comparison,
    /// In the figure's base unit.
    pub bound: f64,
    statistic_written: String,
    bound_written: String,
}

/// What is taken of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// `mean(…)`.
    Mean,
    /// `min(…)`.
    Least,
    /// `max(…)`.
    Greatest,
    /// `p95(…)`: the quantile of that probability.
    Quantile(f64),
}

/// On which side of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

impl Comparison {
    /// Whether `found` lies on the right side of `bound`.
    pub fn holds(self, found: f64, bound: f64) -> bool {
        match self {
            Self::Below => found < bound,
            Self::AtMost => found <= bound,
            Self::Above => found > bound,
            Self::AtLeast => found >= bound,
        }
    }
}

impl Rule {
    /// Reads a rule from its two halves: `p95(transfer_time)` and `< 20 s`.
    ///
    /// # Errors
    /// A message for the writer of the study, where the statistic, the figure, the comparison or the bound is not understood.
    pub fn parse(statistic_written: &str, bound_written: &str) -> Result<Self, String> {
        let unread =
            || format!("threshold {statistic_written:?} is not understood; write it like \"p95(transfer_time)\"");
        let (statistic, figure) = statistic_written
            .trim()
            .strip_suffix(')')
            .and_then(|text| text.split_once('('))
            .ok_or_else(unread)?;
        let statistic = match statistic.trim() {
            "mean" | "avg" => Statistic::Mean,
            "min" => Statistic::Least,
            "max" => Statistic::Greatest,
            quantile => {
                let per_cent = quantile.strip_prefix('p').and_then(|digits| digits.parse::<f64>().ok());
                let per_cent = per_cent.filter(|value| (0.0..=100.0).contains(value));
                Statistic::Quantile(
                    per_cent.ok_or_else(|| {
                        format!("unknown statistic {quantile:?}; there are mean, min, max and p0 to p100")
                    })? / 100.0,
                )
            }
        };
        let figure = figure::find(figure.trim()).map_err(|error| error.to_string())?;
        let bound = bound_written.trim();
        let comparisons = [
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("<", Comparison::Below),
            (">", Comparison::Above),
        ];
        let (comparison, bound) = comparisons
            .iter()
            .find_map(|(sign, comparison)| Some((*comparison, bound.strip_prefix(sign)?.trim())))
            .ok_or_else(|| {
                format!("bound {bound_written:?} starts with none of <, <=, >, >=; write it like \"< 20 s\"")
            })?;
        Ok(Self {
            statistic,
            figure,
            comparison,
            bound: in_base_unit(figure.unit, bound)?,
            statistic_written: statistic_written.to_owned(),
            bound_written: bound_written.to_owned(),
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.statistic_written, self.bound_written)
    }
}

/// A quantity of that base unit, as a number.
pub(super) fn in_base_unit(unit: &str, text: &str) -> Result<f64, String> {
    match unit {
        "s" => duration::parse(text)
            .map(|time| time.as_secs_f64())
            .map_err(|error| error.to_string()),
        "B" => Bytes::parse(text).map(Bytes::as_f64).map_err(|error| error.to_string()),
        "bit/s" => BitRate::parse(text)
            .map(|rate| rate.bits_per_second() as f64)
            .map_err(|error| error.to_string()),
        _ => {
            // A count is written without a unit, and its last digit is none.
            let unit = if unit == "1" { "" } else { unit };
            let number = text.strip_suffix(unit).unwrap_or(text).trim();
            number
                .parse()
                .ok()
                .filter(|value: &f64| value.is_finite())
                .ok_or_else(|| format!("{text:?} is not a number"))
        }
    }
}

impl Thresholds {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Thresholds {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|rule| (&rule.statistic_written, &rule.bound_written)))
    }
}

impl<'de> Deserialize<'de> for Thresholds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = BTreeMap::<String, String>::deserialize(from)?;
        let rules = written.iter().map(|(statistic, bound)| Rule::parse(statistic, bound));
        rules
            .collect::<Result<_, _>>()
            .map(Self)
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_read_in_the_unit_of_its_figure() {
        let rule = Rule::parse("p95(transfer_time)", "< 20 s").unwrap();
        assert_eq!(
            (rule.statistic, rule.comparison, rule.bound),
            (Statistic::Quantile(0.95), Comparison::Below, 20.0)
        );
        assert_eq!(rule.to_string(), "p95(transfer_time) < 20 s");
        assert_eq!(Rule::parse("mean(goodput)", ">= 1 Mbit/s").unwrap().bound, 1e6);
        assert_eq!(Rule::parse("max(queue_drops)", "<= 3").unwrap().bound, 3.0);
        assert_eq!(Rule::parse("min(transfer_rate)", "> 15 1/s").unwrap().bound, 15.0);
    }

    #[test]
    fn what_is_not_understood_is_refused_with_an_example() {
        let refusal = |statistic, bound| Rule::parse(statistic, bound).unwrap_err();
        assert!(refusal("transfer_time", "< 20 s").contains("write it like \"p95(transfer_time)\""));
        assert!(refusal("p101(transfer_time)", "< 20 s").contains("p0 to p100"));
        assert!(refusal("mean(transfer_tme)", "< 20 s").contains("did you mean \"transfer_time\""));
        assert!(refusal("mean(transfer_time)", "20 s").contains("write it like \"< 20 s\""));
        assert!(refusal("mean(transfer_time)", "< 20").contains("unit is missing"));
        assert!(refusal("max(queue_drops)", "< few").contains("not a number"));
    }

    #[test]
    fn the_last_digit_of_a_count_is_no_unit() {
        assert_eq!(Rule::parse("max(queue_drops)", "< 21").unwrap().bound, 21.0);
    }

    #[test]
    fn a_bound_itself_lies_on_the_side_that_is_written() {
        assert!(!Comparison::Below.holds(1.0, 1.0) && Comparison::AtMost.holds(1.0, 1.0));
        assert!(!Comparison::Above.holds(1.0, 1.0) && Comparison::AtLeast.holds(1.0, 1.0));
    }
}
