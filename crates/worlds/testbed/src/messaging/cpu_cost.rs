//! The CPU time of compressing and decompressing messages, where CPUs are simulated.
//!
//! The caller provides it: a study's cell from a cost table, `tune` from its timings. In the emulated world real CPU time is used instead.

use super::ScheduledMessage;
use std::time::Duration;

/// The CPU time of compression, on a reference core.
pub trait CpuCost {
    /// Of compressing a message before it is sent.
    fn encoding(&self, message: &ScheduledMessage) -> Duration;
    /// Of decompressing it when it has arrived.
    fn decoding(&self, message: &ScheduledMessage) -> Duration;
}

/// Nothing is charged.
pub struct NoCpuCost;

impl CpuCost for NoCpuCost {
    fn encoding(&self, _: &ScheduledMessage) -> Duration {
        Duration::ZERO
    }

    fn decoding(&self, _: &ScheduledMessage) -> Duration {
        Duration::ZERO
    }
}
