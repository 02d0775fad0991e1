//! How is a medium driven? By whoever keeps the time: a medium is told what is offered and when, and says what happens
//! and when.

use crate::{DropCause, Event, Frame};
use lastmile_units::Instant;

/// Anything that carries frames: one direction of a wire, or a shared radio.
///
/// # Order of calls
///
/// - The `now` of [`offer`](Medium::offer) and [`poll`](Medium::poll) never decreases from one call to the next; both
///   panic where it does.
/// - [`next_at`](Medium::next_at) may change with every call of the two others; ask again after each.
/// - Poll at every `next_at` and each event is reported at its own instant. Poll later, and it is reported late with
///   its true time: nothing that happens *to a frame* depends on how often the medium is polled.
/// - It is not necessary to poll before an offer at the same instant: an offer sees the queue as it is at `now`.
/// - Frames offered at one instant are served in the order of the calls.
pub trait Medium<P> {
    /// Hands a frame over at `now`.
    ///
    /// # Errors
    /// The frame comes back where the medium drops it at once, which is when there is no room in its queue. No
    /// [`Event`] tells of it again. A frame that is lost later is told of by [`Event::Dropped`].
    fn offer(&mut self, now: Instant, frame: Frame<P>) -> Result<(), Rejected<P>>;

    /// When [`poll`](Medium::poll) has something to do next; none while the medium is empty. It is never before the
    /// last `now` that was given, so it can always be polled at.
    fn next_at(&self) -> Option<Instant>;

    /// Tells of everything that happened up to and including `now`, in the order of time.
    fn poll(&mut self, now: Instant, on_event: &mut dyn FnMut(Event<P>));
}

/// A frame that was dropped as it was offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected<P> {
    /// The frame, unharmed.
    pub frame: Frame<P>,
    /// Why it was not taken.
    pub cause: DropCause,
}
