//! Measures a thread's CPU time. No other file of this crate reads a clock.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "CPU time is measured here"
)]

use std::time::Duration;

/// A reading of the clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Duration);

impl Stopwatch {
    /// Now, on this thread.
    pub(crate) fn now() -> Self {
        Self(now())
    }

    /// The CPU time since then; call it on the thread that read.
    pub(crate) fn elapsed(self) -> Duration {
        now().saturating_sub(self.0)
    }
}

#[cfg(target_os = "linux")]
fn now() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("Linux has this clock since 2.6.12"))
}

/// Elsewhere the time of day stands for it.
#[cfg(not(target_os = "linux"))]
fn now() -> Duration {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
}
