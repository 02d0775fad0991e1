//! The result of one repeat of a cell: its figures, or a failure.

mod stored_distribution;
mod timeline;

use crate::figure::Figure;
use lastmile_report::record::Doubt;
use lastmile_statistics::Distribution;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::testbed::MeasuredTimes;
use lastmile_units::Instant;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;
pub use timeline::Timeline;

/// The most samples of a figure that a repeat keeps one by one; more are kept as their distribution. Our own choice.
pub const SAMPLES_MAX: usize = 1_000;

/// The figures of one repeat that ran to its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The samples of each figure, by the figure's name, in its base unit; most figures have one per repeat.
    pub figures: BTreeMap<String, Vec<f64>>,
    /// The figures whose samples are too many to be kept one by one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "stored_distribution")]
    pub distributions: BTreeMap<String, Distribution>,
    /// Figures over the time of the repeat. One repeat of a cell has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub timelines: BTreeMap<String, Timeline>,
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

    /// Adds the distribution of a figure whose samples are not kept one by one.
    pub fn distribution(&mut self, figure: &Figure, samples: Distribution) {
        self.distributions.insert(figure.name.to_owned(), samples);
    }

    /// Adds the course of a figure: its mean over each part of the repeat, all of which have the length `step`.
    pub fn timeline(&mut self, figure: &Figure, step: Duration, values: &[f64]) {
        self.timelines
            .insert(figure.name.to_owned(), Timeline::new(step, values));
    }

    /// Replaces the samples of figures that have more than [`SAMPLES_MAX`] by their distributions.
    pub(crate) fn bound_samples(&mut self) {
        let (many, few): (BTreeMap<_, _>, BTreeMap<_, _>) = std::mem::take(&mut self.figures)
            .into_iter()
            .partition(|(_, samples)| samples.len() > SAMPLES_MAX);
        self.figures = few;
        let kept = many
            .into_iter()
            .filter_map(|(name, samples)| Some((name, Distribution::of_samples(&samples)?)));
        self.distributions.extend(kept);
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
            .map(|(name, samples)| (name, &samples[..]))
            .chain(self.timelines.iter().map(|(name, line)| (name, &line.values[..])))
            .find(|(_, samples)| samples.iter().any(|value| !value.is_finite()))?;
        Some(name)
    }
}

/// The outcome of one repeat.
pub type Outcome = Result<Observation, Failure>;
