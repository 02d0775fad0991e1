//! Makes figures of samples: the one place that chooses their statistics.

use crate::record::Figure;
use lastmile_statistics::interval::interval_95;
use lastmile_statistics::{Distribution, mean, population_sd, quantile, sd, varies};
use lastmile_units::Seed;

/// The quantiles of a record, by their names.
const QUANTILES: [(&str, f64); 3] = [("0.5", 0.5), ("0.95", 0.95), ("0.99", 0.99)];

/// The count, centre and spread of samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    /// How many samples.
    pub n: u64,
    /// Their mean.
    pub mean: f64,
    /// Their population deviation, divided by n.
    pub population_sd: f64,
    /// Their sample deviation, divided by n - 1; none for one sample.
    pub sd: Option<f64>,
}

impl Moments {
    /// Those of samples; none where there are none.
    pub fn of_samples(samples: &[f64]) -> Option<Self> {
        Some(Self {
            n: samples.len() as u64,
            mean: mean(samples)?,
            population_sd: population_sd(samples)?,
            sd: sd(samples),
        })
    }
}

impl Figure {
    /// A figure of samples that are not kept: without an interval. `quantile` gives the quantile at a probability.
    pub fn of_moments(unit: &str, per: &str, moments: Moments, quantile: impl Fn(f64) -> Option<f64>) -> Self {
        let Moments {
            n,
            mean,
            population_sd,
            sd,
        } = moments;
        Self {
            unit: unit.to_owned(),
            per: per.to_owned(),
            n,
            mean,
            population_sd,
            sd,
            population_sd_ratio: (mean != 0.0).then(|| population_sd / mean),
            quantiles: QUANTILES
                .iter()
                .filter_map(|(name, probability)| Some(((*name).to_owned(), quantile(*probability)?)))
                .collect(),
            ci95: None,
            varied: Vec::new(),
            run_means: Vec::new(),
            first_against_rest: None,
            published: None,
        }
    }

    /// The figure of the samples of runs; none without a sample. The samples of one run (its requests) depend on each other, but runs do
    /// not: the interval is that of the runs' means, and there is none where `varied`, the sources of variation, is empty. `seed` seeds
    /// its bootstrap.
    pub fn of_runs(unit: &str, per: &str, runs: &[Vec<f64>], varied: &[String], seed: Seed) -> Option<Self> {
        let samples = runs.concat();
        let figure = Self::of_moments(unit, per, Moments::of_samples(&samples)?, |probability| {
            quantile(&samples, probability)
        });
        Some(figure.with_interval(&means(runs), varied, seed))
    }

    /// The figure of runs whose samples are kept as distributions; none without a run. Otherwise as [`Figure::of_runs`].
    pub fn of_distributions(
        unit: &str,
        per: &str,
        runs: &[Distribution],
        varied: &[String],
        seed: Seed,
    ) -> Option<Self> {
        let all = Distribution::merge(runs)?;
        let moments = Moments {
            n: all.count(),
            mean: all.mean(),
            population_sd: all.population_sd(),
            sd: all.sd(),
        };
        let figure = Self::of_moments(unit, per, moments, |probability| Some(all.quantile(probability)));
        let means: Vec<f64> = runs.iter().map(Distribution::mean).collect();
        Some(figure.with_interval(&means, varied, seed))
    }

    /// Adds the confidence interval of the runs' means, if anything varied.
    fn with_interval(self, means: &[f64], varied: &[String], seed: Seed) -> Self {
        if varied.is_empty() || !varies(means) {
            return self;
        }
        Self {
            ci95: interval_95(means, seed),
            varied: varied.to_vec(),
            ..self
        }
    }
}

/// The mean of each run that has samples.
pub(crate) fn means(runs: &[Vec<f64>]) -> Vec<f64> {
    runs.iter().filter_map(|run| mean(run)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_over_the_means_of_runs() {
        let figure = |runs: &[Vec<f64>], varied: &[String]| Figure::of_runs("s", "request", runs, varied, Seed::new(1));
        let varied = ["content".to_owned()];
        let runs = [vec![1.0, 3.0], vec![2.0, 4.0]];
        let found = figure(&runs, &varied).unwrap();
        assert_eq!((found.n, found.mean, found.quantiles["0.5"]), (4, 2.5, 2.5));
        assert_eq!(found.ci95, interval_95(&[2.0, 3.0], Seed::new(1)));
        assert_eq!(found.varied, varied);
        assert_eq!(figure(&runs, &[]).unwrap().ci95, None);
        let alike = figure(&[vec![1.0, 3.0], vec![2.0, 2.0]], &varied).unwrap();
        assert_eq!((alike.ci95, alike.varied.len()), (None, 0), "their means are equal");
        assert_eq!(figure(&[Vec::new()], &varied), None);
    }

    #[test]
    fn distributions_of_runs_have_the_figure_of_their_samples() {
        let varied = ["content".to_owned()];
        let runs = [vec![1.0, 3.0], vec![2.0, 4.0]];
        let kept: Vec<Distribution> = runs.iter().filter_map(|run| Distribution::of_samples(run)).collect();
        let exact = Figure::of_runs("s", "request", &runs, &varied, Seed::new(1)).unwrap();
        let found = Figure::of_distributions("s", "request", &kept, &varied, Seed::new(1)).unwrap();
        assert_eq!((found.n, found.mean, found.ci95), (exact.n, exact.mean, exact.ci95));
        assert!((found.quantiles["0.5"] / exact.quantiles["0.5"] - 1.0).abs() < 0.000_25);
    }
}
