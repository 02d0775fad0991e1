//! What does a study file say? Its shape, and the refusal of what is not in it.
//!
//! Reading is strict: an unknown key, a value out of range or a name that means nothing is refused with its line. What follows
//! from a study (its cells) is in `cell`; its ratios, charts and thresholds are described in `file/` and computed by `summary`.

mod chart;
mod emulation;
mod error;
mod published;
mod ratio;
mod set;
mod threshold;

pub use chart::{AxisScale, ChartSpec, Horizontal, Place, PublishedPoint, PublishedSeries, Vertical};
pub use emulation::EmuPlan;
pub use error::StudyError;
pub use published::PublishedFigure;
pub use ratio::{Form, PublishedAt, RatioSpec};
pub use set::{Overriding, OverridingError};
pub use threshold::{Comparison, Rule, Statistic, Thresholds};

use crate::figure::FigureName;
pub use crate::settings::World;
use crate::settings::{Factors, KEYS, Settings};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;
use std::time::Duration;

/// A study: a question, what is varied to answer it, and what is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Its name; run folders are called after it.
    pub name: String,
    /// The question it answers.
    pub question: String,
    /// How often each cell runs.
    #[serde(default = "five")]
    pub repeats: NonZeroU64,
    /// The root of every random choice.
    #[serde(default = "one")]
    pub seed: u64,
    /// Where cells run.
    #[serde(default)]
    pub world: World,
    /// Virtual idle time between the repeats of a cell, where they share a world.
    #[serde(
        default,
        with = "lastmile_units::duration::text",
        skip_serializing_if = "Duration::is_zero"
    )]
    pub interval: Duration,
    /// What each new world is for.
    #[serde(default)]
    pub fresh: Fresh,
    /// Settings that every cell has.
    #[serde(default)]
    pub fixed: Settings,
    /// Settings that are varied, every level with every other's.
    #[serde(default)]
    pub factors: Factors,
    /// Sub-studies. Where there are any, cells come from them alone.
    #[serde(default, rename = "part", skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// What is measured.
    #[serde(default)]
    pub measure: Measure,
    /// What others have published of figures, to be shown beside them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedFigure>,
    /// What is compared.
    #[serde(default, rename = "ratio", skip_serializing_if = "Vec::is_empty")]
    pub ratios: Vec<RatioSpec>,
    /// What is drawn.
    #[serde(default, rename = "chart", skip_serializing_if = "Vec::is_empty")]
    pub charts: Vec<ChartSpec>,
    /// How much of the study is run in the emulated world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emu: Option<EmuPlan>,
    /// What must hold for the run to count as passed.
    #[serde(default, skip_serializing_if = "Thresholds::is_empty")]
    pub thresholds: Thresholds,
}

/// A sub-study: its settings and factors lie over those of the study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// A short name, by which ratios and charts refer to it.
    pub name: String,
    /// What it shows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// How to read it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The world that it is for, where it is for one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world: Option<World>,
    /// How often each of its cells runs, where that is not as often as those of the study.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<NonZeroU64>,
    /// Settings that all of its cells have.
    #[serde(default)]
    pub fixed: Settings,
    /// Settings that it varies.
    #[serde(default)]
    pub factors: Factors,
}

/// What a new world is made for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fresh {
    /// For each cell: its repeats follow each other in one world, so the first may differ from the rest.
    #[default]
    Cell,
    /// For each repeat: none knows of another.
    Repeat,
}

/// What is measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The figures that are published; where none is named, all that the experiment gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureName>,
}

// Five repeats by default is our own choice: the fewest that many published evaluations, the five seeds among them, get by with.
fn five() -> NonZeroU64 {
    NonZeroU64::new(5).expect("five is not zero")
}

fn one() -> u64 {
    1
}

impl Study {
    /// Reads a study; `origin` names it in messages (a file, or the name of a built-in study).
    ///
    /// # Errors
    /// When it is no TOML, has an unknown key or an impossible value (all with line and column), or refers to a part, factor or
    /// ratio that it does not have.
    pub fn parse(origin: &str, toml: &str) -> Result<Self, StudyError> {
        let study: Self = toml::from_str(toml).map_err(|error| StudyError::reading(origin, &error))?;
        study.check().map_err(|problem| StudyError::new(origin, problem))?;
        Ok(study)
    }

    /// The study as it is run, every default and override written out: what a run folder keeps.
    pub fn expanded(&self) -> String {
        toml::to_string(self).expect("a study consists of what TOML can hold")
    }

    /// The settings of a study whose cells are not divided into parts, or of each of its parts, with its factors.
    pub(crate) fn layers(&self) -> Vec<(Option<&Part>, Settings, Factors)> {
        if self.parts.is_empty() {
            return vec![(None, self.fixed.clone(), self.factors.clone())];
        }
        let layer = |part| {
            let Part { fixed, factors, .. }: &Part = part;
            (
                Some(part),
                self.fixed.overlaid(fixed),
                self.factors.overlaid(fixed, factors),
            )
        };
        self.parts.iter().map(layer).collect()
    }

    /// The keys that are varied somewhere in the study, in the order of [`KEYS`]: what tells its cells apart.
    pub fn varied_keys(&self) -> Vec<&'static str> {
        let axes: Vec<_> = self
            .layers()
            .iter()
            .flat_map(|(_, _, factors)| factors.axes())
            .map(|axis| axis.key)
            .collect();
        KEYS.iter().copied().filter(|key| axes.contains(key)).collect()
    }

    /// Every level that a setting has somewhere in the study, as text.
    fn levels_of(&self, key: &str) -> Vec<String> {
        let layers = self.layers();
        let fixed = layers.iter().map(|(_, fixed, _)| fixed.levels());
        let axes = layers
            .iter()
            .flat_map(|(_, _, factors)| factors.axes())
            .flat_map(|axis| axis.levels);
        fixed
            .chain(axes.map(|level| level.levels()))
            .filter_map(|mut levels| levels.remove(key))
            .collect()
    }

    /// References inside the study, which serde does not see.
    fn check(&self) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.name.is_empty() || !self.name.chars().all(plain) || self.name.starts_with('.') {
            return Err(format!(
                "name: {:?} cannot name a run folder; use letters, digits, '-' and '_'",
                self.name
            ));
        }
        for (at, part) in self.parts.iter().enumerate() {
            if self.parts[..at].iter().any(|earlier| earlier.name == part.name) {
                return Err(format!(
                    "two parts are called {:?}; each needs a name of its own",
                    part.name
                ));
            }
        }
        for published in &self.published {
            published
                .check(self)
                .map_err(|problem| format!("published {:?}: {problem}", published.figure.0.name))?;
        }
        for ratio in &self.ratios {
            ratio
                .check(self)
                .map_err(|problem| format!("ratio {:?}: {problem}", ratio.name))?;
        }
        for chart in &self.charts {
            chart
                .check(self)
                .map_err(|problem| format!("chart {:?}: {problem}", chart.title))?;
        }
        let emulated = self.emu.iter().flat_map(|plan| &plan.parts);
        self.check_parts(emulated).map_err(|problem| format!("emu: {problem}"))
    }

    /// Whether each of `names` is a part.
    fn check_parts<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
        let known = || self.parts.iter().map(|part| part.name.as_str());
        for name in names {
            if !known().any(|part| part == name) {
                return Err(format!(
                    "no part is called {name:?}{}",
                    crate::nearest::suggestion(name, known())
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
