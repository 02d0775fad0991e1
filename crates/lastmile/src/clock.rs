//! What time is it? For the names of folders and the foot of a page; never for a result.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A second in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Utc {
    year: u64,
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
}

impl Utc {
    /// Now, by this machine's clock.
    pub(crate) fn now() -> Self {
        Self::of(SystemTime::now())
    }

    /// A point in time that a file system gave; before 1970 counts as 1970.
    pub(crate) fn of(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
        // Days to a date in the Gregorian calendar, counted in years that begin in March, so that a leap day comes last. Source:
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
        let days = since / 86_400 + 719_468;
        let era = days / 146_097;
        let day_of_era = days % 146_097;
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 {
            month_from_march + 3
        } else {
            month_from_march - 9
        };
        Self {
            year: era * 400 + year_of_era + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            hour: since % 86_400 / 3_600,
            minute: since % 3_600 / 60,
            second: since % 60,
        }
    }

    /// For the name of a folder, so that names sort by time: `20260131-142359`.
    pub(crate) fn stamp(self) -> String {
        let Self {
            year,
            month,
            day,
            hour,
            minute,
            second,
        } = self;
        format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
    }

    /// For a reader: `2026-01-31 14:23 UTC`.
    pub(crate) fn words(self) -> String {
        let Self {
            year,
            month,
            day,
            hour,
            minute,
            ..
        } = self;
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
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
            assert_eq!(Utc::of(UNIX_EPOCH + Duration::from_secs(seconds)).stamp(), stamp);
        }
        assert_eq!(
            Utc::of(UNIX_EPOCH + Duration::from_secs(951_827_696)).words(),
            "2000-02-29 12:34 UTC"
        );
    }
}
