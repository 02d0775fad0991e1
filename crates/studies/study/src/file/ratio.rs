//! A ratio as a study file describes it; `summary::ratios` computes it.

use super::Study;
use crate::figure::FigureName;
use crate::settings::Key;
use lastmile_report::record::{Levels, Published};
use serde::{Deserialize, Serialize};

/// A comparison of cells that differ in one factor only, for each pair of repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatioSpec {
    /// Its name: `rssdr`.
    pub name: String,
    /// Its full name.
    pub title: String,
    /// The figure that is compared.
    pub figure: FigureName,
    /// The formula for a pair.
    pub form: RatioDirection,
    /// The factor in which the two cells differ.
    pub factor: Key,
    /// The level compared against.
    pub base: String,
    /// The level compared.
    pub treated: String,
    /// The parts in which it is computed; where none is named, all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// The factors whose levels distinguish ratios of this name; where none is named, all but `factor`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Key>,
    /// Published values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedAt>,
}

/// The formula for a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RatioDirection {
    /// The decrease: `1 - treated / base`.
    Decrease,
    /// The quotient: `treated / base`.
    Quotient,
    /// The increase: `treated / base - 1`.
    Increase,
}

impl RatioDirection {
    /// The ratio of a pair; none where the base is 0.
    pub fn ratio_of_pair(self, base: f64, treated: f64) -> Option<f64> {
        let quotient = (base != 0.0).then(|| treated / base)?;
        Some(match self {
            Self::Decrease => 1.0 - quotient,
            Self::Quotient => quotient,
            Self::Increase => quotient - 1.0,
        })
    }
}

/// A published value, and the levels that it was published for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedAt {
    /// As printed.
    pub value: Published,
    /// The levels: every key other than `value`.
    #[serde(flatten)]
    pub levels: Levels,
}

impl PublishedAt {
    /// The first published value whose levels are all among `levels`.
    pub(crate) fn find(published: &[Self], levels: &Levels) -> Option<Published> {
        let fits = |at: &&Self| at.levels.iter().all(|(key, level)| levels.get(key) == Some(level));
        published.iter().find(fits).map(|at| at.value)
    }
}

impl RatioSpec {
    /// Checks that the study has what the ratio refers to.
    pub(super) fn check(&self, study: &Study) -> Result<(), String> {
        study.check_parts(&self.parts)?;
        let key = self.factor.0;
        let levels = study.levels_of(key);
        for level in [&self.base, &self.treated] {
            if !levels.contains(level) {
                let suggestion = lastmile_units::suggest::suggestion(level, levels.iter().map(String::as_str));
                return Err(format!("{level:?} is not a level of the factor {key:?}{suggestion}"));
            }
        }
        let published = self
            .published
            .iter()
            .flat_map(|at| at.levels.keys().map(String::as_str));
        let mut named = self.levels.iter().map(|key| key.0).chain(published);
        named.try_for_each(|key| study.check_level(key, None))
    }
}
