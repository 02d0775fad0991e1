//! The interface of a medium, which carries frames.
//!
//! Its driver keeps the time; the medium accepts frames with times, and reports what happens when.

use crate::{Counters, DropCause, Event, Frame};
use lastmile_units::Instant;

/// Anything that carries frames: one direction of a wire, or a shared radio.
///
/// # Order of calls
///
/// - The `now` of [`offer`](Medium::offer) and [`poll`](Medium::poll) never decreases from one call to the next; both
///   panic where it does.
/// - [`next_at`](Medium::next_at) may change with every call of the other two; ask again after each.
/// - Poll at every `next_at` and each event is reported at its own instant. Poll later, and it is reported late with
///   its true time: nothing that happens *to a frame* depends on how often the medium is polled.
/// - It is not necessary to poll before an offer at the same instant: an offer sees the queue as it is at `now`.
/// - Frames offered at one instant are served in the order of the calls.
pub trait Medium<P> {
    /// Offers a frame at `now`.
    ///
    /// # Errors
    /// Returns the frame where the medium drops it at once, because its queue has no room. No [`Event`] reports it
    /// again. A frame that is lost later is reported by [`Event::Dropped`].
    fn offer(&mut self, now: Instant, frame: Frame<P>) -> Result<(), Rejected<P>>;

    /// When [`poll`](Medium::poll) has something to do next; none while the medium is empty. It is never before the
    /// last `now`, so it can always be polled at.
    fn next_at(&self) -> Option<Instant>;

    /// Reports everything that happened up to and including `now`, in order of time.
    fn poll(&mut self, now: Instant, on_event: &mut dyn FnMut(Event<P>));

    /// What happened to the frames offered so far, as reported by [`offer`](Medium::offer) and [`poll`](Medium::poll).
    fn counters(&self) -> Counters;

    /// The most frames that have waited at once in one queue of the medium, besides the one in service.
    fn longest_queue(&self) -> u64;

    /// The frames that waited in its queues, besides those in service, when it was last driven.
    fn queue_length(&self) -> u64;
}

/// A frame that was dropped as it was offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected<P> {
    /// The frame, unchanged.
    pub frame: Frame<P>,
    /// Why it was rejected.
    pub cause: DropCause,
}
