//! How long does coding keep a processor busy, where computing is simulated?
//!
//! Who delivers knows: a study's cell has a cost table, `tune` has timed it. Where programs really compute it takes its time by itself.

use super::Outgoing;
use std::time::Duration;

/// What messages cost to code, on a reference core.
pub(crate) trait Pricing {
    /// Coding a message before it is sent.
    fn encoding(&self, message: &Outgoing) -> Duration;
    /// Decoding it when it is there.
    fn decoding(&self, message: &Outgoing) -> Duration;
}

/// Nothing is charged.
pub(crate) struct Free;

impl Pricing for Free {
    fn encoding(&self, _: &Outgoing) -> Duration {
        Duration::ZERO
    }

    fn decoding(&self, _: &Outgoing) -> Duration {
        Duration::ZERO
    }
}
