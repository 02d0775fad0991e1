//! Reads ISO 8601 times as HAR files and logs write them, to the nanosecond.
//!
//! The parser is ours, since it is more lenient than the formats of `time`; the calendar is that of `time`.

use time::{Date, Month};

/// Nanoseconds since 1970-01-01T00:00:00Z of a date and time such as `2009-07-24T19:20:30.45+01:00`. A time without an offset
/// is read as UTC: only differences within one file are used. None where the text is not such a time.
pub(crate) fn read(text: &str) -> Option<i128> {
    let text = text.trim();
    let (date, rest) = text.split_at_checked(10)?;
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (
        number(parts.next()?, 4)?,
        number(parts.next()?, 2)?,
        number(parts.next()?, 2)?,
    );
    if !(1..=31).contains(&day) {
        return None;
    }
    let days = days_from_epoch(year, month, day)?;
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let zone_at = rest.find(['Z', 'z', '+', '-', ' ']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(zone_at);
    let nanoseconds = time_of_day(time)? - i128::from(offset_minutes(zone.trim())?) * 60 * SECOND;
    Some(i128::from(days) * 86_400 * SECOND + nanoseconds)
}

const SECOND: i128 = 1_000_000_000;

fn number(text: &str, digits: usize) -> Option<i64> {
    let right = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if right { text.parse().ok() } else { None }
}

/// `19:20:30.45`, where seconds and their fraction (after a point or a comma) may be absent. A leap second (60) is the first
/// second of the next minute.
fn time_of_day(text: &str) -> Option<i128> {
    let mut parts = text.splitn(3, ':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let seconds = parts.next().unwrap_or("00");
    let (second, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, "0"));
    let second = number(second, 2)?;
    if hour > 23 || minute > 59 || second > 60 || fraction.is_empty() || !fraction.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let fraction: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    Some(i128::from(hour * 3600 + minute * 60 + second) * SECOND + fraction.parse::<i128>().ok()?)
}

/// `Z`, `+01:00`, `+0100`, `+01`, or nothing.
fn offset_minutes(zone: &str) -> Option<i64> {
    if zone.is_empty() || zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, rest) = if let Some(rest) = zone.strip_prefix('-') {
        (-1, rest)
    } else {
        (1, zone.strip_prefix('+')?)
    };
    let digits: String = rest.chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { number(minutes, 2)? };
    Some(sign * (number(hours, 2)? * 60 + minutes))
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. A day beyond the end of its month counts on into the next.
fn days_from_epoch(year: i64, month: i64, day: i64) -> Option<i64> {
    let julian_day = |year, month| {
        Some(i64::from(
            Date::from_calendar_date(year, month, 1).ok()?.to_julian_day(),
        ))
    };
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let first = julian_day(i32::try_from(year).ok()?, month)? - julian_day(1970, Month::January)?;
    Some(first + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants_are_read_exactly() {
        assert_eq!(read("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(read("2000-02-29T12:00:00Z"), Some(951_825_600 * SECOND));
        assert_eq!(read("2024-03-01T00:00:00.000000001Z"), Some(1_709_251_200 * SECOND + 1));
        assert_eq!(read("1969-12-31T23:59:59.5Z"), Some(-SECOND / 2));
        assert_eq!(read("2023-02-29T00:00:00Z"), read("2023-03-01T00:00:00Z"));
        assert_eq!(read("0000-01-01T00:00:00Z"), Some(-719_528 * 86_400 * SECOND));
    }

    #[test]
    fn one_instant_is_read_alike_in_every_way_to_write_it() {
        let instant = read("2009-07-24T18:20:30.450Z");
        assert!(instant.is_some());
        for text in [
            "2009-07-24T19:20:30.45+01:00",
            "2009-07-24T19:20:30,45+0100",
            "2009-07-24 19:20:30.450000000000 +01",
            "2009-07-24t11:50:30.45-06:30",
            " 2009-07-24T18:20:30.45 ",
        ] {
            assert_eq!(read(text), instant, "{text}");
        }
    }

    #[test]
    fn what_is_no_instant_is_none() {
        for text in [
            "",
            "now",
            "2009-07-24",
            "2009-13-24T00:00:00Z",
            "2009-07-24T25:00:00Z",
            "2009-07-24T00:00:00.Z",
            "2009-07-24T00:00:00+1",
            "20é9-07-24T00:00:00Z",
            "1248459630000",
            "2009-07-24T00:00:00*01:00",
            "+009-07-24T00:00:00Z",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
