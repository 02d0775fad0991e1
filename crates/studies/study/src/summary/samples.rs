//! The samples of a figure over the repeats of a cell.

use crate::figure::Figure;
use lastmile_report::record;
use lastmile_report::rules::Statistic;
use lastmile_statistics::{Distribution, mean};
use lastmile_units::Seed;

/// The samples of each repeat: one by one, or where some repeat has too many for that, as distributions.
pub(super) enum Samples {
    Each(Vec<Vec<f64>>),
    Distributions(Vec<Distribution>),
}

impl Samples {
    /// The mean of all; none where there are none.
    pub(super) fn mean(&self) -> Option<f64> {
        match self {
            Self::Each(runs) => mean(&runs.concat()),
            Self::Distributions(runs) => Some(Distribution::merge(runs)?.mean()),
        }
    }

    /// A statistic of all; none where there are none.
    pub(super) fn statistic(&self, statistic: Statistic) -> Option<f64> {
        match self {
            Self::Each(runs) => statistic.of_samples(&runs.concat()),
            Self::Distributions(runs) => Some(statistic.of_distribution(&Distribution::merge(runs)?)),
        }
    }

    /// The distribution of all; none where there are none.
    pub(super) fn distribution(&self) -> Option<Distribution> {
        match self {
            Self::Each(runs) => Distribution::of_samples(&runs.concat()),
            Self::Distributions(runs) => Distribution::merge(runs),
        }
    }

    /// The figure that they make.
    pub(super) fn figure(&self, figure: Option<&Figure>, varied: &[String], seed: Seed) -> Option<record::Figure> {
        let (unit, per) = figure.map_or(("1", "run"), |figure| (figure.unit, figure.per));
        match self {
            Self::Each(runs) => record::Figure::of_runs(unit, per, runs, varied, seed),
            Self::Distributions(runs) => record::Figure::of_distributions(unit, per, runs, varied, seed),
        }
    }
}
