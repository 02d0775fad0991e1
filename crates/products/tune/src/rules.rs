//! Rules on the figures of a tuning: `--fail-on 'ratio>0.35'` says what must not apply, and is turned into the condition that must hold.
//!
//! A rule is checked on the setting that the answer advises for each direction, or on the setting that the rule names:
//! `ratio(deflate:6/w15/m8)>0.31`. [`lastmile_report::rules`] is the grammar.

use crate::record::{Choice, CodecPoint, Direction, Scope, Tuning};
use lastmile_codec::message::MessageCodec;
use lastmile_report::number::quantity;
use lastmile_report::record::{self, Levels, Threshold};
use lastmile_report::rules::{Comparison, RuleText, Statistic, in_base_unit, split_brackets};
use std::fmt;

/// A condition that must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    figure: Figure,
    comparison: Comparison,
    /// In the figure's base unit.
    bound: f64,
    /// As text: `ratio <= 0.35`.
    text: String,
}

/// The figure that is compared with the bound.
#[derive(Debug, Clone, PartialEq)]
enum Figure {
    /// Compressed over raw, of a setting; none: of the advised one.
    Ratio(Option<String>),
    /// Memory of a compressing context.
    Memory(Option<String>),
    /// CPU time to compress a message.
    Computing(Option<String>),
    /// Memory of all connections, with the advised setting.
    MemoryTotal,
    /// From sending a message until it is decoded, with the advised setting, on each link and in each world.
    DeliveryTime(Statistic),
}

const FORMS: &str = "write it like 'ratio>0.35', 'memory>64KiB', 'memory_total>8GiB', 'computing>20us', 'ratio(deflate:6/w15/m8)>0.31' or \
                     'p95(delivery_time)>200ms'";

impl Rule {
    /// Reads a rule that must not apply, and turns it into the condition that must hold.
    ///
    /// # Errors
    /// When the figure, the comparison or the bound is not understood; the error says what is wrong, and how to write it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let RuleText {
            subject,
            comparison,
            bound,
        } = RuleText::parse(text).map_err(|error| format!("{error}; {FORMS}"))?;
        let comparison = comparison.opposite();
        let figure = Figure::parse(subject)?;
        Ok(Self {
            comparison,
            bound: figure.parse_bound(bound)?,
            text: format!("{subject} {comparison} {bound}"),
            figure,
        })
    }

    /// A value of the rule's figure as text, with its unit.
    pub fn value_text(&self, value: f64) -> String {
        match self.figure.unit() {
            "1" => format!("{value:.6}"),
            unit => quantity(value, unit),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Figure {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, inside) = split_brackets(text).map_err(|error| format!("{error}; {FORMS}"))?;
        if inside == Some("delivery_time") {
            let statistic = Statistic::parse_recorded(name).map_err(|error| error.to_string())?;
            return Ok(Self::DeliveryTime(statistic));
        }
        let setting = |inside: Option<&str>| -> Result<Option<String>, String> {
            let setting = inside.map(|text| text.parse::<MessageCodec>().map_err(|error| error.to_string()));
            Ok(setting.transpose()?.map(|codec| codec.to_string()))
        };
        match (name, inside) {
            ("ratio", inside) => Ok(Self::Ratio(setting(inside)?)),
            ("memory", inside) => Ok(Self::Memory(setting(inside)?)),
            ("computing", inside) => Ok(Self::Computing(setting(inside)?)),
            ("memory_total", None) => Ok(Self::MemoryTotal),
            _ => Err(format!("there is no figure {text:?}; {FORMS}")),
        }
    }

    fn unit(&self) -> &'static str {
        match self {
            Self::Ratio(_) => "1",
            Self::Memory(_) | Self::MemoryTotal => "B",
            Self::Computing(_) | Self::DeliveryTime(_) => "s",
        }
    }

    /// Reads a bound in the figure's unit; a ratio may be in per cent.
    fn parse_bound(&self, text: &str) -> Result<f64, String> {
        let Self::Ratio(_) = self else {
            return in_base_unit(self.unit(), text);
        };
        let (number, parts) = text
            .strip_suffix('%')
            .map_or((text, 1.0), |number| (number.trim_end(), 100.0));
        let value = in_base_unit("1", number).ok().filter(|value| *value >= 0.0);
        let value = value.ok_or_else(|| format!("{text:?} is not a ratio; write it like 0.35 or 35%"))?;
        Ok(value / parts)
    }
}

/// Every point, and every codec that was measured on all messages without a dictionary or a policy: those whose setting's text is complete.
fn measured(tuning: &Tuning) -> impl Iterator<Item = CodecPoint> {
    let points = tuning.points.iter().map(|point| tuning.as_codec_point(point));
    let is_plain =
        |point: &&CodecPoint| (&point.dictionary, &point.policy, &*point.measured_on) == (&None, &None, "all");
    points.chain(tuning.codecs.iter().filter(is_plain).cloned())
}

fn mean(figure: Option<&record::Figure>) -> Option<f64> {
    figure.map(|figure| figure.mean)
}

fn levels(direction: Direction, setting: &str) -> Levels {
    Levels::from([
        ("direction".to_owned(), direction.name().to_owned()),
        ("setting".to_owned(), setting.to_owned()),
    ])
}

/// Checks rules on a tuning: one threshold for each direction, and link, that has the figure.
pub fn check(rules: &[Rule], tuning: &Tuning) -> Vec<Threshold> {
    let thresholds = rules.iter().flat_map(|rule| {
        let found = rule.figure.found(tuning);
        found.into_iter().map(|(levels, found)| Threshold {
            rule: rule.to_string(),
            part: None,
            levels,
            found,
            held: rule.comparison.holds(found, rule.bound),
        })
    });
    thresholds.collect()
}

impl Figure {
    fn found(&self, tuning: &Tuning) -> Vec<(Levels, f64)> {
        let advised = || {
            let choices = tuning.answer.choices.iter();
            choices.filter(|choice| choice.scope == Scope::PermessageDeflate)
        };
        let known = |setting: &Option<String>,
                     of_advised: fn(&Choice) -> Option<f64>,
                     of_measured: fn(&CodecPoint) -> Option<f64>| match setting {
            None => advised()
                .filter_map(|choice| Some((levels(choice.direction, &choice.setting), of_advised(choice)?)))
                .collect(),
            Some(setting) => measured(tuning)
                .filter(|point| point.codec == *setting)
                .filter_map(|point| Some((levels(point.direction, setting), of_measured(&point)?)))
                .collect(),
        };
        match self {
            Self::Ratio(setting) => known(setting, |choice| Some(choice.ratio), |point| Some(point.ratio)),
            Self::Memory(setting) => known(
                setting,
                |choice| Some(choice.memory_bytes as f64),
                |point| Some(point.memory_bytes as f64),
            ),
            Self::Computing(setting) => known(
                setting,
                |choice| mean(choice.cpu_seconds.as_ref()),
                |point| mean(point.cpu_seconds.as_ref()),
            ),
            Self::MemoryTotal => advised()
                .map(|choice| {
                    (
                        levels(choice.direction, &choice.setting),
                        choice.memory_total_bytes as f64,
                    )
                })
                .collect(),
            Self::DeliveryTime(statistic) => {
                let is_named = !tuning.in_one_world();
                let outcomes = tuning
                    .links
                    .iter()
                    .flat_map(|link| link.outcomes.iter().map(move |outcome| (link, outcome)));
                let of_advised = outcomes.filter(|(_, outcome)| {
                    advised().any(|choice| choice.direction == outcome.direction && choice.name() == outcome.setting)
                });
                of_advised
                    .filter_map(|(link, outcome)| {
                        let found = statistic.of_figure(&outcome.delivery_time);
                        let mut levels = levels(outcome.direction, &outcome.setting);
                        levels.insert("link".to_owned(), link.name.clone());
                        if is_named {
                            levels.insert("world".to_owned(), link.world.clone());
                        }
                        Some((levels, found?))
                    })
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Rule::parse(text).unwrap_err()
    }

    #[test]
    fn what_must_not_be_becomes_what_must_be_in_base_units() {
        let rule = |text: &str| Rule::parse(text).unwrap();
        let ratio = rule("ratio>0.35");
        assert_eq!((ratio.to_string().as_str(), ratio.bound), ("ratio <= 0.35", 0.35));
        assert_eq!(rule("ratio > 35 %").bound, 0.35);
        assert_eq!(rule("memory>=64KiB").bound, 65_536.0);
        assert_eq!(rule("computing>20us").bound, 20e-6);
        assert_eq!(
            rule("p95(delivery_time)>0.2s").figure,
            Figure::DeliveryTime(Statistic::Quantile(0.95))
        );
        let named = rule("ratio(deflate:6)<0.1");
        assert_eq!(
            named.figure,
            Figure::Ratio(Some("deflate:6/w15/m8".to_owned())),
            "written in full"
        );
    }

    #[test]
    fn a_rule_that_is_not_understood_is_refused_with_the_way_to_write_it() {
        assert!(refusal("ratio").contains("neither > nor <"));
        assert!(
            refusal("ration>0.3").contains("there is no figure \"ration\"")
                && refusal("ration>0.3").contains("'ratio>0.35'")
        );
        assert!(refusal("ratio>30 kB").contains("not a ratio"));
        assert!(refusal("memory>64").contains("unit"));
        assert!(refusal("p42(delivery_time)>1s").contains("p95"));
        assert!(refusal("ratio(deflat:6)>1").contains("deflate"));
        assert!(refusal("memory_total(deflate:6)>1GiB").contains("no figure"));
    }
}
