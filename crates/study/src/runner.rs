//! How are the cells of a study run? Side by side on all cores, each outcome journalled as it comes, until all are done or someone
//! asks to stop.
//!
//! What a cell does is the [`Experiment`]'s business. Results do not depend on which core ran what, or when.

use crate::cell::{Cell, CellKey, Seeds, expand};
use crate::cost::CostTable;
use crate::file::{Fresh, Study, StudyError};
use crate::journal::{Journal, JournalError, Outcomes};
use crate::observation::{Failure, Outcome};
use crate::settings::World;
use lastmile_report::number::quantity;
use lastmile_units::Seed;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// What is done in a cell.
pub trait Experiment: Sync {
    /// Makes a new world for `cell`, runs the repeats of `context` in it one after another, and tells what became of each, in
    /// order. Where a failure makes the rest impossible, the outcomes may end with it.
    fn run(&self, cell: &Cell, context: &RunContext<'_>) -> Vec<Outcome>;

    /// About how long one repeat of the cell keeps a core busy, asked once a cell: for `--dry-run`. A fifth of a second, where
    /// nothing better is known, is our own guess.
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

/// What a cell is run with.
#[derive(Debug, Clone)]
pub struct RunContext<'a> {
    /// The study's seed; see [`RunContext::seeds`].
    pub seed: Seed,
    /// The repeats to run, in one world.
    pub repeats: Range<u64>,
    /// Virtual idle time between them.
    pub interval: Duration,
    /// What computing costs.
    pub costs: &'a CostTable,
    /// Where captures go, where they are wanted.
    pub captures: Option<&'a Path>,
}

impl RunContext<'_> {
    /// The seeds of a repeat of `cell`.
    pub fn seeds(&self, cell: &Cell, repeat: u64) -> Seeds {
        cell.seeds(self.seed, repeat)
    }
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Repeats done, those that an earlier run had done included.
    pub done: u64,
    /// Repeats asked for.
    pub total: u64,
    /// The cell whose repeats were done last.
    pub finished: &'a Cell,
}

/// How a run ended, unless it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every repeat has an outcome.
    Complete,
    /// It was asked to stop; what is not in the journal can be run by resuming.
    Interrupted,
}

/// Why a study could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its cells cannot be told apart.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// Its journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// One world to be made: a cell's work, and the repeats to run in it.
#[derive(Debug)]
struct Job {
    cell: Cell,
    key: CellKey,
    repeats: Range<u64>,
}

/// Everything besides the study that a run needs.
pub struct Run<'a> {
    /// The study.
    pub study: &'a Study,
    /// What is done in a cell.
    pub experiment: &'a dyn Experiment,
    /// What computing costs.
    pub costs: &'a CostTable,
    /// Where captures go, where they are wanted.
    pub captures: Option<&'a Path>,
    /// How many cells run at once.
    pub threads: NonZeroUsize,
    /// Set by someone else, stops the run after the cells that are being run.
    pub interrupt: &'a AtomicBool,
}

impl Run<'_> {
    /// Runs what `outcomes` lacks, appending to `journal` and `outcomes`, and calling `progress` after each world.
    ///
    /// # Errors
    /// When the study asks for a world that is not there or its cells cannot be told apart, or the journal cannot be written.
    /// A cell that fails is no error: it is recorded as failed.
    pub fn execute(
        &self,
        journal: &mut Journal,
        outcomes: &mut Outcomes,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Ending, RunError> {
        let jobs = jobs(self.study)?;
        let total = jobs.iter().map(|job| job.repeats.end - job.repeats.start).sum();
        let lacking: Vec<_> = jobs.into_iter().filter(|job| !job.is_done(outcomes)).collect();
        let mut done = total
            - lacking
                .iter()
                .map(|job| job.repeats.end - job.repeats.start)
                .sum::<u64>();

        let next = AtomicUsize::new(0);
        let (finished, arrivals) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..self.threads.get().min(lacking.len()) {
                let finished = finished.clone();
                scope.spawn(|| {
                    let finished = finished;
                    while !self.interrupt.load(Ordering::Relaxed)
                        && let Some(job) = lacking.get(next.fetch_add(1, Ordering::Relaxed))
                        // Whoever listens has left where the journal cannot be written: then there is no use in going on.
                        && finished.send((job, self.outcomes_of(job))).is_ok()
                    {}
                });
            }
            drop(finished);
            for (job, results) in arrivals {
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
            }
            Ok(if done == total {
                Ending::Complete
            } else {
                Ending::Interrupted
            })
        })
    }

    /// One outcome a repeat, whatever the experiment does: a panic and an outcome that is missing are failures.
    fn outcomes_of(&self, job: &Job) -> Vec<Outcome> {
        let context = RunContext {
            seed: Seed::new(self.study.seed),
            repeats: job.repeats.clone(),
            interval: self.study.interval,
            costs: self.costs,
            captures: self.captures,
        };
        // A broken invariant in one cell says nothing of the others, whose results are kept; the panic has printed its place.
        let ran = catch_unwind(AssertUnwindSafe(|| self.experiment.run(&job.cell, &context)));
        let mut outcomes =
            ran.unwrap_or_else(|panic| vec![Err(Failure::new(format!("it panicked: {}", said(&*panic))))]);
        for outcome in &mut outcomes {
            if let Ok(observation) = outcome
                && let Some(figure) = observation.figure_not_finite()
            {
                *outcome = Err(Failure::new(format!(
                    "the figure {figure:?} came out as no finite number"
                )));
            }
        }
        let wanted = (job.repeats.end - job.repeats.start) as usize;
        outcomes.resize_with(wanted, || {
            Err(Failure::new(
                "not run, since an earlier repeat in the same world failed",
            ))
        });
        outcomes
    }
}

impl Job {
    fn is_done(&self, outcomes: &Outcomes) -> bool {
        let held = outcomes.get(&self.key);
        held.is_some_and(|held| self.repeats.clone().all(|repeat| held.contains_key(&repeat)))
    }
}

/// What a panic said.
fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

/// The worlds that a study needs, each work once however many parts ask for it, and as often as any of them asks. What is
/// simulated comes first: it is soon done, and then leaves the machine to what runs in real time.
fn jobs(study: &Study) -> Result<Vec<Job>, StudyError> {
    let mut works: Vec<(CellKey, Cell)> = Vec::new();
    for cell in expand(study)? {
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
        match study.fresh {
            Fresh::Cell => jobs.push(Job {
                cell,
                key,
                repeats: all,
            }),
            Fresh::Repeat => {
                jobs.extend(all.map(|repeat| Job {
                    cell: cell.clone(),
                    key: key.clone(),
                    repeats: repeat..repeat + 1,
                }));
            }
        }
    }
    Ok(jobs)
}

/// About how long a run of the whole study takes.
///
/// # Errors
/// When the study's cells cannot be told apart.
pub fn expected_time(
    study: &Study,
    experiment: &dyn Experiment,
    threads: NonZeroUsize,
) -> Result<Duration, StudyError> {
    Ok(expected(&jobs(study)?, experiment, threads))
}

/// The work of all jobs, shared by `threads`; but no less than the longest of them.
fn expected(jobs: &[Job], experiment: &dyn Experiment, threads: NonZeroUsize) -> Duration {
    let mut of_cell: Duration = Duration::ZERO;
    let (mut busy, mut longest) = (Duration::ZERO, Duration::ZERO);
    for job in jobs {
        // The jobs of one cell follow each other.
        if job.repeats.start == 0 {
            of_cell = experiment.expected_time(&job.cell);
        }
        let takes = of_cell * (job.repeats.end - job.repeats.start) as u32;
        busy += takes;
        longest = longest.max(takes);
    }
    (busy / threads.get() as u32).max(longest)
}

/// What a run would do, as `--dry-run` prints it: one line a cell, and the expected time.
///
/// # Errors
/// When the study's cells cannot be told apart.
pub fn dry_run(study: &Study, experiment: &dyn Experiment, threads: NonZeroUsize) -> Result<String, StudyError> {
    let cells = expand(study)?;
    let jobs = jobs(study)?;
    let expected = expected(&jobs, experiment, threads);
    let repeats: u64 = jobs.iter().map(|job| job.repeats.end - job.repeats.start).sum();
    let mut text: String = cells.iter().map(|cell| format!("{}\n", cell.describe())).collect();
    text += &format!(
        "{} cells, {repeats} repeats in all, {} worlds, {threads} at once; about {}\n",
        cells.len(),
        jobs.len(),
        quantity(expected.as_secs_f64(), "s")
    );
    Ok(text)
}

#[cfg(test)]
mod tests;
