//! What is done in a cell? The programs of both worlds: a server and a client on either side of the cell's link.
//!
//! A `plan::Task` says what a cell's settings ask for; a `site` is the world they describe; each delivery has a program;
//! `capture` names what is kept of what passed. `compression` needs no world.
//! Reading studies, repeating and summing up are others' business.

mod bulk;
mod capture;
mod compression;
mod computing;
mod objects;
mod plan;
mod request_response;
mod served;
mod websocket;

use crate::cell::{Cell, expand};
use crate::cost::CostTable;
use crate::figure;
use crate::file::{Study, StudyError};
use crate::observation::{Failure, Outcome};
use crate::runner::{Experiment, RunContext};
use crate::settings::{Named, ServerName, World};
use crate::site::{Laboratory, Site};
use lastmile_payload::workload::WorkloadSpec;
use lastmile_units::Seed;
use plan::{Delivered, Plan, Task};
use std::fs::File;
use std::rc::Rc;
use std::time::Duration;
use websocket::Arranged;

/// The programs that deliver what a cell's settings ask for, in the world that they name.
#[derive(Debug, Clone, Copy, Default)]
pub struct Programs;

impl Programs {
    /// Whether every cell of a study can be run; said before an hour is spent on those that can.
    ///
    /// # Errors
    /// The first cell that lacks a setting or asks for what there is not, a transcript that cannot be opened included.
    pub fn check(&self, study: &Study) -> Result<(), StudyError> {
        for cell in expand(study)? {
            let in_cell = |problem| {
                StudyError::new(
                    &format!("study {:?}", study.name),
                    format!("{}: {problem}", cell.describe()),
                )
            };
            Task::of(&cell.settings).map_err(in_cell)?;
            if let Some(WorkloadSpec::Transcript(recorded)) = cell.settings.delivered().map(Named::content)
                && let Err(error) = File::open(&recorded.path)
            {
                let path = recorded.path.display();
                return Err(in_cell(format!(
                    "transcript {path}: {error}; its path is from the folder that lastmile is run in"
                )));
            }
        }
        Ok(())
    }
}

/// A server that a study asks for and that cannot be had here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingServer {
    /// Which.
    pub server: ServerName,
    /// What is missing of it, and the remedy.
    pub why: String,
}

impl Programs {
    /// The real servers that a study asks for and that this machine has not.
    ///
    /// # Errors
    /// When the study's cells cannot be told apart.
    pub fn missing_servers(&self, study: &Study) -> Result<Vec<MissingServer>, StudyError> {
        let mut missing: Vec<MissingServer> = Vec::new();
        for server in expand(study)?.into_iter().filter_map(|cell| cell.settings.server) {
            if !missing.iter().any(|known| known.server == server)
                && let Err(why) = served::is_there(&server)
            {
                missing.push(MissingServer { server, why });
            }
        }
        Ok(missing)
    }
}

impl Experiment for Programs {
    fn run(&self, cell: &Cell, context: &RunContext<'_>) -> Vec<Outcome> {
        let ran = Task::of(&cell.settings)
            .map_err(Failure::new)
            .and_then(|task| match (task, cell.world()) {
                (Task::Code(messages), _) => compression::run(&messages, cell, context),
                (Task::Deliver(plan), World::Simulated) => deliver::<lastmile_world::sim::World>(&plan, cell, context),
                #[cfg(target_os = "linux")]
                (Task::Deliver(plan), World::Emulated) => deliver::<lastmile_world::emu::World>(&plan, cell, context),
                #[cfg(not(target_os = "linux"))]
                (Task::Deliver(_), World::Emulated) => unreachable!("a plan for another world is refused"),
            });
        ran.unwrap_or_else(|failure| vec![Err(failure)])
    }

    fn expected_time(&self, cell: &Cell) -> Duration {
        match cell.world() {
            World::Simulated => Task::of(&cell.settings).map_or(Duration::ZERO, |task| task.expected_time()),
            World::Emulated => simulated_time(cell),
        }
    }
}

/// What a repeat takes in virtual time, which is about what it takes in real time.
fn simulated_time(cell: &Cell) -> Duration {
    let mut likewise = cell.clone();
    (likewise.settings.world, likewise.settings.server) = (None, None);
    let context = RunContext {
        seed: Seed::new(0),
        repeats: 0..1,
        interval: Duration::ZERO,
        costs: &CostTable::free(),
        captures: None,
    };
    let outcomes = Programs.run(&likewise, &context);
    let figures = outcomes.iter().flatten().flat_map(|observation| &observation.figures);
    let times =
        figures.filter(|(name, _)| [figure::TRANSFER_TIME.name, figure::EXTRACT_TIME.name].contains(&name.as_str()));
    let longest = times.flat_map(|(_, samples)| samples).copied().fold(0.0, f64::max);
    Duration::from_secs_f64(longest)
}

/// Delivers once on a site; the seed is for what computing costs.
type Program<'a, W> = dyn Fn(&Site<W>, Seed) -> Outcome + 'a;

/// Runs the repeats of a cell in one new world, up to the first that fails.
fn deliver<W: Laboratory>(plan: &Plan, cell: &Cell, context: &RunContext<'_>) -> Result<Vec<Outcome>, Failure> {
    // Repeats in one world share what is delivered, as the runs of one test do; a fresh world has contents of its own.
    let seeds = context.seeds(cell, context.repeats.start);
    let mut site = Site::<W>::build(&plan.site, seeds.link)?;
    if let Some(folder) = context.captures {
        site.capture(folder, &capture::name(cell, &context.repeats))?;
    }
    // Where programs really compute, that takes its time by itself.
    let costs = Rc::new(if W::IS_EXACT {
        context.costs.clone()
    } else {
        CostTable::free()
    });
    // What is delivered is made once, and delivered in every repeat.
    let program: Box<Program<'_, W>> = match &plan.delivered {
        Delivered::Bytes(bytes) => Box::new(|site, _| bulk::run(site, *bytes)),
        Delivered::Exchanges(exchanges) => Box::new(|site, _| request_response::run(site, exchanges)),
        Delivered::Objects(objects) => {
            let stream = objects
                .workload
                .generate(seeds.workload)
                .map_err(|error| Failure::new(error.to_string()))?;
            let served = objects::serve(&site, objects, &stream)?;
            Box::new(move |site, compute| objects::run(site, objects, stream.clone(), &served, &costs, compute))
        }
        Delivered::Messages(asked) => {
            let arranged = Arranged::of(asked, seeds.workload)?;
            let served = websocket::serve(&site, asked, &arranged)?;
            let is_anew = context.repeats.end - context.repeats.start == 1 && !asked.is_recorded();
            Box::new(move |site, compute| {
                let mut observation = websocket::run(site, asked, &arranged, &served, &costs, compute)?;
                if is_anew {
                    observation.vary("content");
                }
                Ok(observation)
            })
        }
    };
    let mut outcomes = Vec::new();
    for repeat in context.repeats.clone() {
        if repeat > context.repeats.start {
            site.idle(context.interval);
        }
        let outcome = program(&site, context.seeds(cell, repeat).compute).and_then(|mut observation| {
            site.note_chance(&mut observation);
            observation.doubts.extend(site.doubts());
            site.flush_captures().map(|()| observation)
        });
        let failed = outcome.is_err();
        outcomes.push(outcome);
        if failed {
            break;
        }
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests;
