//! The time of day, for the names of folders and the foot of a page; never for a result.

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use time::UtcDateTime;

/// A second in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Utc(UtcDateTime);

impl Utc {
    /// Now, by this machine's clock.
    pub(crate) fn now() -> Self {
        Self::from_system_time(SystemTime::now())
    }

    /// A point in time, as from a file system; a time before 1970 counts as 1970, and one after 9999 as the end of 9999.
    pub(crate) fn from_system_time(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
        let seconds = i64::try_from(since).unwrap_or(i64::MAX);
        Self(UtcDateTime::from_unix_timestamp(seconds).unwrap_or(UtcDateTime::MAX))
    }

    /// For the name of a folder, so that names sort by time: `20260131-142359`.
    pub(crate) fn stamp(self) -> String {
        let (year, month, day) = self.date();
        let (hour, minute, second) = self.0.as_hms();
        format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
    }

    /// For a reader: `2026-01-31 14:23 UTC`.
    pub(crate) fn readable(self) -> String {
        let (year, month, day) = self.date();
        let (hour, minute, _) = self.0.as_hms();
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
    }

    fn date(self) -> (i32, u8, u8) {
        let (year, month, day) = self.0.to_calendar_date();
        (year, u8::from(month), day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_since_1970_become_a_date() {
        // The pairs are those of `date -u -d @N`; the second is the leap day of a century that has one.
        for (seconds, stamp) in [
            (0, "19700101-000000"),
            (951_827_696, "20000229-123456"),
            (4_107_542_399, "21000228-235959"),
            (4_107_542_400, "21000301-000000"),
        ] {
            assert_eq!(
                Utc::from_system_time(UNIX_EPOCH + Duration::from_secs(seconds)).stamp(),
                stamp
            );
        }
        assert_eq!(
            Utc::from_system_time(UNIX_EPOCH + Duration::from_secs(951_827_696)).readable(),
            "2000-02-29 12:34 UTC"
        );
    }
}
