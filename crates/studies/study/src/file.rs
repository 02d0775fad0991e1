//! The study file: its structure, and the checks on reading it.
//!
//! Reading is strict: an unknown key, a value out of range or an unknown name is refused with its line. `cell` makes the cells of a
//! study; its ratios, charts and thresholds are described in `file/` and computed by `summary`.

mod chart;
mod emulation;
mod error;
mod finding;
mod overrides;
mod ratio;
mod reference_values;
mod threshold;

pub use chart::{
    AxisPosition, AxisScale, ChartSpec, Horizontal, LevelChoice, MarkSpec, PublishedPoint, PublishedSeries, Side,
    Vertical,
};
pub use emulation::EmuPlan;
pub use error::StudyError;
pub use finding::{FindingSpec, TextSpec};
pub use overrides::{SettingOverride, SettingOverrideError};
pub use ratio::{PublishedAt, RatioDirection, RatioSpec};
pub use reference_values::PublishedFigure;
pub use threshold::{Rule, Thresholds};

use crate::figure::FigureName;
use crate::settings::{Factors, KEYS, Settings};
pub use lastmile_testbed::settings::World;
use lastmile_units::suggest::suggestion;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;
use std::time::Duration;

/// A study: a question, what is varied to answer it, and what is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Its name, which also names its run folders.
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
    /// Settings that are varied; every level is combined with every level of the others.
    #[serde(default)]
    pub factors: Factors,
    /// Sub-studies. Where there are any, all cells come from them.
    #[serde(default, rename = "part", skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<SubStudy>,
    /// The figures to measure.
    #[serde(default)]
    pub measure: Measure,
    /// Figures that others have published, shown beside ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedFigure>,
    /// The ratios.
    #[serde(default, rename = "ratio", skip_serializing_if = "Vec::is_empty")]
    pub ratios: Vec<RatioSpec>,
    /// The charts.
    #[serde(default, rename = "chart", skip_serializing_if = "Vec::is_empty")]
    pub charts: Vec<ChartSpec>,
    /// What follows from the figures.
    #[serde(default, rename = "finding", skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingSpec>,
    /// How much of the study is run in the emulated world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emu: Option<EmuPlan>,
    /// The rules that must hold for the run to pass.
    #[serde(default, skip_serializing_if = "Thresholds::is_empty")]
    pub thresholds: Thresholds,
}

/// A sub-study: its settings and factors lie over those of the study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubStudy {
    /// A short name, which ratios and charts use.
    pub name: String,
    /// What it shows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// How to read it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The world that it is for, if only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world: Option<World>,
    /// How often each of its cells runs, where that differs from the study.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<NonZeroU64>,
    /// Settings that all of its cells have.
    #[serde(default)]
    pub fixed: Settings,
    /// Settings that it varies.
    #[serde(default)]
    pub factors: Factors,
}

/// When a new world is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fresh {
    /// One per cell: its repeats follow each other in one world, so the first may differ from the rest.
    #[default]
    Cell,
    /// One per repeat: no repeat influences another.
    Repeat,
}

impl Fresh {
    /// As written in a study: `cell` or `repeat`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cell => "cell",
            Self::Repeat => "repeat",
        }
    }
}

/// The figures that a study measures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The figures that are published; where none is named, all that the experiment measures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureName>,
}

// Five repeats by default is our own choice: the smallest number in many published evaluations, the five seeds among them.
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
    /// When it is not TOML, has an unknown key or an impossible value (all with line and column), or refers to a part, factor or
    /// ratio that it does not have.
    pub fn parse(origin: &str, toml: &str) -> Result<Self, StudyError> {
        let study: Self = toml::from_str(toml).map_err(|error| StudyError::reading(origin, &error))?;
        study.check().map_err(|problem| StudyError::new(origin, problem))?;
        Ok(study)
    }

    /// An error of this study, with what is wrong and the remedy.
    pub(crate) fn error(&self, problem: impl Into<String>) -> StudyError {
        StudyError::new(&format!("study {:?}", self.name), problem)
    }

    /// The study as it is run, with every default and override written out; run folders store it.
    pub fn expanded(&self) -> String {
        toml::to_string(self).expect("a study consists of what TOML can hold")
    }

    /// The settings and factors of each part, or of the whole study where it has no parts.
    pub(crate) fn layers(&self) -> Vec<(Option<&SubStudy>, Settings, Factors)> {
        if self.parts.is_empty() {
            return vec![(None, self.fixed.clone(), self.factors.clone())];
        }
        let layer = |part| {
            let SubStudy { fixed, factors, .. }: &SubStudy = part;
            (
                Some(part),
                self.fixed.overlaid(fixed),
                self.factors.overlaid(fixed, factors),
            )
        };
        self.parts.iter().map(layer).collect()
    }

    /// The keys that are varied somewhere in the study, in the order of [`KEYS`]; they distinguish its cells.
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

    /// Checks references inside the study, which serde does not.
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
                return Err(format!("two parts are called {:?}; give each its own name", part.name));
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
        for finding in &self.findings {
            finding
                .check(self)
                .map_err(|problem| format!("finding {:?}: {problem}", finding.title))?;
        }
        let emulated = self.emu.iter().flat_map(|plan| &plan.parts);
        self.check_parts(emulated).map_err(|problem| format!("emu: {problem}"))
    }

    /// Checks that a key is varied somewhere.
    fn check_factor(&self, key: &str) -> Result<(), String> {
        let varied = self.varied_keys();
        if varied.contains(&key) {
            return Ok(());
        }
        let suggestion = suggestion(key, varied.iter().copied());
        Err(format!("{key:?} is not a factor of this study{suggestion}"))
    }

    /// Checks that a setting, which `what` precedes in the message, has this level somewhere.
    fn check_level(&self, what: &str, key: &str, level: &str) -> Result<(), String> {
        let levels = self.levels_of(key);
        if levels.iter().any(|known| known == level) {
            return Ok(());
        }
        let suggestion = suggestion(level, levels.iter().map(String::as_str));
        Err(format!("{level:?} is not a level of {what}{key:?}{suggestion}"))
    }

    /// Checks that each of `names` is a part.
    fn check_parts<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
        let known = || self.parts.iter().map(|part| part.name.as_str());
        for name in names {
            if !known().any(|part| part == name) {
                return Err(format!("no part is called {name:?}{}", suggestion(name, known())));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
