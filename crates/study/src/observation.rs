//! The result of one repeat of a cell: its figures, or a failure.

use crate::figure::Figure;
use lastmile_lab::failure::Failure;
use lastmile_lab::testbed::MeasuredTimes;
use lastmile_report::record::Doubt;
use lastmile_units::Instant;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The figures of one repeat that ran to its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The samples of each figure, by the figure's name, in its base unit; most figures have one per repeat.
    pub figures: BTreeMap<String, Vec<f64>>,
    /// The random sources that were drawn from: `calibration`, `loss`, `jitter`, `content`, `start-phase`,
    /// `gain-phase` (where BBR's cycle of gains begins).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub varied: BTreeSet<String>,
    /// The reasons to doubt the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// When the samples of times were measured, for the world to judge. They are not kept.
    #[serde(skip)]
    pub times: MeasuredTimes,
}

impl Observation {
    /// Adds a sample, in the figure's base unit.
    pub fn sample(&mut self, figure: &Figure, value: f64) {
        self.figures.entry(figure.name.to_owned()).or_default().push(value);
    }

    /// Adds a sample that is the length of `span`, in seconds.
    pub fn sample_time(&mut self, figure: &Figure, span: Range<Instant>) {
        self.sample(figure, span.end.saturating_since(span.start).as_secs_f64());
        self.times.entry(figure.name.to_owned()).or_default().push(span);
    }

    /// Records that a random source was drawn from.
    pub fn vary(&mut self, source: &str) {
        self.varied.insert(source.to_owned());
    }

    /// The first figure with a sample that is not finite: such a figure must not enter a journal or a mean.
    pub(crate) fn figure_not_finite(&self) -> Option<&str> {
        let (name, _) = self
            .figures
            .iter()
            .find(|(_, samples)| samples.iter().any(|value| !value.is_finite()))?;
        Some(name)
    }
}

/// The outcome of one repeat.
pub type Outcome = Result<Observation, Failure>;
