//! How long have cores worked for a host's programs? All programs share a thread, so each is metered while it runs.

use nix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

/// A sum of CPU time: of the programs, and of the kernel as far as it works in their name. Clones are the same sum.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter(Rc<Cell<Duration>>);

impl Meter {
    /// The sum so far.
    pub(super) fn total(&self) -> Duration {
        self.0.get()
    }

    /// `task`, its CPU time added up here.
    pub(super) fn metering<F: Future<Output = ()>>(&self, task: F) -> Metered<F> {
        Metered {
            meter: self.clone(),
            task: Box::pin(task),
        }
    }
}

/// A task that is metered.
pub(super) struct Metered<F> {
    meter: Meter,
    task: Pin<Box<F>>,
}

impl<F: Future<Output = ()>> Future for Metered<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let before = of_this_thread();
        let polled = self.task.as_mut().poll(context);
        let worked = of_this_thread().saturating_sub(before);
        self.meter.0.set(self.meter.total() + worked);
        polled
    }
}

/// The CPU time of the calling thread.
fn of_this_thread() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
