//! When was it? ISO 8601 as HAR files write it, to the nanosecond.

/// Nanoseconds since 1970-01-01T00:00:00Z of a date and time such as `2009-07-24T19:20:30.45+01:00`. A time without an offset
/// is taken as UTC: only differences within one file are used. None where it is not such a text.
pub(super) fn read(text: &str) -> Option<i128> {
    let text = text.trim();
    let (date, rest) = text.split_at_checked(10)?;
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (
        number(parts.next()?, 4)?,
        number(parts.next()?, 2)?,
        number(parts.next()?, 2)?,
    );
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let zone_at = rest.find(['Z', 'z', '+', '-', ' ']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(zone_at);
    let nanoseconds = time_of_day(time)? - i128::from(offset_minutes(zone.trim())?) * 60 * SECOND;
    Some(i128::from(days_from_civil(year, month, day)) * 86_400 * SECOND + nanoseconds)
}

const SECOND: i128 = 1_000_000_000;

fn number(text: &str, digits: usize) -> Option<i64> {
    let right = text.len() == digits && text.bytes().all(|octet| octet.is_ascii_digit());
    if right { text.parse().ok() } else { None }
}

/// `19:20:30.45`, where seconds and their fraction (behind a point or a comma) may be absent. A leap second (60) is the next
/// minute's first.
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

/// Days from 1970-01-01 to a date of the Gregorian calendar (Howard Hinnant, "chrono-compatible low-level date algorithms",
/// `days_from_civil`): years start in March, so that the leap day is their last, and 400 of them have 146,097 days.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
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
