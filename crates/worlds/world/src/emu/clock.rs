//! The clock of an emulated world: nanoseconds of the system's monotonic clock since the world began.
// This is the one world whose time is the machine's.
#![allow(clippy::disallowed_methods)]

use lastmile_units::Instant;

/// The clock of one world. Copies show the same time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock(std::time::Instant);

impl Clock {
    /// A clock that starts at zero now.
    pub(super) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    pub(super) fn now(self) -> Instant {
        Instant::START + self.0.elapsed()
    }
}
