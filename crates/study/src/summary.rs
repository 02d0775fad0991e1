//! What did a study find? From the outcomes of its repeats to the record that is published.
//!
//! A pure function of the study and its journal: a run that was resumed, or run in another order, gives the same record.

mod cells;
mod charts;
mod ratios;
mod thresholds;

use crate::cell::{Cell, expand};
use crate::fidelity;
use crate::file::{Study, StudyError};
use crate::journal::Outcomes;
use crate::observation::{Failure, Observation};
use crate::settings::World;
use crate::statistics::mean;
use lastmile_report::record::Run;
use lastmile_units::Seed;

/// What the record says of the run as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The cost table's name.
    pub cpu: String,
    /// Where it was measured.
    pub cpu_machine: String,
    /// The version of lastmile.
    pub version: String,
    /// The run folder.
    pub run: String,
}

/// The record of a run; repeats that `outcomes` lacks are left out.
///
/// # Errors
/// When the study's cells cannot be told apart.
pub fn summarise(study: &Study, outcomes: &Outcomes, about: About) -> Result<Run, StudyError> {
    let measured: Vec<_> = expand(study)?
        .into_iter()
        .map(|cell| Measured::of(cell, outcomes))
        .collect();
    let ratios = ratios::ratios(study, &measured);
    let mut run = Run {
        schema: Run::SCHEMA.to_owned(),
        study: study.name.clone(),
        question: study.question.clone(),
        world: study.world.to_string(),
        cpu: about.cpu,
        cpu_machine: about.cpu_machine,
        seed: study.seed,
        version: about.version,
        run: about.run,
        cells: measured.iter().map(|cell| cells::summary(study, cell)).collect(),
        charts: charts::charts(study, &measured, &ratios),
        ratios: ratios.into_iter().map(|ratio| ratio.record).collect(),
        findings: Vec::new(),
        exhibits: Vec::new(),
        thresholds: thresholds::held(study, &measured),
    };
    if let Some(builtin) = crate::builtin::of(study) {
        run.findings = (builtin.findings)(&run);
        run.exhibits = (builtin.exhibits)(&run);
    }
    let simulated = measured.iter().any(|cell| cell.cell.world() == World::Simulated);
    if simulated && study.name != fidelity::STUDY {
        run.exhibits.push(fidelity::exhibit());
    }
    Ok(run)
}

/// A cell with the outcomes of its repeats, in their order.
struct Measured<'a> {
    cell: Cell,
    observations: Vec<(u64, &'a Observation)>,
    failures: Vec<(u64, &'a Failure)>,
}

impl<'a> Measured<'a> {
    fn of(cell: Cell, outcomes: &'a Outcomes) -> Self {
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

    /// Every sample of a figure, repeat by repeat.
    fn samples(&self, figure: &str) -> Vec<f64> {
        self.observations
            .iter()
            .filter_map(|(_, seen)| seen.figures.get(figure))
            .flatten()
            .copied()
            .collect()
    }

    /// The mean of a figure in each repeat that has it.
    fn means(&self, figure: &str) -> Vec<(u64, f64)> {
        let one = |(repeat, seen): &(u64, &Observation)| Some((*repeat, mean(seen.figures.get(figure)?)?));
        self.observations.iter().filter_map(one).collect()
    }

    /// What was drawn at random in some repeat.
    fn varied(&self) -> Vec<String> {
        let all: std::collections::BTreeSet<_> = self.observations.iter().flat_map(|(_, seen)| &seen.varied).collect();
        all.into_iter().cloned().collect()
    }
}

/// What the bootstrap of a study draws from; the same for every figure, so that no figure's interval depends on the others'.
fn bootstrap_seed(study: &Study) -> Seed {
    Seed::new(study.seed).derive("interval")
}

#[cfg(test)]
mod tests;
