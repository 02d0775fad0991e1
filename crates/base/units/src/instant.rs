//! Points in virtual time.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

/// A point in virtual time: nanoseconds since the world began. 64 bits last 584 years.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// When the world began.
    pub const START: Instant = Instant(0);

    /// That many nanoseconds after the world began.
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the world began.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Time since the world began.
    pub const fn since_start(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// The time from `earlier` to here, or zero where `earlier` is in fact later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration.as_nanos() as u64)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub for Instant {
    type Output = Duration;
    /// The time from `earlier` to here; panics where `earlier` is later, since that is a bug in a model.
    fn sub(self, earlier: Self) -> Duration {
        Duration::from_nanos(
            self.0
                .checked_sub(earlier.0)
                .expect("an earlier instant is subtracted from a later one"),
        )
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}
