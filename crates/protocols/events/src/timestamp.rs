//! Points in time, as events carry them: nanoseconds of Unix time.

use std::time::{Duration, SystemTime};

/// Nanoseconds since 1970-01-01 00:00 UTC, without leap seconds; negative before. Reaches from 1677 to 2262.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Timestamp {
    nanoseconds: i64,
}

impl Timestamp {
    /// The time so many nanoseconds after the start of Unix time.
    pub const fn from_unix_nanoseconds(nanoseconds: i64) -> Self {
        Self { nanoseconds }
    }

    /// Nanoseconds since the start of Unix time.
    pub const fn unix_nanoseconds(self) -> i64 {
        self.nanoseconds
    }

    /// The machine's clock now.
    #[inline]
    pub fn now() -> Self {
        #[cfg(unix)]
        {
            // What `SystemTime` computes to the same end takes half as long as reading the clock.
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
            let seconds = now.tv_sec.saturating_mul(1_000_000_000);
            Self::from_unix_nanoseconds(seconds.saturating_add(now.tv_nsec))
        }
        #[cfg(not(unix))]
        Self::from(SystemTime::now())
    }

    /// The time `before` earlier; the earliest time where there is none.
    pub fn saturating_sub(self, before: Duration) -> Self {
        let before = i64::try_from(before.as_nanos()).unwrap_or(i64::MAX);
        Self::from_unix_nanoseconds(self.nanoseconds.saturating_sub(before))
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let nanoseconds = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanoseconds| -nanoseconds),
        };
        Self { nanoseconds }
    }
}
