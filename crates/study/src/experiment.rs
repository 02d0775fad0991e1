//! What is done in a cell? The programs of the simulated world: a server and a client on either side of the cell's link.
//!
//! A `plan::Plan` says what a cell's settings ask for; `site` builds the world they describe; each delivery has a program;
//! `capture` keeps what passed, where that is asked for.
//! Reading studies, repeating and summing up are others' business.

mod bulk;
mod capture;
mod computing;
mod objects;
mod plan;
mod site;

use crate::cell::{Cell, expand};
use crate::file::{Study, StudyError};
use crate::observation::{Failure, Outcome};
use crate::runner::{Experiment, RunContext};
use lastmile_units::Seed;
use plan::{Delivered, Plan};
use site::Site;
use std::rc::Rc;
use std::time::Duration;

/// The simulated world's experiment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Simulated;

impl Simulated {
    /// Whether every cell of a study can be run; said before an hour is spent on those that can.
    ///
    /// # Errors
    /// The first cell that lacks a setting or asks for what there is not.
    pub fn check(&self, study: &Study) -> Result<(), StudyError> {
        for cell in expand(study)? {
            let in_cell = |problem| {
                StudyError::new(
                    &format!("study {:?}", study.name),
                    format!("{}: {problem}", cell.describe()),
                )
            };
            Plan::of(&cell.settings).map_err(in_cell)?;
        }
        Ok(())
    }
}

/// Delivers once on a site; the seed is for what computing costs.
type Program<'a> = dyn Fn(&Site, Seed) -> Outcome + 'a;

impl Experiment for Simulated {
    fn run(&self, cell: &Cell, context: &RunContext<'_>) -> Vec<Outcome> {
        let plan = match Plan::of(&cell.settings) {
            Ok(plan) => plan,
            Err(problem) => return vec![Err(Failure::new(problem))],
        };
        // Repeats in one world share what is delivered, as the runs of one test do; a fresh world has contents of its own.
        let seeds = context.seeds(cell, context.repeats.start);
        let mut site = Site::build(&plan, seeds.link);
        if let Some(folder) = context.captures
            && let Err(failure) = site.capture(folder, &capture::name(cell, &context.repeats))
        {
            return vec![Err(failure)];
        }
        let costs = Rc::new(context.costs.clone());
        // What is delivered is made once, and delivered in every repeat.
        let deliver: Box<Program<'_>> = match &plan.delivered {
            Delivered::Bytes(bytes) => Box::new(|site, _| bulk::run(site, *bytes)),
            Delivered::Objects(objects) => match objects.workload.generate(seeds.workload) {
                Ok(stream) => {
                    Box::new(move |site, compute| objects::run(site, objects, stream.clone(), &costs, compute))
                }
                Err(error) => return vec![Err(Failure::new(error.to_string()))],
            },
        };
        let mut outcomes = Vec::new();
        for repeat in context.repeats.clone() {
            if repeat > context.repeats.start {
                site.idle(context.interval);
            }
            let outcome = deliver(&site, context.seeds(cell, repeat).compute);
            let outcome = outcome.and_then(|mut observation| {
                site.note_link_chance(&mut observation);
                site.flush_captures().map(|()| observation)
            });
            let failed = outcome.is_err();
            outcomes.push(outcome);
            if failed {
                break;
            }
        }
        outcomes
    }

    fn expected_time(&self, cell: &Cell) -> Duration {
        Plan::of(&cell.settings).map_or(Duration::ZERO, |plan| plan.delivered.expected_time())
    }
}

#[cfg(test)]
mod tests;
