//! Runs the cells of a study in parallel on all cores, and writes each outcome to the journal.
//!
//! A run ends when all cells are done or when it is interrupted. The [`Experiment`] decides what a cell does. Results do not depend on which core ran which cell, or when.

use crate::cell::{Cell, CellKey, Expanded, Seeds};
use crate::file::Fresh;
use crate::journal::{Journal, Outcomes};
use crate::observation::Outcome;
use crate::observer::Observer;
use lastmile_report::number::{counted, quantity};
use lastmile_testbed::cpu_cost_model::CostTable;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::journal::JournalError;
use lastmile_testbed::settings::World;
use lastmile_units::Seed;
use lastmile_units::workers::Workers;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What a cell does.
pub trait Experiment: Sync {
    /// Makes a new world for `cell`, runs the repeats of `context` in it one after another, and returns their outcomes in order. If a
    /// failure makes the remaining repeats impossible, the outcomes may end with it.
    fn run(&self, cell: &Cell, context: &RunContext<'_>) -> Vec<Outcome>;

    /// The approximate CPU time of one repeat of the cell, called once per cell, for `--dry-run`. The default of a fifth of a second is
    /// our own guess.
    fn expected_time(&self, cell: &Cell) -> Duration {
        let _ = cell;
        Duration::from_millis(200)
    }
}

impl<F: Fn(&Cell, &RunContext<'_>) -> Vec<Outcome> + Sync> Experiment for F {
    fn run(&self, cell: &Cell, context: &RunContext<'_>) -> Vec<Outcome> {
        self(cell, context)
    }
}

/// The parameters with which a cell is run.
#[derive(Clone)]
pub struct RunContext<'a> {
    /// The study's seed; see [`RunContext::seeds`].
    pub seed: Seed,
    /// The repeats to run, in one world.
    pub repeats: Range<u64>,
    /// Virtual idle time between them.
    pub interval: Duration,
    /// The CPU cost of operations.
    pub costs: &'a CostTable,
    /// The folder for captures, if they are wanted.
    pub captures: Option<&'a Path>,
    /// Who sees the run from inside.
    pub observer: Option<&'a dyn Observer>,
}

impl RunContext<'_> {
    /// The seeds of a repeat of `cell`.
    pub fn seeds(&self, cell: &Cell, repeat: u64) -> Seeds {
        cell.seeds(self.seed, repeat)
    }
}

/// The progress of a run.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Repeats done, including those of an earlier run that this one resumes.
    pub done: u64,
    /// Repeats in total.
    pub total: u64,
    /// The cell whose repeats were finished last.
    pub finished: &'a Cell,
}

/// How a run ended, unless it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// Every repeat has an outcome.
    Complete,
    /// It was interrupted; resuming runs what the journal lacks.
    Interrupted,
}

/// The journal of a run could not be written.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct RunError(#[from] JournalError);

/// One world to make: a cell, and the repeats to run in it.
#[derive(Debug)]
struct WorldJob {
    cell: Cell,
    key: CellKey,
    repeats: Range<u64>,
}

/// A study with everything that a run of it needs.
pub struct StudyRunner<'a> {
    pub expanded: &'a Expanded<'a>,
    /// What a cell does.
    pub experiment: &'a dyn Experiment,
    /// The CPU cost of operations.
    pub costs: &'a CostTable,
    /// The folder for captures, if they are wanted.
    pub captures: Option<&'a Path>,
    /// The number of cells that run at the same time.
    pub threads: NonZeroUsize,
    /// When another thread sets it, the run stops after the cells that are running.
    pub interrupt: &'a AtomicBool,
    /// Who sees the run from inside.
    pub observer: Option<&'a dyn Observer>,
}

impl StudyRunner<'_> {
    /// Runs what `outcomes` lacks, appending to `journal` and `outcomes`, and calling `progress` after each world.
    ///
    /// # Errors
    /// When the journal cannot be written. A cell that fails is not an error: it is recorded as failed.
    pub fn execute(
        &self,
        journal: &mut Journal,
        outcomes: &mut Outcomes,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<RunEnd, RunError> {
        let jobs = jobs(self.expanded);
        let total = count_repeats(&jobs);
        let lacking: Vec<_> = jobs.into_iter().filter(|job| !job.is_done(outcomes)).collect();
        let mut done = total
            - lacking
                .iter()
                .map(|job| job.repeats.end - job.repeats.start)
                .sum::<u64>();

        let workers = Workers {
            threads: self.threads,
            interrupt: self.interrupt,
        };
        // If the journal cannot be written, there is no point in going on.
        workers.for_each(&lacking, |job| self.outcomes_of(job), &mut |index, results| {
            let job = &lacking[index];
            for (repeat, outcome) in job.repeats.clone().zip(results) {
                journal.append(&job.key, repeat, &outcome)?;
                outcomes.entry(job.key.clone()).or_default().insert(repeat, outcome);
                done += 1;
            }
            progress(Progress {
                done,
                total,
                finished: &job.cell,
            });
            Ok::<_, JournalError>(())
        })?;
        Ok(if done == total {
            RunEnd::Complete
        } else {
            RunEnd::Interrupted
        })
    }

    /// One outcome per repeat, whatever the experiment does: a panic and a missing outcome are failures.
    fn outcomes_of(&self, job: &WorldJob) -> Vec<Outcome> {
        let study = self.expanded.study;
        let context = RunContext {
            seed: Seed::new(study.seed),
            repeats: job.repeats.clone(),
            interval: study.interval,
            costs: self.costs,
            captures: self.captures,
            observer: self.observer,
        };
        if let Some(observer) = self.observer {
            observer.begin(&job.cell);
        }
        // A broken invariant in one cell does not concern the others, whose results are kept; the panic has printed its location.
        let ran = catch_unwind(AssertUnwindSafe(|| self.experiment.run(&job.cell, &context)));
        let mut outcomes =
            ran.unwrap_or_else(|panic| vec![Err(Failure::new(format!("it panicked: {}", panic_message(&*panic))))]);
        for outcome in &mut outcomes {
            let Ok(observation) = outcome else { continue };
            if let Some(figure) = observation.figure_not_finite() {
                *outcome = Err(Failure::new(format!("the figure {figure:?} is not a finite number")));
            } else {
                // Before journal and record have them, so that a resumed run has the figures of one that was not stopped.
                observation.bound_samples();
            }
        }
        let wanted = (job.repeats.end - job.repeats.start) as usize;
        outcomes.resize_with(wanted, || {
            Err(Failure::new(
                "not run, since an earlier repeat in the same world failed",
            ))
        });
        if let Some(observer) = self.observer {
            observer.end(&job.cell, job.repeats.start, &mut outcomes);
        }
        outcomes
    }
}

impl WorldJob {
    fn is_done(&self, outcomes: &Outcomes) -> bool {
        let held = outcomes.get(&self.key);
        held.is_some_and(|held| self.repeats.clone().all(|repeat| held.contains_key(&repeat)))
    }
}

/// The message of a panic.
fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

/// The worlds that a study needs. Cells with the same settings in several parts run once, with the most repeats that any part asks for.
/// Simulated cells come first: they are soon done, and then leave the machine to those that run in real time.
fn jobs(expanded: &Expanded<'_>) -> Vec<WorldJob> {
    let mut works: Vec<(CellKey, Cell)> = Vec::new();
    for cell in expanded.cells.iter().cloned() {
        let key = cell.key();
        match works.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => known.repeats = known.repeats.max(cell.repeats),
            None => works.push((key, cell)),
        }
    }
    works.sort_by_key(|(_, cell)| cell.world() == World::Emulated);
    let mut jobs = Vec::new();
    for (key, cell) in works {
        let all = 0..cell.repeats.get();
        match expanded.study.fresh {
            Fresh::Cell => jobs.push(WorldJob {
                cell,
                key,
                repeats: all,
            }),
            Fresh::Repeat => {
                jobs.extend(all.map(|repeat| WorldJob {
                    cell: cell.clone(),
                    key: key.clone(),
                    repeats: repeat..repeat + 1,
                }));
            }
        }
    }
    jobs
}

/// How many repeats a run of the whole study has: those of cells that several parts share once, and of each part as many as it asks for.
pub fn planned_repeats(expanded: &Expanded<'_>) -> u64 {
    count_repeats(&jobs(expanded))
}

fn count_repeats(jobs: &[WorldJob]) -> u64 {
    jobs.iter().map(|job| job.repeats.end - job.repeats.start).sum()
}

/// The approximate time that a run of the whole study takes.
pub fn expected_time(expanded: &Expanded<'_>, experiment: &dyn Experiment, threads: NonZeroUsize) -> Duration {
    expected(&jobs(expanded), experiment, threads)
}

/// The time of all jobs divided by `threads`, but at least that of the longest job.
fn expected(jobs: &[WorldJob], experiment: &dyn Experiment, threads: NonZeroUsize) -> Duration {
    let mut of_cell: Duration = Duration::ZERO;
    let (mut busy, mut longest) = (Duration::ZERO, Duration::ZERO);
    for job in jobs {
        // The jobs of one cell are consecutive.
        if job.repeats.start == 0 {
            of_cell = experiment.expected_time(&job.cell);
        }
        let takes = of_cell * (job.repeats.end - job.repeats.start) as u32;
        busy += takes;
        longest = longest.max(takes);
    }
    (busy / threads.get() as u32).max(longest)
}

/// The most cells, and of more cells the most parts, that a dry run lists, unless it is asked for all: our own choice, for a screen.
const CELLS_LISTED_MAX: usize = 10;
const PARTS_LISTED_MAX: usize = 20;

/// What a run would do, as `--dry-run` prints it: one line per cell, or where these are many and not `all` wanted, per part; and the expected
/// time.
pub fn dry_run(expanded: &Expanded<'_>, experiment: &dyn Experiment, threads: NonZeroUsize, all: bool) -> String {
    let cells = &expanded.cells;
    let jobs = jobs(expanded);
    let expected = expected(&jobs, experiment, threads);
    let repeats = count_repeats(&jobs);
    let mut text: String = if all || cells.len() <= CELLS_LISTED_MAX {
        cells.iter().map(|cell| format!("{}\n", cell.describe())).collect()
    } else {
        let parts = || cells.chunk_by(|one, other| one.part == other.part);
        let line = |of: &[Cell]| {
            let part = of[0].part.as_deref().unwrap_or("in all");
            format!("{part}: {}\n", counted(of.len() as u64, "cell"))
        };
        let mut lines: String = parts().take(PARTS_LISTED_MAX).map(line).collect();
        match parts().count().saturating_sub(PARTS_LISTED_MAX) {
            0 => lines += "Each cell: --details\n",
            more => lines += &format!("{}, and each cell: --details\n", counted(more as u64, "more part")),
        }
        lines
    };
    text += &format!(
        "{} cells, {repeats} repeats in all, {threads} at once; about {}\n",
        cells.len(),
        quantity(expected.as_secs_f64(), "s")
    );
    text
}

#[cfg(test)]
mod tests;
