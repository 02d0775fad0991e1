//! Rules on an advice: `--fail-on 'page_time>3s'` says what must not be, and is turned into the condition that must hold.
//!
//! A rule is checked on each link. It is broken where the whole interval of its figure lies beyond the bound, so that noise stops no build.

use crate::record::{Advice, LinkAdvice};
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Levels, Threshold};
use lastmile_report::rules::{Comparison, RuleText, in_base_unit, split_brackets};
use std::fmt;

/// A condition that must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    figure: Figure,
    comparison: Comparison,
    /// In the figure's base unit.
    bound: f64,
    /// As text: `page_time <= 3s`.
    text: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Figure {
    /// The page's time under a setting; none: as recorded, or uncompressed where the traffic does not say how it was compressed.
    PageTime(Option<String>),
    /// What the recommended settings save of that time, as a share.
    Saving,
}

const FORMS: &str = "write it like 'page_time>3s', 'page_time(gzip:6)>3s' or 'saving>20%'";

impl Rule {
    /// Reads a rule that must not apply, and turns it into the condition that must hold.
    ///
    /// # Errors
    /// When the figure, the comparison or the bound is not understood; the error says how to write it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let rule = RuleText::parse(text).map_err(|error| format!("{error}; {FORMS}"))?;
        let (name, setting) = split_brackets(rule.subject).map_err(|error| format!("{error}; {FORMS}"))?;
        let (figure, bound) = match (name, setting) {
            ("page_time", setting) => (
                Figure::PageTime(setting.map(str::to_owned)),
                in_base_unit("s", rule.bound)?,
            ),
            ("saving", None) => {
                let per_cent = rule
                    .bound
                    .strip_suffix('%')
                    .ok_or_else(|| format!("a saving is in per cent; {FORMS}"))?;
                (Figure::Saving, in_base_unit("1", per_cent.trim())? / 100.0)
            }
            _ => return Err(format!("{:?} is no figure of an advice; {FORMS}", rule.subject)),
        };
        let comparison = rule.comparison.opposite();
        let text = format!("{} {comparison} {}", rule.subject, rule.bound);
        Ok(Self {
            figure,
            comparison,
            bound,
            text,
        })
    }

    /// Whether it holds on each link; without the links whose page was not loaded under its setting.
    pub fn check(&self, advice: &Advice) -> Vec<Threshold> {
        let of_link = |link: &LinkAdvice| {
            let (found, interval) = self.figure.on(link)?;
            let ends = interval.unwrap_or([found; 2]);
            Some(Threshold {
                rule: self.text.clone(),
                part: None,
                levels: Levels::from([("link".to_owned(), link.name.clone())]),
                found,
                held: ends.iter().any(|end| self.comparison.holds(*end, self.bound)),
            })
        };
        advice.links.iter().filter_map(of_link).collect()
    }

    /// A value of its figure as text, with its unit.
    pub fn value_text(&self, value: f64) -> String {
        match self.figure {
            Figure::PageTime(_) => quantity(value, "s"),
            Figure::Saving => percent(value),
        }
    }
}

impl Figure {
    /// Its value on a link, with the 95 % interval where something varied.
    fn on(&self, link: &LinkAdvice) -> Option<(f64, Option<[f64; 2]>)> {
        let time = match self {
            Self::Saving => {
                let best = link.ladder.last()?;
                return Some((best.saved_share, best.saved_share_ci95));
            }
            Self::PageTime(None) => &link.ladder.first()?.page_time,
            Self::PageTime(Some(setting)) => &link.page.iter().find(|outcome| outcome.setting == *setting)?.page_time,
        };
        Some((time.mean, time.ci95))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixtures::advice;

    #[test]
    fn a_rule_is_broken_only_where_the_whole_interval_is_beyond_its_bound() {
        let mut advice = advice();
        advice.links.truncate(1);
        let first = advice.links[0].ladder.first_mut().unwrap();
        (first.page_time.mean, first.page_time.ci95) = (3.0, Some([2.5, 3.5]));
        let held = |text: &str| Rule::parse(text).unwrap().check(&advice)[0].held;
        assert!(held("page_time>2.9s") && held("page_time>3.5s") && held("page_time<3.4s"));
        assert!(!held("page_time>2.4s") && !held("page_time<4s"));
        let last = advice.links[0].ladder.last_mut().unwrap();
        (last.saved_share, last.saved_share_ci95) = (0.3, None);
        let held = |text: &str| Rule::parse(text).unwrap().check(&advice)[0].held;
        assert!(held("saving>30%") && !held("saving>20%"));
        assert!(Rule::parse("page_time(br:99)>1s").unwrap().check(&advice).is_empty());
    }

    #[test]
    fn what_is_not_understood_is_refused_with_an_example() {
        for wrong in [
            "page_time",
            "page_tim>3s",
            "page_time>3",
            "saving>0.2",
            "saving(gzip:6)>1%",
            "page_time(>3s",
        ] {
            let refusal = Rule::parse(wrong).unwrap_err();
            assert!(refusal.contains("write it like"), "{wrong}: {refusal}");
        }
    }
}
