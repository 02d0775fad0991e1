//! Thresholds: rules such as `"p95(transfer_time)" = "< 20 s"`, each tested on every cell.

use crate::figure::{self, Figure};
use lastmile_report::rules::{Comparison, Statistic, in_base_unit, split_brackets};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// The rules of a study.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Thresholds(pub Vec<Rule>);

/// A bound on a statistic of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The statistic of the figure's samples.
    pub statistic: Statistic,
    /// The figure.
    pub figure: &'static Figure,
    /// The side of the bound on which it must lie.
    pub comparison: Comparison,
    /// The bound in the figure's base unit.
    pub bound: f64,
    statistic_written: String,
    bound_written: String,
}

impl Rule {
    /// Reads a rule from its two halves: `p95(transfer_time)` and `< 20 s`.
    ///
    /// # Errors
    /// A message for the writer of the study, where the statistic, the figure, the comparison or the bound is not understood.
    pub fn parse(statistic_written: &str, bound_written: &str) -> Result<Self, String> {
        let Ok((statistic, Some(figure))) = split_brackets(statistic_written) else {
            return Err(format!(
                "threshold {statistic_written:?} is not understood; write it like \"p95(transfer_time)\""
            ));
        };
        let statistic = Statistic::parse(statistic).map_err(|error| error.to_string())?;
        let figure = figure::find(figure)?;
        let (comparison, bound) = Comparison::strip_from(bound_written).ok_or_else(|| {
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

impl Thresholds {
    /// Whether there are no rules.
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
}
