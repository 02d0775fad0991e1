//! Makes the published record of a study from the outcomes of its repeats.
//!
//! It is a pure function of the study and its journal: a run that was resumed, or run in another order, gives the same record.

mod cells;
mod charts;
mod ratios;
mod samples;
mod thresholds;

use crate::cell::{Cell, Expanded};
use crate::file::Study;
use crate::journal::Outcomes;
use crate::observation::Observation;
use crate::run_folder::Meta;
use lastmile_report::record::Run;
use lastmile_statistics::{Distribution, mean};
use lastmile_testbed::failure::Failure;
use lastmile_units::Seed;
use samples::Samples;

/// The record of a run, whose folder is `run`, without findings and extra tables; repeats that `outcomes` lacks are left out.
pub fn summarise(Expanded { study, cells }: &Expanded<'_>, outcomes: &Outcomes, meta: &Meta, run: &str) -> Run {
    let measured: Vec<_> = cells.iter().map(|cell| MeasuredCell::new(cell, outcomes)).collect();
    let ratios = ratios::ratios(study, &measured);
    Run {
        schema: Run::SCHEMA.to_owned(),
        study: study.name.clone(),
        question: study.question.clone(),
        world: study.world.to_string(),
        cpu: meta.cpu.clone(),
        cpu_machine: meta.cpu_machine.clone(),
        seed: study.seed,
        fresh: study.fresh.name().to_owned(),
        version: meta.version.clone(),
        run: run.to_owned(),
        cells: measured.iter().map(|cell| cells::summary(study, cell)).collect(),
        charts: charts::charts(study, &measured, &ratios),
        ratios: ratios.into_iter().map(|ratio| ratio.record).collect(),
        findings: Vec::new(),
        exhibits: Vec::new(),
        thresholds: thresholds::test_rules(study, &measured),
    }
}

/// A cell with the outcomes of its repeats, in their order.
struct MeasuredCell<'a> {
    cell: &'a Cell,
    observations: Vec<(u64, &'a Observation)>,
    failures: Vec<(u64, &'a Failure)>,
}

impl<'a> MeasuredCell<'a> {
    fn new(cell: &'a Cell, outcomes: &'a Outcomes) -> Self {
        let mut measured = Self {
            observations: Vec::new(),
            failures: Vec::new(),
            cell,
        };
        for (repeat, outcome) in outcomes.get(&measured.cell.key()).into_iter().flatten() {
            match outcome {
                Ok(observation) => measured.observations.push((*repeat, observation)),
                Err(failure) => measured.failures.push((*repeat, failure)),
            }
        }
        measured
    }

    /// The samples of a figure in each repeat that has it.
    fn samples(&self, figure: &str) -> Samples {
        let seen = self.observations.iter().map(|(_, seen)| seen);
        if seen.clone().all(|seen| !seen.distributions.contains_key(figure)) {
            return Samples::Each(seen.filter_map(|seen| seen.figures.get(figure).cloned()).collect());
        }
        // A run that an earlier version began has repeats with each sample, and repeats with distributions.
        let of_each = |seen: &Observation| Distribution::of_samples(seen.figures.get(figure)?);
        Samples::Distributions(
            seen.filter_map(|seen| seen.distributions.get(figure).cloned().or_else(|| of_each(seen)))
                .collect(),
        )
    }

    /// The mean of a figure in each repeat that has it.
    fn means(&self, figure: &str) -> Vec<(u64, f64)> {
        let of = |seen: &Observation| match seen.distributions.get(figure) {
            Some(kept) => Some(kept.mean()),
            None => mean(seen.figures.get(figure)?),
        };
        let one = |(repeat, seen): &(u64, &Observation)| Some((*repeat, of(seen)?));
        self.observations.iter().filter_map(one).collect()
    }

    /// The sources of randomness in some repeat.
    fn varied(&self) -> Vec<String> {
        let all: std::collections::BTreeSet<_> = self.observations.iter().flat_map(|(_, seen)| &seen.varied).collect();
        all.into_iter().cloned().collect()
    }
}

/// The seed of a study's bootstrap; the same for every figure, so that no figure's interval depends on the others.
fn bootstrap_seed(study: &Study) -> Seed {
    Seed::new(study.seed).derive("interval")
}

#[cfg(test)]
mod tests;
