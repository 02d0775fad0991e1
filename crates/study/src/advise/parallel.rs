//! How is independent work spread over threads? Results come in the order of the jobs, whoever did them.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Someone asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interrupted;

/// How work is done.
pub(crate) struct Workers<'a> {
    pub(crate) threads: NonZeroUsize,
    pub(crate) interrupt: &'a AtomicBool,
}

impl Workers<'_> {
    /// Does `work` for every job, telling `on_done` how many are done.
    pub(crate) fn run<J: Sync, R: Send>(
        &self,
        jobs: &[J],
        work: impl Fn(&J) -> R + Sync,
        on_done: &mut dyn FnMut(usize),
    ) -> Result<Vec<R>, Interrupted> {
        let next = AtomicUsize::new(0);
        let (tell, told) = mpsc::channel();
        let mut results: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
        std::thread::scope(|scope| {
            for _ in 0..self.threads.get().min(jobs.len()) {
                let tell = tell.clone();
                scope.spawn(|| {
                    let tell = tell;
                    while !self.interrupt.load(Ordering::Relaxed) {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(job) = jobs.get(place) else { return };
                        // Fails only where the receiver is gone, that is, where another thread has panicked.
                        if tell.send((place, work(job))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(tell);
            for (done, (place, result)) in told.iter().enumerate() {
                results[place] = Some(result);
                on_done(done + 1);
            }
        });
        results.into_iter().collect::<Option<Vec<R>>>().ok_or(Interrupted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let interrupt = AtomicBool::new(false);
        let workers = Workers {
            threads: NonZeroUsize::new(3).unwrap(),
            interrupt: &interrupt,
        };
        let jobs: Vec<u64> = (0..100).collect();
        let mut told = Vec::new();
        let squares = workers
            .run(&jobs, |job| job * job, &mut |done| told.push(done))
            .unwrap();
        assert_eq!(squares, jobs.iter().map(|job| job * job).collect::<Vec<_>>());
        assert_eq!(told, (1..=100).collect::<Vec<_>>());
    }

    #[test]
    fn an_interrupt_leaves_the_rest_undone() {
        let interrupt = AtomicBool::new(false);
        let workers = Workers {
            threads: NonZeroUsize::MIN,
            interrupt: &interrupt,
        };
        let stop_at_third = |job: &u32| {
            interrupt.store(*job == 2, Ordering::Relaxed);
            *job
        };
        let mut last = 0;
        assert_eq!(
            workers.run(&[0, 1, 2, 3, 4], stop_at_third, &mut |done| last = done),
            Err(Interrupted)
        );
        assert_eq!(last, 3);
    }
}
