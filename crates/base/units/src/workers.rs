//! Worker threads for independent jobs. Results come in the order of the jobs, whichever thread did them.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// The work was interrupted before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the work was interrupted")]
pub struct Interrupted;

/// The worker threads, and the flag that interrupts them.
#[derive(Debug, Clone, Copy)]
pub struct Workers<'a> {
    /// The number of threads.
    pub threads: NonZeroUsize,
    /// Once it is set, the jobs that have begun are finished, and no other begins.
    pub interrupt: &'a AtomicBool,
}

impl Workers<'_> {
    /// Does `work` for every job, and reports the number of finished jobs to `on_done`, on the calling thread.
    ///
    /// # Errors
    /// When the work was interrupted and some job is not done.
    ///
    /// # Panics
    /// When `work` panics.
    pub fn run<J: Sync, R: Send>(
        &self,
        jobs: &[J],
        work: impl Fn(&J) -> R + Sync,
        on_done: &mut dyn FnMut(usize),
    ) -> Result<Vec<R>, Interrupted> {
        let mut results: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
        let mut done = 0;
        let received = self.for_each(jobs, work, &mut |index, result| {
            results[index] = Some(result);
            done += 1;
            on_done(done);
            Ok::<_, Infallible>(())
        });
        let Ok(()) = received;
        results.into_iter().collect::<Option<Vec<R>>>().ok_or(Interrupted)
    }

    /// Does `work` for the jobs in their order, until all are done or the work is interrupted. `receive` is given the index and the result
    /// of each as soon as it is done, on the calling thread; a thread begins its next job after that.
    ///
    /// # Errors
    /// When `receive` fails: the jobs that have begun are finished, and their results are dropped.
    ///
    /// # Panics
    /// When `work` panics.
    pub fn for_each<J: Sync, R: Send, E>(
        &self,
        jobs: &[J],
        work: impl Fn(&J) -> R + Sync,
        receive: &mut dyn FnMut(usize, R) -> Result<(), E>,
    ) -> Result<(), E> {
        let (assign, assignments) = mpsc::channel();
        let (finish, finished) = mpsc::channel();
        let assignments = Mutex::new(assignments);
        let thread = |finish: mpsc::Sender<_>| {
            // The calling thread hangs up when there is nothing left to begin.
            while let Ok(index) = next(&assignments) {
                let result = catch_unwind(AssertUnwindSafe(|| work(&jobs[index])));
                if finish.send((index, result)).is_err() {
                    return;
                }
            }
        };
        thread::scope(|scope| {
            // Moved here, so that the threads end however this closure ends.
            let assign = assign;
            let mut left = 0..jobs.len();
            let mut begin_next = || {
                let index = left.next().filter(|_| !self.interrupt.load(Ordering::Relaxed));
                // The receiver outlives the scope.
                index.is_some_and(|index| assign.send(index).is_ok())
            };
            let mut running = 0;
            for _ in 0..self.threads.get().min(jobs.len()) {
                let (finish, thread) = (finish.clone(), &thread);
                scope.spawn(move || thread(finish));
                running += usize::from(begin_next());
            }
            while running > 0 {
                let (index, result) = finished.recv().expect("this thread holds a sender");
                running -= 1;
                receive(index, result.unwrap_or_else(|panic| resume_unwind(panic)))?;
                running += usize::from(begin_next());
            }
            Ok(())
        })
    }
}

/// Waits for the next assignment.
fn next(assignments: &Mutex<mpsc::Receiver<usize>>) -> Result<usize, mpsc::RecvError> {
    assignments.lock().unwrap_or_else(PoisonError::into_inner).recv()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workers(threads: usize, interrupt: &AtomicBool) -> Workers<'_> {
        Workers {
            threads: NonZeroUsize::new(threads).unwrap(),
            interrupt,
        }
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let interrupt = AtomicBool::new(false);
        let jobs: Vec<u64> = (0..100).collect();
        let mut progress = Vec::new();
        let squares = workers(3, &interrupt)
            .run(&jobs, |job| job * job, &mut |done| progress.push(done))
            .unwrap();
        assert_eq!(squares, jobs.iter().map(|job| job * job).collect::<Vec<_>>());
        assert_eq!(progress, (1..=100).collect::<Vec<_>>());
        assert_eq!(workers(3, &interrupt).run(&[], |(): &()| (), &mut |_| {}), Ok(vec![]));
    }

    #[test]
    fn an_interrupt_leaves_the_rest_undone() {
        let interrupt = AtomicBool::new(false);
        let stop_at_third = |job: &u32| {
            interrupt.store(*job == 2, Ordering::Relaxed);
            *job
        };
        let mut last = 0;
        let jobs = [0, 1, 2, 3, 4];
        let interrupted = workers(1, &interrupt).run(&jobs, stop_at_third, &mut |done| last = done);
        assert_eq!((interrupted, last), (Err(Interrupted), 3));
        let begun = workers(2, &interrupt).run(&jobs, |job| *job, &mut |_| {});
        assert_eq!(begun, Err(Interrupted), "interrupted before the first job");
    }

    #[test]
    fn the_receiver_of_a_result_can_interrupt_before_the_next_job_begins() {
        let interrupt = AtomicBool::new(false);
        let mut done = Vec::new();
        let stop_at_second = &mut |index, ()| {
            done.push(index);
            interrupt.store(index == 1, Ordering::Relaxed);
            Ok::<_, Infallible>(())
        };
        let ended = workers(1, &interrupt).for_each(&[(); 9], |()| (), stop_at_second);
        assert_eq!((ended, done), (Ok(()), vec![0, 1]));
    }

    #[test]
    fn a_failing_receiver_ends_the_work_with_its_error() {
        let interrupt = AtomicBool::new(false);
        let jobs: Vec<u32> = (0..50).collect();
        let refuse = &mut |_, job| if job < 7 { Ok(()) } else { Err("full") };
        assert_eq!(workers(4, &interrupt).for_each(&jobs, |job| *job, refuse), Err("full"));
    }

    #[test]
    fn a_panic_in_a_job_is_the_callers() {
        let interrupt = AtomicBool::new(false);
        let work = |job: &u32| assert_ne!(*job, 5, "the sixth job");
        let ran = catch_unwind(AssertUnwindSafe(|| {
            workers(3, &interrupt).run(&(0..50).collect::<Vec<u32>>(), work, &mut |_| {})
        }));
        let panic = ran.unwrap_err();
        assert!(panic.downcast_ref::<String>().unwrap().contains("the sixth job"));
    }
}
