//! Measures the CPU time of a host's programs. All programs share a thread, so each is measured while it runs, and what the thread has
//! waited for a CPU is recorded before and after.

use super::cpu_watch::ThreadWaits;
use nix::time::{ClockId, clock_gettime};
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::time::Duration;

/// A sum of CPU time: of programs, and of the kernel's work for them. Clones share the sum.
#[derive(Clone)]
pub(super) struct Meter {
    sum: Rc<Cell<Duration>>,
    /// Of the thread that runs them.
    waits: Rc<RefCell<ThreadWaits>>,
}

impl Meter {
    pub(super) fn new(waits: Rc<RefCell<ThreadWaits>>) -> Self {
        Self {
            sum: Rc::default(),
            waits,
        }
    }

    /// The sum so far.
    pub(super) fn total(&self) -> Duration {
        self.sum.get()
    }

    /// `task`, with its CPU time added to this sum.
    pub(super) fn metering<F: Future<Output = ()>>(&self, task: F) -> impl Future<Output = ()> + use<F> {
        let (meter, mut task) = (self.clone(), Box::pin(task));
        poll_fn(move |context| {
            // A program measures times while it runs, so what it waited before must be known by then.
            meter.waits.borrow_mut().record();
            let before = of_this_thread();
            let polled = task.as_mut().poll(context);
            let worked = of_this_thread().saturating_sub(before);
            meter.sum.set(meter.total() + worked);
            meter.waits.borrow_mut().record();
            polled
        })
    }
}

/// The CPU time of the calling thread.
fn of_this_thread() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
