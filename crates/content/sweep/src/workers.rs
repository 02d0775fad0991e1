//! The worker threads of a sweep, which report its progress to the observer and stop when it breaks.

use super::{Interrupted, Observer};
use lastmile_units::workers::Workers;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};

/// The share of a whole sweep's progress that some tasks make up.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgressShare {
    /// Progress before these tasks: 0 to 1.
    pub(super) from: f64,
    /// Progress after them.
    pub(super) to: f64,
}

/// Worker threads and their observer.
pub(super) struct Pool<'a> {
    pub(super) threads: NonZeroUsize,
    pub(super) observer: &'a dyn Observer,
}

impl Pool<'_> {
    /// Does `work` on each task, in the order of the list; returns the results in the same order.
    pub(super) fn map<T: Sync, R: Send>(
        &self,
        tasks: &[T],
        share: ProgressShare,
        work: impl Fn(&T) -> R + Sync,
    ) -> Result<Vec<R>, Interrupted> {
        let stopped = AtomicBool::new(false);
        let workers = Workers {
            threads: self.threads,
            interrupt: &stopped,
        };
        workers.run(tasks, work, &mut |done| {
            let progress = share.from + done as f64 / tasks.len() as f64 * (share.to - share.from);
            if self.observer.progress(progress).is_break() {
                stopped.store(true, Ordering::Relaxed);
            }
        })
    }
}
