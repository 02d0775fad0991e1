//! Rules on the changes between two runs: `p95>+5%`, `mean(transfer_time)>+5%`, `median<-10%`. A rule names a change that must not happen.
//!
//! Of thirty changes that are noise, one in forty or so lies wholly beyond a bound in its own 95 % interval, so that a gate would stop most builds.
//! Therefore the intervals of a rule hold together: for k of them, each leaves 2.5 % / k in either tail (Bonferroni's inequality). A change
//! that all cells share, too small to be certain in any of them, shows in their mean, which has an interval of its own.

use super::interval::{CellPair, Difference, TAIL_95, joint_change};
use super::{Better, better, relative, relative_interval};
use crate::record::{Doubt, DoubtKind, Figure, Levels};
use crate::rules::{Comparison, RuleText, Statistic, split_brackets};
#[cfg(feature = "testing")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A change that must not happen: `p95(transfer_time)>+5%` is broken where the 95th percentile grew by more than 5 %: where the whole interval of
/// its change lies beyond that.
///
/// Without a figure's name, it applies to the figures for which the change would be for the worse: `>` to figures that should be low,
/// `<` to figures that should be high.
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
    comparison: Comparison,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct RuleOutcome {
    /// As written.
    pub rule: String,
    /// How many figures it was checked on; 0 where no valid cell has such a figure.
    pub checked: u64,
    /// How many of those that broke it varied and have no interval, so that their values decided.
    pub without_interval: u64,
    /// What broke it.
    pub breaches: Vec<Breach>,
    /// Changes beyond the bound whose intervals are not: they may be noise, and break nothing.
    pub unproven: Vec<Breach>,
    /// How many of those these runs cannot decide: they have different seeds, and the repeats of a cell share what was drawn for it, or the figure varies
    /// and has no interval.
    pub undecided: u64,
    /// The change of the figure over all its cells together, where there are several that varied.
    pub joint: Option<JointChange>,
}

/// The mean change of a figure over several cells, each weighing as much as it is certain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct JointChange {
    /// How many cells.
    pub cells: u64,
    /// The weighted mean of `(after - before) / before`.
    pub change: f64,
    /// Its interval, at the level of the rule's others.
    pub interval: [f64; 2],
    /// Whether the rule is broken by it: then some cell changed by more than the bound, whichever it is.
    pub broken: bool,
}

/// A figure that changed by more than the bound of a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
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
    /// The interval of `change`; all intervals of a rule hold together with 95 %. None where nothing varied, or the records give none.
    pub interval: Option<[f64; 2]>,
}

impl RuleOutcome {
    /// Whether the rule was broken. One that found nothing to check counts as broken: a gate that checks nothing passes everything.
    pub fn is_broken(&self) -> bool {
        self.checked == 0 || !self.breaches.is_empty() || self.joint.as_ref().is_some_and(|joint| joint.broken)
    }

    /// Whether changes beyond the bound may be those of a program or of other draws, and nothing else broke the rule.
    pub fn is_undecided(&self) -> bool {
        self.undecided > 0 && !self.is_broken()
    }

    /// The doubt about changes that were checked without an interval.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        let text = || {
            format!(
                "{}: {} of the changes that break it have no interval, though their figures vary, and may be noise: a mean has one from two \
                 repeats on, a quantile where it is of one sample per repeat",
                self.rule, self.without_interval
            )
        };
        (self.without_interval > 0).then(|| Doubt::new(DoubtKind::NoInterval, text()))
    }
}

/// A figure that a rule is checked on.
struct CheckedFigure<'a> {
    pair: CellPair<'a>,
    name: &'a str,
    figures: [&'a Figure; 2],
    /// The rule's statistic before and after.
    values: [f64; 2],
}

impl FromStr for Rule {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Self, ParseRuleError> {
        let fail = |problem: String| ParseRuleError {
            found: text.to_owned(),
            problem,
        };
        let rule = RuleText::parse(text).map_err(|error| fail(error.to_string()))?;
        let number = rule
            .bound
            .strip_suffix('%')
            .ok_or_else(|| fail("the change has no %".to_owned()))?
            .trim();
        let percent = number.parse::<f64>().ok().filter(|percent| percent.is_finite());
        let percent = percent.ok_or_else(|| fail(format!("{number:?} is not a number")))?;
        let (statistic, figure) = split_brackets(rule.subject).map_err(|error| fail(error.to_string()))?;
        let statistic = Statistic::parse_recorded(statistic).map_err(|error| fail(error.to_string()))?;
        Ok(Self {
            text: text.to_owned(),
            statistic,
            figure: figure.map(str::to_owned),
            comparison: rule.comparison,
            bound: percent / 100.0,
        })
    }
}

impl Rule {
    /// Checks the rule on cells, except invalid ones.
    pub(super) fn check(&self, cells: &[CellPair<'_>], strict: bool) -> RuleOutcome {
        let checked: Vec<CheckedFigure<'_>> = cells.iter().flat_map(|pair| self.checked_figures(*pair)).collect();
        let difference =
            |figure: &CheckedFigure<'_>, tail| figure.pair.difference(self.statistic, figure.figures, tail);
        let varying: Vec<_> = checked
            .iter()
            .filter(|figure| difference(figure, TAIL_95).interval().is_some())
            .map(|figure| (figure.pair, figure.figures))
            .collect();
        let is_joint = self.statistic == Statistic::Mean && self.figure.is_some() && varying.len() > 1;
        let tail = TAIL_95 / (varying.len() + usize::from(is_joint)).max(1) as f64;
        let mut outcome = RuleOutcome {
            rule: self.text.clone(),
            checked: checked.len() as u64,
            without_interval: 0,
            breaches: Vec::new(),
            unproven: Vec::new(),
            undecided: 0,
            joint: None,
        };
        for figure in &checked {
            let [old, new] = figure.values;
            let difference = difference(figure, tail);
            if !self.is_beyond(old, new - old) {
                continue;
            }
            outcome.without_interval += u64::from(difference == Difference::Unknown);
            let is_proven = match difference {
                Difference::Interval(ends) => ends.into_iter().all(|end| self.is_beyond(old, end)),
                Difference::Exact | Difference::Unknown => true,
                Difference::Undecided => false,
            };
            outcome.undecided += u64::from(difference == Difference::Undecided && !strict);
            let list = if is_proven || strict {
                &mut outcome.breaches
            } else {
                &mut outcome.unproven
            };
            list.push(figure.breach(difference));
        }
        if is_joint && let Some((change, interval)) = joint_change(&varying, tail) {
            let is_broken = interval.into_iter().all(|end| self.is_beyond(1.0, end));
            outcome.joint = Some(JointChange {
                cells: varying.len() as u64,
                change,
                interval,
                broken: is_broken && !strict,
            });
        }
        outcome
    }

    /// The figures of a cell that both runs have and that the rule is about.
    fn checked_figures<'a>(&self, pair: CellPair<'a>) -> Vec<CheckedFigure<'a>> {
        if !(pair.before.valid && pair.after.valid) {
            return Vec::new();
        }
        let checked = |(name, figure): (&'a String, &'a Figure)| {
            let other = pair.after.figures.get(name)?;
            let values = [self.statistic.of_figure(figure)?, self.statistic.of_figure(other)?];
            self.applies_to(name, figure).then_some(CheckedFigure {
                pair,
                name,
                figures: [figure, other],
                values,
            })
        };
        pair.before.figures.iter().filter_map(checked).collect()
    }

    /// Whether a difference from a value is beyond the bound. From 0, any growth exceeds every bound in per cent.
    fn is_beyond(&self, old: f64, difference: f64) -> bool {
        let size = if difference == 0.0 { 0.0 } else { difference / old.abs() };
        self.comparison.holds(size, self.bound)
    }

    fn applies_to(&self, name: &str, figure: &Figure) -> bool {
        match &self.figure {
            Some(wanted) => wanted == name,
            None => match self.comparison {
                Comparison::Above | Comparison::AtLeast => better(name, figure) == Better::Lower,
                Comparison::Below | Comparison::AtMost => better(name, figure) == Better::Higher,
            },
        }
    }
}

impl CheckedFigure<'_> {
    fn breach(&self, difference: Difference) -> Breach {
        let [old, new] = self.values;
        Breach {
            part: self.pair.before.part.clone(),
            levels: self.pair.before.levels.clone(),
            figure: self.name.to_owned(),
            unit: self.figures[0].unit.clone(),
            before: old,
            after: new,
            change: relative(old, new),
            interval: difference.interval().and_then(|ends| relative_interval(old, ends)),
        }
    }
}
