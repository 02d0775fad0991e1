//! Limits on response times and errors: `p99<300ms,errors<0.1%`.

use crate::measurement::Measurement;
use crate::search::LimitCheck;
use crate::self_check::{self, Spoilt};
use lastmile_report::rules::{Comparison, RuleText, Statistic};
use lastmile_units::duration;
use std::fmt;
use std::str::FromStr;

/// Rules that a run must keep, all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    rules: Vec<Rule>,
}

/// A rule of a limit.
#[derive(Debug, Clone, PartialEq)]
struct Rule {
    figure: LimitedFigure,
    comparison: Comparison,
    /// Seconds, or a share.
    bound: f64,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum LimitedFigure {
    ResponseTime(Statistic),
    ErrorRate,
}

/// A bound of a limit, in seconds or as a share, with the rule as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bound {
    pub(crate) is_time: bool,
    pub(crate) most: f64,
    pub(crate) text: String,
}

/// A limit that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no limit: {problem}; write it like 'p99<300ms,errors<0.1%'")]
pub struct LimitError {
    found: String,
    problem: String,
}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let refused = |problem: String| LimitError {
            found: text.to_owned(),
            problem,
        };
        let rules = text.split(',').map(|rule| parse_rule(rule.trim()).map_err(refused));
        Ok(Self {
            rules: rules.collect::<Result<_, _>>()?,
        })
    }
}

fn parse_rule(text: &str) -> Result<Rule, String> {
    let parts = RuleText::parse(text).map_err(|error| error.to_string())?;
    if !matches!(parts.comparison, Comparison::Below | Comparison::AtMost) {
        return Err(format!("{text:?} sets no upper bound; use < or <="));
    }
    let (figure, bound) = if parts.subject == "errors" {
        let per_cent = parts
            .bound
            .strip_suffix('%')
            .and_then(|number| number.trim().parse::<f64>().ok());
        let share = per_cent
            .map(|value| value / 100.0)
            .filter(|share| (0.0..=1.0).contains(share));
        let share = share.ok_or_else(|| format!("{:?} is no share of errors from 0% to 100%", parts.bound))?;
        (LimitedFigure::ErrorRate, share)
    } else {
        let statistic = Statistic::parse(parts.subject).map_err(|error| format!("{error}, and errors"))?;
        let bound = duration::parse(parts.bound).map_err(|error| error.to_string())?;
        (LimitedFigure::ResponseTime(statistic), bound.as_secs_f64())
    };
    Ok(Rule {
        figure,
        comparison: parts.comparison,
        bound,
        text: text.to_owned(),
    })
}

impl Limit {
    pub(crate) fn bounds(&self) -> impl Iterator<Item = Bound> {
        self.rules.iter().map(|rule| Bound {
            is_time: rule.figure != LimitedFigure::ErrorRate,
            most: rule.bound,
            text: rule.text.clone(),
        })
    }

    /// The rule that a run breaks; none where it keeps all. Of several, it is the first, but a rule of errors before a quantile that failed requests
    /// alone break.
    ///
    /// A failed request counts as slower than any bound in quantiles, and not at all in the mean. A run without any ended request breaks
    /// every rule.
    pub fn broken_rule(&self, run: &Measurement) -> Option<String> {
        let first = self.rules.iter().find(|rule| !rule.holds(run, run.failed()))?;
        if run.failed() == 0 || !first.holds(run, 0) {
            return Some(first.text.clone());
        }
        let of_errors = self
            .rules
            .iter()
            .find(|rule| rule.figure == LimitedFigure::ErrorRate && !rule.holds(run, run.failed()));
        Some(of_errors.map_or_else(
            || {
                let failed = 100.0 * run.error_rate().unwrap_or(0.0);
                format!("{} ({failed:.1} % of the requests failed)", first.text)
            },
            |rule| rule.text.clone(),
        ))
    }
}

impl Rule {
    /// Whether a run keeps it if so many requests count as slower than any bound.
    fn holds(&self, run: &Measurement, missing: u64) -> bool {
        let found = match self.figure {
            LimitedFigure::ErrorRate => run.error_rate(),
            LimitedFigure::ResponseTime(Statistic::Mean) => run.response.mean().map(|mean| mean.as_secs_f64()),
            LimitedFigure::ResponseTime(Statistic::Quantile(probability)) => {
                let quantile = run.response.quantile_with_missing(probability, missing);
                quantile.map(|time| time.as_secs_f64())
            }
        };
        found.is_some_and(|found| self.comparison.holds(found, self.bound))
    }
}

impl Limit {
    /// Whether a run shows its rate to be within the limit.
    ///
    /// A late sender makes response times longer, as they count from the intended start: a run that keeps the limit all the same shows that the server
    /// does. Where it does not, the generator may be at fault.
    ///
    /// # Errors
    /// What broke the limit: one of its rules, the generator's lateness, or that the generator could not hold the rate; or that nothing was due that
    /// could show it.
    pub fn judge(&self, run: &Measurement) -> LimitCheck {
        if run.intended == 0 {
            return Err("no request was due; a longer --duration has some".to_owned());
        }
        let verdict = self_check::check(run);
        match (self.broken_rule(run), verdict) {
            (_, Err(why @ (Spoilt::RateNotHeld | Spoilt::Interrupted | Spoilt::Inconsistent { .. }))) => {
                Err(why.to_string())
            }
            (None, _) => Ok(()),
            (Some(_), Err(why @ Spoilt::Late { .. })) => Err(why.to_string()),
            (Some(rule), Ok(())) => Err(rule),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules: Vec<&str> = self.rules.iter().map(|rule| rule.text.as_str()).collect();
        f.write_str(&rules.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error_cause::ErrorCause;
    use crate::measurement::Ending;
    use std::time::Duration;

    fn run(failed: u64) -> Measurement {
        let mut run = Measurement {
            intended: 100,
            completed: 100 - failed,
            errors: [(ErrorCause::Refused, failed)].into(),
            ..Measurement::default()
        };
        for millis in 1..=100 - failed {
            run.response.record(Duration::from_millis(millis));
        }
        run
    }

    #[test]
    fn the_rule_that_is_broken_is_named() {
        let limit: Limit = "p99<99.5ms, errors<=1%,mean<51ms".parse().unwrap();
        assert_eq!(limit.broken_rule(&run(0)), None);
        assert_eq!(limit.broken_rule(&run(1)), None);
        assert_eq!(
            limit.broken_rule(&run(2)).as_deref(),
            Some("errors<=1%"),
            "those that completed are fast enough"
        );
        assert_eq!(limit.broken_rule(&run(60)).as_deref(), Some("errors<=1%"));
        let tight: Limit = "p99<50ms,errors<=1%".parse().unwrap();
        assert_eq!(tight.broken_rule(&run(2)).as_deref(), Some("p99<50ms"));
        let errors: Limit = "errors<1%".parse().unwrap();
        assert_eq!(errors.broken_rule(&run(1)).as_deref(), Some("errors<1%"));
        assert_eq!(
            errors.broken_rule(&Measurement::default()).as_deref(),
            Some("errors<1%")
        );
        assert_eq!(limit.to_string(), "p99<99.5ms,errors<=1%,mean<51ms");
    }

    #[test]
    fn a_late_sender_does_not_break_a_limit_that_the_responses_keep() {
        let limit: Limit = "p99<99.5ms".parse().unwrap();
        let late = |failed| {
            let mut run = run(failed);
            (0..100).for_each(|_| run.lateness.record(Duration::from_millis(20)));
            run
        };
        assert!(self_check::check(&late(0)).is_err());
        assert_eq!(limit.judge(&late(0)), Ok(()));
        assert!(limit.judge(&late(2)).unwrap_err().contains("lateness"));
        assert_eq!(
            limit.judge(&run(2)),
            Err("p99<99.5ms (2.0 % of the requests failed)".to_owned())
        );
        let given_up = Measurement {
            ending: Ending::RateNotHeld,
            ..run(0)
        };
        assert!(limit.judge(&given_up).unwrap_err().contains("cannot hold"));
        assert!(
            limit
                .judge(&Measurement::default())
                .unwrap_err()
                .contains("no request was due")
        );
    }

    #[test]
    fn a_limit_that_is_not_understood_is_refused_with_the_way_to_write_it() {
        for wrong in [
            "",
            "p99",
            "p99>3ms",
            "p99<3",
            "p101<3ms",
            "errors<3",
            "errors<200%",
            "p99<3ms,",
        ] {
            let refused = wrong.parse::<Limit>().unwrap_err().to_string();
            assert!(refused.contains("write it like"), "{refused}");
        }
    }
}
