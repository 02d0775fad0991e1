//! A load as a run of a study, so that two loads are compared as two runs are: a cell per world, rate and size, repeats paired.

use super::{Load, LoadRun, RunPurpose, TimeDistribution};
use lastmile_report::figure::Moments;
use lastmile_report::record::{Cell, Figure, Run};
use lastmile_statistics::interval::interval_95;
use lastmile_units::Seed;
use std::collections::BTreeMap;

/// A figure of a run: its name, its unit, and how to read it.
type RunFigure = (&'static str, &'static str, fn(&LoadRun) -> Option<f64>);

/// The figures that have one value per run.
const FIGURES: [RunFigure; 9] = [
    ("response_time", "s", |run| time(run, "response", |times| times.mean)),
    ("response_time_p50", "s", |run| time(run, "response", |times| times.p50)),
    ("response_time_p95", "s", |run| time(run, "response", |times| times.p95)),
    ("response_time_p99", "s", |run| time(run, "response", |times| times.p99)),
    ("connect_time", "s", |run| time(run, "connect", |times| times.mean)),
    ("first_byte_time", "s", |run| {
        time(run, "first_byte", |times| times.mean)
    }),
    ("transaction_rate", "1/s", |run| Some(run.transaction_rate)),
    ("goodput", "bit/s", |run| Some(run.goodput_bit_per_s)),
    ("request_failures", "1", |run| Some(run.failed as f64)),
];

fn time(run: &LoadRun, name: &str, statistic: fn(&TimeDistribution) -> f64) -> Option<f64> {
    run.times.get(name).map(statistic)
}

impl Load {
    /// The measured runs as cells, of the factors world, rate and size. A search's own runs are left out.
    pub fn as_run(&self) -> Run {
        let mut cells: BTreeMap<BTreeMap<String, String>, Vec<&LoadRun>> = BTreeMap::new();
        for run in self.runs.iter().filter(|run| run.purpose == RunPurpose::Measurement) {
            let rate = run.rate.map_or_else(|| "closed".to_owned(), |rate| rate.to_string());
            let mut levels = BTreeMap::from([("world".to_owned(), run.world.clone()), ("rate".to_owned(), rate)]);
            levels.extend(run.size.map(|size| ("size".to_owned(), format!("{size} B"))));
            cells.entry(levels).or_default().push(run);
        }
        let worlds: Vec<&str> = self.runs.iter().map(|run| run.world.as_str()).collect();
        let world = if worlds.iter().all(|world| Some(world) == worlds.first()) {
            worlds.first().copied()
        } else {
            None
        };
        let cells = cells.into_iter().map(|(levels, runs)| self.cell(levels, &runs));
        Run {
            world: world.unwrap_or("several").to_owned(),
            run: self.target.clone(),
            ..Run::of_cells(
                format!("load {}", self.target),
                &self.version,
                self.seed,
                cells.collect(),
            )
        }
    }

    fn cell(&self, levels: BTreeMap<String, String>, runs: &[&LoadRun]) -> Cell {
        let figures = FIGURES.iter().filter_map(|(name, unit, value)| {
            let values: Vec<f64> = runs.iter().filter_map(|run| value(run)).collect();
            Some(((*name).to_owned(), self.figure(unit, &values)?))
        });
        Cell {
            part: None,
            levels,
            repeats: runs.len() as u64,
            failed: 0,
            figures: figures.collect(),
            valid: runs.iter().all(|run| run.valid),
            doubts: self.doubts.clone(),
        }
    }

    /// A figure with one value per run. The same arrivals on a real machine still differ by the machine.
    fn figure(&self, unit: &str, values: &[f64]) -> Option<Figure> {
        let moments = Moments::of_samples(values)?;
        let figure = Figure::of_moments(unit, "run", moments, |probability| {
            lastmile_statistics::quantile(values, probability)
        });
        Some(Figure {
            ci95: interval_95(values, Seed::new(self.seed)),
            varied: vec!["arrivals".to_owned()],
            run_means: values.to_vec(),
            ..figure
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::fixtures;
    use lastmile_report::compare::{Verdict, compare};

    #[test]
    fn two_loads_are_compared_rate_by_rate() {
        let before = fixtures::load();
        let mut after = before.clone();
        for run in &mut after.runs {
            run.transaction_rate *= 0.9;
        }
        let comparison = compare(&before.as_run(), &after.as_run(), &[], false);
        assert_eq!(comparison.cells.len(), 2);
        let change = &comparison.cells[1].changes["transaction_rate"];
        assert!((change.change.unwrap() + 0.1).abs() < 1e-9);
        assert_eq!(change.verdict, Verdict::Unknown, "one run each: it may be noise");
    }
}
