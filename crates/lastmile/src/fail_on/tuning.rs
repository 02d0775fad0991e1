//! What must a tuning not show? `--fail-on 'ratio>0.35'` of `lastmile tune`, as the rule that must hold.
//!
//! A rule is held against what the answer advises for each direction, or against the setting that it names: `ratio(deflate:6/w15/m8)>0.31`.

use crate::exit::Exit;
use crate::output;
use lastmile_payload::message_codec::MessageCodec;
use lastmile_report::number::quantity;
use lastmile_report::record::{Levels, Threshold};
use lastmile_report::tune::{Choice, Direction, Scope, Tuning};
use lastmile_study::file::Comparison;
use lastmile_units::{Bytes, duration};
use std::fmt;

/// What must hold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    figure: Figure,
    comparison: Comparison,
    /// In the figure's base unit.
    bound: f64,
    /// As it is told: `ratio <= 0.35`.
    text: String,
}

/// What is held against the bound.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Figure {
    /// Compressed over raw, of a setting; none: of the one advised.
    Ratio(Option<String>),
    /// What a compressing context takes.
    Memory(Option<String>),
    /// What compressing a message takes.
    Computing(Option<String>),
    /// What all connections take, under the setting advised.
    MemoryTotal,
    /// From a message's sending to its being decoded, under the setting advised, on each link and in each world.
    DeliveryTime(Statistic),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statistic {
    Mean,
    Quantile(&'static str),
}

const FORMS: &str = "write it like 'ratio>0.35', 'memory>64KiB', 'memory_total>8GiB', 'computing>20us', 'ratio(deflate:6/w15/m8)>0.31' or \
                     'p95(delivery_time)>200ms'";

impl Rule {
    /// Reads what must not be, and turns it into what must be.
    ///
    /// # Errors
    /// When the figure, the comparison or the bound is not understood: what is wrong, and how to write it.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let at = text
            .find(['<', '>'])
            .ok_or_else(|| format!("it has neither > nor <; {FORMS}"))?;
        let (figure, bound) = text.split_at(at);
        let opposites = [
            (">=", "<", Comparison::Below),
            ("<=", ">", Comparison::Above),
            (">", "<=", Comparison::AtMost),
            ("<", ">=", Comparison::AtLeast),
        ];
        let (holds, comparison, written) = opposites
            .iter()
            .find_map(|(sign, holds, comparison)| Some((*holds, *comparison, bound.strip_prefix(sign)?.trim())))
            .expect("the text was split where a sign begins");
        let figure_written = figure.trim();
        let figure = Figure::read(figure_written)?;
        let bound = figure.bound(written)?;
        Ok(Self {
            figure,
            comparison,
            bound,
            text: format!("{figure_written} {holds} {written}"),
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Figure {
    fn read(text: &str) -> Result<Self, String> {
        let (name, inside) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((name, inside)) => (name.trim(), Some(inside.trim())),
            None => (text, None),
        };
        if inside == Some("delivery_time") {
            let statistic = match name {
                "mean" => Statistic::Mean,
                "p50" => Statistic::Quantile("0.5"),
                "p95" => Statistic::Quantile("0.95"),
                "p99" => Statistic::Quantile("0.99"),
                other => {
                    return Err(format!(
                        "unknown statistic {other:?}; there are mean, p50, p95 and p99 of delivery_time"
                    ));
                }
            };
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

    fn bound(&self, text: &str) -> Result<f64, String> {
        match self {
            Self::Ratio(_) => {
                let (number, parts) = text
                    .strip_suffix('%')
                    .map_or((text, 1.0), |number| (number.trim_end(), 100.0));
                let value = number
                    .parse::<f64>()
                    .ok()
                    .filter(|value| value.is_finite() && *value >= 0.0);
                let value = value.ok_or_else(|| format!("{text:?} is no ratio; write it like 0.35 or 35%"))?;
                Ok(value / parts)
            }
            Self::Memory(_) | Self::MemoryTotal => {
                let bytes = Bytes::parse(text).map_err(|error| error.to_string())?;
                Ok(bytes.as_f64())
            }
            Self::Computing(_) | Self::DeliveryTime(_) => {
                let time = duration::parse(text).map_err(|error| error.to_string())?;
                Ok(time.as_secs_f64())
            }
        }
    }

    /// What is told of a value that was found.
    fn told(&self, value: f64) -> String {
        match self {
            Self::Ratio(_) => format!("{value:.6}"),
            Self::Memory(_) | Self::MemoryTotal => quantity(value, "B"),
            Self::Computing(_) | Self::DeliveryTime(_) => quantity(value, "s"),
        }
    }
}

/// What is known of one setting.
struct Known {
    direction: Direction,
    setting: String,
    ratio: f64,
    memory: u64,
    computing: Option<f64>,
}

impl Known {
    fn advised(choice: &Choice) -> Self {
        Self {
            direction: choice.direction,
            setting: choice.setting.clone(),
            ratio: choice.ratio,
            memory: choice.memory_bytes,
            computing: choice.cpu_seconds.as_ref().map(|figure| figure.mean),
        }
    }

    /// Every point, and every codec that was measured on all messages without a dictionary or a policy: what a setting's text says whole.
    fn measured(tuning: &Tuning) -> impl Iterator<Item = Self> {
        let points = tuning.points.iter().map(|point| Self {
            direction: point.direction,
            setting: point.deflate().setting(),
            ratio: point.ratio,
            memory: point.memory_bytes,
            computing: point.cpu_seconds.as_ref().map(|figure| figure.mean),
        });
        let plain = tuning
            .codecs
            .iter()
            .filter(|codec| codec.dictionary.is_none() && codec.policy.is_none() && codec.measured_on == "all");
        points.chain(plain.map(|codec| Self {
            direction: codec.direction,
            setting: codec.codec.clone(),
            ratio: codec.ratio,
            memory: codec.memory_bytes,
            computing: codec.cpu_seconds.as_ref().map(|figure| figure.mean),
        }))
    }

    fn levels(&self) -> Levels {
        levels(self.direction, &self.setting)
    }
}

fn levels(direction: Direction, setting: &str) -> Levels {
    Levels::from([
        ("direction".to_owned(), direction.name().to_owned()),
        ("setting".to_owned(), setting.to_owned()),
    ])
}

/// Holds rules against a tuning: a threshold for each direction, and link, that has the figure.
pub(crate) fn hold(rules: &[Rule], tuning: &Tuning) -> Vec<Threshold> {
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
        let known = |setting: &Option<String>, of: &dyn Fn(&Known) -> Option<f64>| -> Vec<(Levels, f64)> {
            let all: Vec<Known> = match setting {
                None => advised().map(Known::advised).collect(),
                Some(setting) => Known::measured(tuning)
                    .filter(|known| known.setting == *setting)
                    .collect(),
            };
            all.iter()
                .filter_map(|known| Some((known.levels(), of(known)?)))
                .collect()
        };
        match self {
            Self::Ratio(setting) => known(setting, &|known| Some(known.ratio)),
            Self::Memory(setting) => known(setting, &|known| Some(known.memory as f64)),
            Self::Computing(setting) => known(setting, &|known| known.computing),
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
                        let time = &outcome.delivery_time;
                        let found = match statistic {
                            Statistic::Mean => Some(time.mean),
                            Statistic::Quantile(p) => time.quantiles.get(*p).copied(),
                        };
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

/// How a tuning ended: whether its rules held. What is wrong is told on stderr.
///
/// A rule that found nothing to check counts as broken, as for a run.
pub(crate) fn verdict(rules: &[Rule], tuning: &Tuning) -> Exit {
    let mut exit = Exit::Done;
    for rule in rules {
        let text = rule.to_string();
        let of_rule: Vec<&Threshold> = tuning
            .thresholds
            .iter()
            .filter(|threshold| threshold.rule == text)
            .collect();
        if of_rule.is_empty() {
            output::remark(&format!("broken: {text}: nothing here has that figure"));
            exit = Exit::Broken;
        }
        for broken in of_rule.into_iter().filter(|threshold| !threshold.held) {
            let levels: Vec<String> = broken
                .levels
                .iter()
                .map(|(key, level)| format!("{key} {level}"))
                .collect();
            let found = rule.figure.told(broken.found);
            output::remark(&format!("broken: {text}: {found} in {}", levels.join(", ")));
            exit = Exit::Broken;
        }
    }
    exit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Rule::read(text).unwrap_err()
    }

    #[test]
    fn what_must_not_be_becomes_what_must_be_in_base_units() {
        let rule = |text: &str| Rule::read(text).unwrap();
        let ratio = rule("ratio>0.35");
        assert_eq!((ratio.to_string().as_str(), ratio.bound), ("ratio <= 0.35", 0.35));
        assert_eq!(rule("ratio > 35 %").bound, 0.35);
        assert_eq!(rule("memory>=64KiB").bound, 65_536.0);
        assert_eq!(rule("computing>20us").bound, 20e-6);
        assert_eq!(
            rule("p95(delivery_time)>0.2s").figure,
            Figure::DeliveryTime(Statistic::Quantile("0.95"))
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
        assert!(refusal("ratio>30 kB").contains("no ratio"));
        assert!(refusal("memory>64").contains("unit"));
        assert!(refusal("p42(delivery_time)>1s").contains("p95"));
        assert!(refusal("ratio(deflat:6)>1").contains("deflate"));
        assert!(refusal("memory_total(deflate:6)>1GiB").contains("no figure"));
    }
}
