//! The interface of a delivery, and the registry of deliveries that the binary hands to the engine.
//!
//! A [`Delivery`] is what the cells of studies run: it carries a workload from one program to another. The study language names
//! deliveries ([`DeliveryName`]) and does not know which there are: crates above this one have them, and
//! [`Deliveries`] finds one by its name. A registry is an [`Experiment`], so that [`crate::runner`] runs a study with it.

use crate::cell::{Cell, Expanded};
use crate::figure::{self, Figure, FigureName};
use crate::file::{Study, StudyError};
use crate::observation::Outcome;
use crate::runner::{Experiment, RunContext};
use crate::settings::{DeliveryName, Named, Settings};
use lastmile_testbed::cpu_cost_model::CostTable;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::settings::World;
use lastmile_units::Seed;
use lastmile_units::suggest::nearest;
use lastmile_workload::WorkloadSpec;
use std::fmt;
use std::fs::File;
use std::time::Duration;

/// A way of delivering a workload.
pub trait Delivery: Sync {
    /// Its name, as studies and records write it: `http/1.1`.
    fn name(&self) -> &'static str;

    /// The workloads that it carries, in the plural, for messages: `objects`.
    fn carries(&self) -> &'static str;

    /// What it does, in a sentence for those who write a study.
    fn about(&self) -> &'static str;

    /// Checks, before anything runs, that a cell's settings are complete and that it understands their values.
    ///
    /// # Errors
    /// The first setting that is missing or contradicts another, with the remedy.
    fn check(&self, settings: &Settings) -> Result<(), Refusal>;

    /// The figures that it measures with settings that [`check`](Self::check) accepts. By default it does not say: studies may ask for any.
    fn figures(&self, settings: &Settings) -> &'static [&'static Figure] {
        let _ = settings;
        &[]
    }

    /// Checks that it runs in `world`. By default it runs in both.
    ///
    /// # Errors
    /// Why it does not, with the remedy.
    fn check_world(&self, world: World) -> Result<(), String> {
        let _ = world;
        Ok(())
    }

    /// Whether a repeat in the emulated world computes so much that nothing else may run beside it. By default it does not.
    fn runs_alone(&self, settings: &Settings) -> bool {
        let _ = settings;
        false
    }

    /// The approximate CPU time of one repeat in the simulated world, with settings that [`check`](Self::check) accepts.
    fn expected_time(&self, settings: &Settings) -> Duration;

    /// About the time that a repeat takes in the emulated world. By default it does not say, and a simulated repeat tells.
    fn real_time(&self, settings: &Settings) -> Option<Duration> {
        let _ = settings;
        None
    }

    /// Runs the repeats of a cell, as [`Experiment::run`] does. Settings and world have been checked.
    ///
    /// # Errors
    /// When no repeat can be run.
    fn run(&self, cell: &Cell, context: &RunContext<'_>) -> Result<Vec<Outcome>, Failure>;
}

/// Why a delivery refuses the settings of a cell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It does not carry the cell's workload. [`Deliveries`] names the deliveries that do.
    #[error("the delivery does not carry this workload")]
    Workload,
    /// A setting is missing or contradicts another: a message for the author of the study, with the remedy.
    #[error("{0}")]
    Settings(String),
}

impl From<String> for Refusal {
    fn from(problem: String) -> Self {
        Self::Settings(problem)
    }
}

impl From<&str> for Refusal {
    fn from(problem: &str) -> Self {
        Self::Settings(problem.to_owned())
    }
}

/// The deliveries that studies can name: one list per crate that has some.
#[derive(Clone, Copy)]
pub struct Deliveries(&'static [&'static [&'static dyn Delivery]]);

impl Deliveries {
    /// The registry of these lists. Where two deliveries have the same name, the first counts.
    pub const fn new(lists: &'static [&'static [&'static dyn Delivery]]) -> Self {
        Self(lists)
    }

    /// Every delivery, in the order of the lists.
    pub fn all(self) -> impl Iterator<Item = &'static dyn Delivery> {
        self.0.iter().copied().flatten().copied()
    }

    /// The delivery with this name.
    ///
    /// # Errors
    /// When there is none; the message has the most similar name, or else all of them.
    pub fn find(self, name: &DeliveryName) -> Result<&'static dyn Delivery, String> {
        let found = self.all().find(|delivery| delivery.name() == name.as_str());
        found.ok_or_else(|| {
            let names = || self.all().map(Delivery::name);
            let remedy = match nearest(name.as_str(), names()) {
                Some(meant) => format!("did you mean {meant:?}?"),
                None => format!("there are {}", list(names(), "and")),
            };
            format!("unknown delivery {name:?}; {remedy}", name = name.as_str())
        })
    }

    /// The delivery of a cell, if it can run with these settings; the error is a message for the author of the study.
    fn checked(self, settings: &Settings) -> Result<&'static dyn Delivery, String> {
        let delivery = self.find(&settings.delivery())?;
        delivery.check_world(settings.world())?;
        match delivery.check(settings) {
            Ok(()) => Ok(delivery),
            Err(Refusal::Settings(problem)) => Err(problem),
            Err(Refusal::Workload) => {
                let kind = settings.delivered().map_or("it", |workload| workload.content().kind());
                let name = delivery.name();
                Err(format!("delivery {name} does not carry {kind}; {}", self.routes()))
            }
        }
    }

    /// Which workloads go over which deliveries, in words.
    fn routes(self) -> String {
        let mut kinds: Vec<&str> = Vec::new();
        for delivery in self.all() {
            if !kinds.contains(&delivery.carries()) {
                kinds.push(delivery.carries());
            }
        }
        let routes = kinds.iter().enumerate().map(|(index, kind)| {
            let names = self.all().filter(|delivery| delivery.carries() == *kind);
            let verb = if index == 0 { "go over" } else { "over" };
            format!("{kind} {verb} {}", list(names.map(Delivery::name), "or"))
        });
        routes.collect::<Vec<_>>().join(", ")
    }

    /// Checks that every cell of a study can be run, and that some cell measures each figure that the study asks for, before any of them is
    /// run.
    ///
    /// # Errors
    /// The first cell that lacks a setting, or asks for something that does not exist, such as a transcript that cannot be opened; the
    /// figures that no cell measures.
    pub fn check(self, expanded: &Expanded<'_>) -> Result<(), StudyError> {
        let study = expanded.study;
        for cell in &expanded.cells {
            let in_cell = |problem| study.error(format!("{}: {problem}", cell.describe()));
            self.checked(&cell.settings).map_err(in_cell)?;
            if let Some(WorkloadSpec::Transcript(recorded)) = cell.settings.delivered().map(Named::content)
                && let Err(error) = File::open(&recorded.path)
            {
                let path = recorded.path.display();
                return Err(in_cell(format!(
                    "transcript {path}: {error}; its path is relative to the folder that lastmile is run in"
                )));
            }
        }
        self.check_figures(study, &expanded.cells)
    }

    /// Checks that some cell measures each figure that the study asks for.
    fn check_figures(self, study: &Study, cells: &[Cell]) -> Result<(), StudyError> {
        let mut measured: Vec<&'static Figure> = Vec::new();
        for cell in cells {
            let delivery = self.find(&cell.settings.delivery());
            let figures = delivery.map_or(&[][..], |delivery| delivery.figures(&cell.settings));
            if figures.is_empty() {
                return Ok(());
            }
            measured.extend(figures);
        }
        let asked = study.measure.figures.iter().map(|FigureName(figure)| *figure);
        let lacking: Vec<&str> = asked
            .filter(|figure| !measured.contains(figure))
            .map(|figure| figure.name)
            .collect();
        if cells.is_empty() || lacking.is_empty() {
            return Ok(());
        }
        let known = figure::ALL
            .iter()
            .filter(|figure| measured.contains(figure))
            .map(|figure| figure.name);
        let problem = format!(
            "no cell measures {}, which [measure] asks for; its cells measure {}",
            list(lacking.into_iter(), "or"),
            known.collect::<Vec<_>>().join(", ")
        );
        Err(study.error(problem))
    }

    /// Whether the study has cells in the emulated world that nothing else may run beside.
    pub fn run_alone(self, expanded: &Expanded<'_>) -> bool {
        let is_alone = |cell: &Cell| {
            let delivery = self.find(&cell.settings.delivery());
            cell.world() == World::Emulated && delivery.is_ok_and(|delivery| delivery.runs_alone(&cell.settings))
        };
        expanded.cells.iter().any(is_alone)
    }

    /// The virtual time that a repeat takes, which is about the time it takes in the emulated world.
    fn simulated_time(self, cell: &Cell) -> Duration {
        let mut likewise = cell.clone();
        (
            likewise.settings.world,
            likewise.settings.server,
            likewise.settings.generator,
        ) = (None, None, None);
        let context = RunContext {
            seed: Seed::new(0),
            repeats: 0..1,
            interval: Duration::ZERO,
            costs: &CostTable::free(),
            captures: None,
            observer: None,
        };
        let outcomes = self.run(&likewise, &context);
        let figures = outcomes.iter().flatten().flat_map(|observation| &observation.figures);
        let times = figures.filter(|(name, _)| {
            [figure::TRANSFER_TIME, figure::EXTRACT_TIME, figure::PAGE_TIME]
                .iter()
                .any(|time| time.name == *name)
        });
        let longest = times.flat_map(|(_, samples)| samples).copied().fold(0.0, f64::max);
        Duration::from_secs_f64(longest)
    }
}

impl fmt::Debug for Deliveries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all().map(Delivery::name)).finish()
    }
}

impl Experiment for Deliveries {
    fn run(&self, cell: &Cell, context: &RunContext<'_>) -> Vec<Outcome> {
        let ran = self
            .checked(&cell.settings)
            .map_err(Failure::new)
            .and_then(|delivery| delivery.run(cell, context));
        ran.unwrap_or_else(|failure| vec![Err(failure)])
    }

    fn expected_time(&self, cell: &Cell) -> Duration {
        match cell.world() {
            World::Simulated => self
                .checked(&cell.settings)
                .map_or(Duration::ZERO, |delivery| delivery.expected_time(&cell.settings)),
            World::Emulated => self
                .checked(&cell.settings)
                .ok()
                .and_then(|delivery| delivery.real_time(&cell.settings))
                .unwrap_or_else(|| self.simulated_time(cell)),
        }
    }
}

/// Quoted names as a list in a sentence: `"a", "b" and "c"`.
fn list<'a>(names: impl Iterator<Item = &'a str>, conjunction: &str) -> String {
    let names: Vec<String> = names.map(|name| format!("{name:?}")).collect();
    match names.split_last() {
        None => "none".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} {conjunction} {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests;
