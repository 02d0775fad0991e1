//! The worker threads of a sweep, which report its progress to the observer and stop when it breaks.

use super::{Interrupted, Observer};
use lastmile_units::workers::Workers;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Part `number` of `count` equal parts of a share of the progress, from 0 to 1.
pub(super) fn share_of_part(share: &Range<f64>, number: usize, count: usize) -> Range<f64> {
    let step = (share.end - share.start) / count.max(1) as f64;
    let from = share.start + step * number as f64;
    from..from + step
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
        share: Range<f64>,
        work: impl Fn(&T) -> R + Sync,
    ) -> Result<Vec<R>, Interrupted> {
        let stopped = AtomicBool::new(false);
        let workers = Workers {
            threads: self.threads,
            interrupt: &stopped,
        };
        workers.run(tasks, work, &mut |done| {
            let progress = share.start + done as f64 / tasks.len() as f64 * (share.end - share.start);
            if self.observer.progress(progress).is_break() {
                stopped.store(true, Ordering::Relaxed);
            }
        })
    }
}
