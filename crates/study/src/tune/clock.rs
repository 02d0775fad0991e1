//! How long has this thread computed, and how long did it take by the wall? The one file of `tune` that reads a clock.
//!
//! Computing is the thread's own CPU time, which other programs and the hypervisor's other guests lengthen only by what they do to
//! caches; where the system has no such clock (all but Linux here) it is the time by the wall, and [`NAME`] says so.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "computing is timed here"
)]

use std::time::{Duration, Instant};

/// What computing is measured with, as it is told.
#[cfg(target_os = "linux")]
pub(super) const NAME: &str = "the thread's CPU time";
#[cfg(not(target_os = "linux"))]
pub(super) const NAME: &str = "time by the wall";

/// Both clocks, read one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    cpu: Duration,
    wall: Instant,
}

/// What passed since a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Passed {
    /// On the thread's own clock.
    pub(super) cpu: Duration,
    /// By the wall.
    pub(super) wall: Duration,
}

impl Reading {
    /// Now, on this thread.
    pub(super) fn now() -> Self {
        let wall = Instant::now();
        Self { cpu: cpu(wall), wall }
    }

    /// Since then; to be asked by the thread that read.
    pub(super) fn passed(self) -> Passed {
        let now = Self::now();
        Passed {
            cpu: now.cpu.saturating_sub(self.cpu),
            wall: now.wall - self.wall,
        }
    }
}

#[cfg(target_os = "linux")]
fn cpu(_wall: Instant) -> Duration {
    use nix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("Linux has this clock since 2.6.12");
    Duration::from(time)
}

#[cfg(not(target_os = "linux"))]
fn cpu(wall: Instant) -> Duration {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    wall.saturating_duration_since(*START.get_or_init(|| wall))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_that_sleeps_computes_next_to_nothing() {
        let reading = Reading::now();
        std::thread::sleep(Duration::from_millis(20));
        let passed = reading.passed();
        assert!(passed.wall >= Duration::from_millis(20));
        assert!(passed.cpu < passed.wall, "{passed:?}");
    }
}
