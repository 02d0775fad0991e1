//! What did one repeat of a cell give?

use crate::figure::Figure;
use lastmile_report::record::Doubt;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The figures of one repeat that ran to its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The samples of each figure, by the figure's name, in its base unit; most figures have one a repeat.
    pub figures: BTreeMap<String, Vec<f64>>,
    /// What was drawn at random: `calibration`, `loss`, `jitter`, `content`, `start-phase`,
    /// `gain-phase` (where BBR's cycle of gains begins).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub varied: BTreeSet<String>,
    /// What makes the figures suspect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
}

impl Observation {
    /// Adds a sample, in the figure's base unit.
    pub fn sample(&mut self, figure: &Figure, value: f64) {
        self.figures.entry(figure.name.to_owned()).or_default().push(value);
    }

    /// Notes that something was drawn at random.
    pub fn vary(&mut self, source: &str) {
        self.varied.insert(source.to_owned());
    }

    /// The figure whose samples are not finite numbers, where there is one: it has no place in a journal or a mean.
    pub(crate) fn figure_not_finite(&self) -> Option<&str> {
        let (name, _) = self
            .figures
            .iter()
            .find(|(_, samples)| samples.iter().any(|value| !value.is_finite()))?;
        Some(name)
    }
}

/// Why a repeat gave no figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    /// What went wrong, in a sentence.
    pub reason: String,
}

impl Failure {
    /// A failure for that reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// What became of one repeat.
pub type Outcome = Result<Observation, Failure>;
