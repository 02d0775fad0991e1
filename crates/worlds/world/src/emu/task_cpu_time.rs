//! Measures the CPU time of a host's programs. All programs share a thread, so each is measured while it runs, and what the thread has
//! waited for a CPU is recorded before and after.

use super::cpu_watch::{SharedWatch, ThreadWaits};
use nix::time::{ClockId, clock_gettime};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
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

    /// What watches over that thread.
    pub(super) fn watch(&self) -> SharedWatch {
        self.waits.borrow().watch().clone()
    }

    /// `task`, with its CPU time added to this sum.
    pub(super) fn metering<F: Future<Output = ()>>(&self, task: F) -> MeteredTask<F> {
        MeteredTask {
            meter: self.clone(),
            task: Box::pin(task),
        }
    }
}

/// A task whose CPU time is measured.
pub(super) struct MeteredTask<F> {
    meter: Meter,
    task: Pin<Box<F>>,
}

impl<F: Future<Output = ()>> Future for MeteredTask<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // A program measures times while it runs, so what it waited before must be known by then.
        self.meter.waits.borrow_mut().record();
        let before = of_this_thread();
        let polled = self.task.as_mut().poll(context);
        let worked = of_this_thread().saturating_sub(before);
        self.meter.sum.set(self.meter.total() + worked);
        self.meter.waits.borrow_mut().record();
        polled
    }
}

/// The CPU time of the calling thread.
fn of_this_thread() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
