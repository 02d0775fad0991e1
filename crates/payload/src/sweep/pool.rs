//! Who works on what? A few threads, each taking the next task of a list until there is none or an observer asks for a break.

use super::{Interrupted, Observer};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Which share of a whole sweep's progress some tasks are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// What was done before: 0 to 1.
    pub(super) from: f64,
    /// What is done after.
    pub(super) to: f64,
}

/// Threads, and who is told.
pub(super) struct Pool<'a> {
    pub(super) threads: NonZeroUsize,
    pub(super) observer: &'a dyn Observer,
}

impl Pool<'_> {
    /// Does `work` on each task, those first in the list begun first; returns the results in the order of the tasks.
    pub(super) fn map<T: Sync, R: Send>(
        &self,
        tasks: &[T],
        share: Share,
        work: impl Fn(&T) -> R + Sync,
    ) -> Result<Vec<R>, Interrupted> {
        let (next, done, stopped) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        let run = || {
            let mut results = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(task) = tasks.get(place) else { break };
                results.push((place, work(task)));
                let done = (done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / tasks.len() as f64;
                let progress = share.from + done * (share.to - share.from);
                if self.observer.progress(progress).is_break() {
                    stopped.store(true, Ordering::Relaxed);
                }
            }
            results
        };
        let mut results = thread::scope(|scope| {
            let others: Vec<_> = (1..self.threads.get().min(tasks.len()))
                .map(|_| scope.spawn(run))
                .collect();
            let mut results = run();
            for other in others {
                match other.join() {
                    Ok(more) => results.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            results
        });
        if results.len() < tasks.len() {
            return Err(Interrupted);
        }
        results.sort_by_key(|(place, _)| *place);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }
}
