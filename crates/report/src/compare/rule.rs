//! What may a caller demand of the changes? `p95>+5%`, `mean(transfer_time)>+5%`, `median<-10%`: what must not be.

use super::{Better, better, relative};
use crate::record::{Cell, Figure, Levels};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A change that must not be: `p95(transfer_time)>+5%` is broken where the 95th percentile grew by more than 5 %.
///
/// Without a figure's name it is held against those for which the change would be for the worse: `>` against figures of which less
/// is better, `<` against figures of which more is.
///
/// ```
/// use lastmile_report::compare::rule::Rule;
/// assert!("mean(transfer_time)>+5%".parse::<Rule>().is_ok());
/// let error = "p95>5".parse::<Rule>().unwrap_err().to_string();
/// assert_eq!(error, "\"p95>5\" is not a rule: the change has no %; write it like 'p95(transfer_time)>+5%'");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    text: String,
    statistic: Statistic,
    figure: Option<String>,
    side: Side,
    /// The change at which it begins to be broken: 0.05 for 5 %.
    bound: f64,
}

/// A rule that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not a rule: {problem}; write it like 'p95(transfer_time)>+5%'")]
pub struct ParseRuleError {
    found: String,
    problem: String,
}

/// What became of a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleOutcome {
    /// As written.
    pub rule: String,
    /// How many figures it was held against; 0 where no valid cell has such a figure.
    pub checked: u64,
    /// What broke it.
    pub breaches: Vec<Breach>,
}

/// A figure that broke a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Breach {
    /// The part of the study the cell belongs to, where a study has parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The cell.
    pub levels: Levels,
    /// The figure's name.
    pub figure: String,
    /// Its unit.
    pub unit: String,
    /// The rule's statistic of it before.
    pub before: f64,
    /// And after.
    pub after: f64,
    /// `(after - before) / |before|`; none where that is not a number, `before` being 0.
    pub change: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
enum Statistic {
    Mean,
    /// The key of a figure's quantiles: `0.95`.
    Quantile(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Above,
    Below,
}

impl FromStr for Rule {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Self, ParseRuleError> {
        let fail = |problem: String| ParseRuleError {
            found: text.to_owned(),
            problem,
        };
        let at = text
            .find(['<', '>'])
            .ok_or_else(|| fail("it has neither > nor <".to_owned()))?;
        let side = if text[at..].starts_with('>') {
            Side::Above
        } else {
            Side::Below
        };
        let (what, bound) = (text[..at].trim(), text[at + 1..].trim());
        let number = bound
            .strip_suffix('%')
            .ok_or_else(|| fail("the change has no %".to_owned()))?
            .trim();
        let percent = number.parse::<f64>().ok().filter(|percent| percent.is_finite());
        let percent = percent.ok_or_else(|| fail(format!("{number:?} is not a number")))?;
        let (statistic, figure) = match what.split_once('(') {
            None => (what, None),
            Some((statistic, rest)) => {
                let figure = rest
                    .strip_suffix(')')
                    .ok_or_else(|| fail("its bracket is not closed".to_owned()))?;
                (statistic.trim(), Some(figure.trim().to_owned()))
            }
        };
        let statistic = Statistic::named(statistic)
            .ok_or_else(|| fail(format!("{statistic:?} is no statistic (mean, median, p50, p95, p99)")))?;
        Ok(Self {
            text: text.to_owned(),
            statistic,
            figure,
            side,
            bound: percent / 100.0,
        })
    }
}

impl Statistic {
    fn named(name: &str) -> Option<Self> {
        match name {
            "mean" => Some(Self::Mean),
            "median" | "p50" => Some(Self::Quantile("0.5".to_owned())),
            "p95" => Some(Self::Quantile("0.95".to_owned())),
            "p99" => Some(Self::Quantile("0.99".to_owned())),
            _ => None,
        }
    }

    fn of(&self, figure: &Figure) -> Option<f64> {
        match self {
            Self::Mean => Some(figure.mean),
            Self::Quantile(probability) => figure.quantiles.get(probability).copied(),
        }
    }
}

impl Rule {
    /// Holds the rule against cells, before and after; invalid ones have no figures to hold it against.
    pub(super) fn hold(&self, cells: &[(&Cell, &Cell)]) -> RuleOutcome {
        let mut outcome = RuleOutcome {
            rule: self.text.clone(),
            checked: 0,
            breaches: Vec::new(),
        };
        for (before, after) in cells.iter().filter(|(before, after)| before.valid && after.valid) {
            for (name, figure) in before
                .figures
                .iter()
                .filter(|(name, figure)| self.is_about(name, figure))
            {
                let Some(other) = after.figures.get(name) else { continue };
                let (Some(old), Some(new)) = (self.statistic.of(figure), self.statistic.of(other)) else {
                    continue;
                };
                outcome.checked += 1;
                let change = relative(old, new);
                // From 0, any growth is more than any share of it.
                let size = change.unwrap_or(if new > old { f64::INFINITY } else { f64::NEG_INFINITY });
                let broken = match self.side {
                    Side::Above => size > self.bound,
                    Side::Below => size < self.bound,
                };
                if broken {
                    outcome.breaches.push(Breach {
                        part: before.part.clone(),
                        levels: before.levels.clone(),
                        figure: name.clone(),
                        unit: figure.unit.clone(),
                        before: old,
                        after: new,
                        change,
                    });
                }
            }
        }
        outcome
    }

    fn is_about(&self, name: &str, figure: &Figure) -> bool {
        match &self.figure {
            Some(wanted) => wanted == name,
            None => match self.side {
                Side::Above => better(name, figure) == Better::Lower,
                Side::Below => better(name, figure) == Better::Higher,
            },
        }
    }
}
