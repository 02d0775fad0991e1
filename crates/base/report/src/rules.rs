//! The grammar of rules on figures: `statistic(figure) comparison bound`, as in `p95(transfer_time) > 20 s`.
//!
//! Studies have rules that must hold (thresholds). `--fail-on` takes rules that must not apply; [`Comparison::opposite`] turns one into a rule that
//! must hold. What a figure and a bound may be is decided where a rule is used: in `study`, in `tune`, in [`crate::compare`].

use crate::record::Figure;
use lastmile_statistics::{Distribution, mean, quantile};
use lastmile_units::{BitRate, ByteCount, duration};
use std::fmt;

/// A rule, split into its parts: `p95(transfer_time) > 20 s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleText<'a> {
    /// What is compared: `p95(transfer_time)`.
    pub subject: &'a str,
    /// The side of the bound.
    pub comparison: Comparison,
    /// The bound with its unit: `20 s`.
    pub bound: &'a str,
}

/// A side of a bound.
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

/// A statistic of samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// `mean`.
    Mean,
    /// `p95`: the quantile of that probability. `min`, `median` and `max` are those of 0, 0.5 and 1.
    Quantile(f64),
}

/// A part of a rule that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleTextError {
    /// The rule compares nothing.
    #[error("it has neither > nor <")]
    NoComparison,
    /// `mean(transfer_time`.
    #[error("its bracket is not closed")]
    OpenBracket,
    /// No statistic has this name.
    #[error("unknown statistic {0:?}; there are mean, median, min, max and p0 to p100")]
    UnknownStatistic(String),
    /// Records do not hold this statistic.
    #[error("records do not hold {0:?}; they hold mean, median, p95 and p99")]
    UnrecordedStatistic(String),
}

impl<'a> RuleText<'a> {
    /// Splits a rule at its comparison.
    ///
    /// # Errors
    /// When there is none.
    pub fn parse(text: &'a str) -> Result<Self, RuleTextError> {
        let at = text.find(['<', '>']).ok_or(RuleTextError::NoComparison)?;
        let (subject, rest) = text.split_at(at);
        let (comparison, bound) = Comparison::strip_from(rest).ok_or(RuleTextError::NoComparison)?;
        Ok(Self {
            subject: subject.trim(),
            comparison,
            bound,
        })
    }
}

/// Splits `p95(transfer_time)` into `p95` and `transfer_time`, and `ratio` into `ratio` and nothing.
///
/// # Errors
/// When a bracket is not closed.
pub fn split_brackets(subject: &str) -> Result<(&str, Option<&str>), RuleTextError> {
    let Some((name, inside)) = subject.trim().split_once('(') else {
        return Ok((subject.trim(), None));
    };
    let inside = inside.strip_suffix(')').ok_or(RuleTextError::OpenBracket)?;
    Ok((name.trim(), Some(inside.trim())))
}

impl Comparison {
    const ALL: [Self; 4] = [Self::AtMost, Self::AtLeast, Self::Below, Self::Above];

    /// Splits `< 20 s` into the comparison and `20 s`; none where the text begins with no sign.
    pub fn strip_from(text: &str) -> Option<(Self, &str)> {
        let text = text.trim();
        // Longer signs come first: `<=` begins with `<`.
        Self::ALL
            .iter()
            .find_map(|comparison| Some((*comparison, text.strip_prefix(comparison.sign())?.trim())))
    }

    /// Whether `found` lies on this side of `bound`.
    pub fn holds(self, found: f64, bound: f64) -> bool {
        match self {
            Self::Below => found < bound,
            Self::AtMost => found <= bound,
            Self::Above => found > bound,
            Self::AtLeast => found >= bound,
        }
    }

    /// The comparison that holds where this one does not.
    pub fn opposite(self) -> Self {
        match self {
            Self::Below => Self::AtLeast,
            Self::AtMost => Self::Above,
            Self::Above => Self::AtMost,
            Self::AtLeast => Self::Below,
        }
    }

    /// `<`, `<=`, `>` or `>=`.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sign())
    }
}

impl Statistic {
    /// Reads `mean`, `median`, `min`, `max` or `p0` to `p100`.
    ///
    /// # Errors
    /// When there is no such statistic.
    pub fn parse(name: &str) -> Result<Self, RuleTextError> {
        let per_cent = match name {
            "mean" | "avg" => return Ok(Self::Mean),
            "min" => Some(0.0),
            "median" => Some(50.0),
            "max" => Some(100.0),
            quantile => quantile.strip_prefix('p').and_then(|digits| digits.parse::<f64>().ok()),
        };
        per_cent
            .filter(|value| (0.0..=100.0).contains(value))
            .map(|value| Self::Quantile(value / 100.0))
            .ok_or_else(|| RuleTextError::UnknownStatistic(name.to_owned()))
    }

    /// Reads a statistic that figures in records hold: `mean`, `median` (`p50`), `p95` or `p99`.
    ///
    /// # Errors
    /// When it is another, or there is no such statistic.
    pub fn parse_recorded(name: &str) -> Result<Self, RuleTextError> {
        match Self::parse(name)? {
            Self::Quantile(probability) if ![0.5, 0.95, 0.99].contains(&probability) => {
                Err(RuleTextError::UnrecordedStatistic(name.to_owned()))
            }
            recorded => Ok(recorded),
        }
    }

    /// The statistic of samples; none where there are none.
    pub fn of_samples(self, samples: &[f64]) -> Option<f64> {
        match self {
            Self::Mean => mean(samples),
            Self::Quantile(probability) => quantile(samples, probability),
        }
    }

    /// The statistic of samples that are kept as their distribution.
    pub fn of_distribution(self, samples: &Distribution) -> f64 {
        match self {
            Self::Mean => samples.mean(),
            Self::Quantile(probability) => samples.quantile(probability),
        }
    }

    /// The statistic that a record's figure holds; none where it does not hold it.
    pub fn of_figure(self, figure: &Figure) -> Option<f64> {
        match self {
            Self::Mean => Some(figure.mean),
            Self::Quantile(probability) => figure.quantiles.get(&probability.to_string()).copied(),
        }
    }
}

/// Reads a quantity as a number in the base unit `unit`.
///
/// # Errors
/// When it is not a number, or lacks the unit.
pub fn in_base_unit(unit: &str, text: &str) -> Result<f64, String> {
    match unit {
        "s" => duration::parse(text)
            .map(|time| time.as_secs_f64())
            .map_err(|error| error.to_string()),
        "B" => ByteCount::parse(text)
            .map(ByteCount::as_f64)
            .map_err(|error| error.to_string()),
        "bit/s" => BitRate::parse(text)
            .map(|rate| rate.bits_per_second() as f64)
            .map_err(|error| error.to_string()),
        _ => {
            // A count has no unit; its last digit must not be read as the unit "1".
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_split_at_the_longest_sign() {
        let rule = RuleText::parse(" p95( transfer_time ) >= 20 s ").unwrap();
        assert_eq!((rule.comparison, rule.bound), (Comparison::AtLeast, "20 s"));
        assert_eq!(split_brackets(rule.subject), Ok(("p95", Some("transfer_time"))));
        assert_eq!(split_brackets("ratio"), Ok(("ratio", None)));
        assert_eq!(split_brackets("mean(a"), Err(RuleTextError::OpenBracket));
        assert_eq!(RuleText::parse("p95"), Err(RuleTextError::NoComparison));
    }

    #[test]
    fn a_bound_itself_lies_on_the_side_that_is_written() {
        assert!(!Comparison::Below.holds(1.0, 1.0) && Comparison::AtMost.holds(1.0, 1.0));
        assert!(!Comparison::Above.holds(1.0, 1.0) && Comparison::AtLeast.holds(1.0, 1.0));
    }

    #[test]
    fn of_a_comparison_and_its_opposite_one_holds() {
        for comparison in Comparison::ALL {
            for found in [0.0, 1.0, 2.0] {
                assert_ne!(comparison.holds(found, 1.0), comparison.opposite().holds(found, 1.0));
            }
        }
    }

    #[test]
    fn a_statistic_of_samples_is_that_of_their_figure() {
        let samples = [1.0, 2.0, 4.0];
        let figure = crate::tests::fixtures::figure("s", "run", 7.0 / 3.0, 0.0);
        assert_eq!(Statistic::parse("max").unwrap().of_samples(&samples), Some(4.0));
        assert_eq!(Statistic::parse("mean").unwrap().of_figure(&figure), Some(7.0 / 3.0));
        for recorded in ["mean", "median", "p50", "p95", "p99"] {
            let statistic = Statistic::parse_recorded(recorded).unwrap();
            assert!(statistic.of_figure(&figure).is_some(), "{recorded}");
        }
        assert!(
            Statistic::parse_recorded("p42")
                .unwrap_err()
                .to_string()
                .contains("p95")
        );
        assert!(Statistic::parse("p101").unwrap_err().to_string().contains("p0 to p100"));
    }
}
