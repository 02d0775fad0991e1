//! Measures a thread's CPU time and the wall-clock time. `tune` and `encode` read no other clock.
//!
//! Other programs and other guests of the hypervisor lengthen a thread's CPU time only through the caches. Systems without such a clock (here
//! all but Linux) use wall-clock time, and [`NAME`] says so.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "CPU time is measured here"
)]

use std::time::{Duration, Instant};

/// The clock that CPU time is measured with, as text.
#[cfg(target_os = "linux")]
pub const NAME: &str = "the thread's CPU time";
#[cfg(not(target_os = "linux"))]
pub const NAME: &str = "wall-clock time";

/// Both clocks, read one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    cpu: Duration,
    wall: Instant,
}

/// The time since a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed {
    /// The thread's CPU time.
    pub cpu: Duration,
    /// Wall-clock time.
    pub wall: Duration,
}

impl Stopwatch {
    /// Now, on this thread.
    pub fn now() -> Self {
        let wall = Instant::now();
        Self { cpu: cpu(wall), wall }
    }

    /// The time since then; call it on the thread that read.
    pub fn elapsed(self) -> Elapsed {
        let now = Self::now();
        Elapsed {
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
        let reading = Stopwatch::now();
        std::thread::sleep(Duration::from_millis(20));
        let passed = reading.elapsed();
        assert!(passed.wall >= Duration::from_millis(20));
        assert!(passed.cpu < passed.wall, "{passed:?}");
    }
}
