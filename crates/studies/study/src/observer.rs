//! What is told of a run while it goes on, for a live view.

use crate::cell::Cell;
use crate::observation::Outcome;
use lastmile_testbed::testbed::TestbedObserver;

/// Sees a run from inside. Threads that run cells call it.
pub trait Observer: Sync {
    /// Repeats of a cell begin on this thread, in one world.
    fn begin(&self, cell: &Cell);

    /// Who sees the world of those repeats from inside, if anybody does.
    fn observer_of_world(&self, cell: &Cell) -> Option<Box<dyn TestbedObserver>>;

    /// They have ended, with an outcome for each from the number `first` on. Where observing may have moved figures, the observer adds a doubt
    /// ([`crate::doubt::observed`]).
    fn end(&self, cell: &Cell, first: u64, outcomes: &mut [Outcome]);
}
