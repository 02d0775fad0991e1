//! Proposes a pattern for the parts of a message in a line of a text log: a time stamp, anything, and JSON.

use super::field_role::{Role, role};
use super::{Proposal, is_json};
use crate::messages::Direction;
use crate::messages::log_mapping::{LogMapping, Pattern, direction};
use crate::reading::timestamp;
use regex_lite::escape;

/// The time stamp that a line begins with, as a pattern that captures it where it can be read, or else skips it, and where it ends.
pub(super) fn stamp(line: &str) -> Option<(&'static str, usize)> {
    let (open, inside) = match line.strip_prefix('[') {
        Some(inside) => (1, inside),
        None => (0, line),
    };
    let end_of_words = |words: usize| {
        let ends = inside
            .char_indices()
            .filter(|(_, letter)| letter.is_whitespace() || *letter == ']');
        ends.map(|(end, _)| end).chain([inside.len()]).nth(words - 1)
    };
    let one = end_of_words(1)?;
    let reads = |text: &str| timestamp::read(text).is_some();
    if reads(&inside[..one]) {
        return Some((
            if open == 1 {
                r"^\[(?<time>[^\]\s]+)"
            } else {
                r"^(?<time>\S+)"
            },
            open + one,
        ));
    }
    if let Some(two) = end_of_words(2) {
        if reads(&inside[..two]) {
            return Some((
                if open == 1 {
                    r"^\[(?<time>[^\]]+)"
                } else {
                    r"^(?<time>\S+ \S+)"
                },
                open + two,
            ));
        }
        // As Go's log writes it.
        if reads(&inside[..two].replace('/', "-")) {
            return Some(("^", open + two));
        }
    }
    let is_time_of_day = |word: &str| reads(&format!("1970-01-01T{word}"));
    let word = &inside[..one];
    if is_time_of_day(word) {
        return Some(("^", open + one));
    }
    // As syslog writes it: `Jan 31 10:00:00`.
    if let Some(three) = end_of_words(3)
        && MONTHS.contains(&word)
        && inside[..three].rsplit(' ').next().is_some_and(is_time_of_day)
    {
        return Some(("^", open + three));
    }
    // Seconds or milliseconds since 1970.
    let digits = word.split('.').next().unwrap_or_default();
    let is_count = matches!(digits.len(), 10 | 13) && word.parse::<f64>().is_ok();
    (is_count && open == 0).then_some((r"^(?<time>\S+)", one))
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// A pattern for a line that begins with a time stamp and ends with JSON.
pub(super) fn propose(line: &str) -> Option<Proposal> {
    let (time, end) = stamp(line)?;
    let opens = line[end..].match_indices(['{', '[']).map(|(at, _)| end + at);
    let starts_word =
        |at: &usize| line[..*at].ends_with(|before: char| before.is_whitespace() || "=:".contains(before));
    let at = opens.filter(starts_word).take(8).find(|at| is_json(&line[*at..]))?;
    let before = &line[end..at];
    let mut parts = Vec::new();
    parts.extend(direction_pattern(before));
    parts.extend(connection_pattern(before));
    parts.sort();
    let prefix = payload_prefix(before);
    let names = time.len() > 1 || !parts.is_empty();
    let mut text = String::new();
    if names {
        text.push_str(time);
        for (_, pattern) in &parts {
            text.push_str(".*?");
            text.push_str(pattern);
        }
        text.push_str(".*?");
    }
    let group = if names { "?<payload>" } else { "" };
    text.push_str(&format!(
        "{prefix}({group}{}.*)$",
        if prefix.ends_with(['=', ':']) { "" } else { r"[{\[]" }
    ));
    let pattern: Pattern = text.parse().ok()?;
    let captured = pattern.capture(line)?;
    let direction = captured
        .direction
        .and_then(|word| direction(&word, Direction::Sent).map(|sender| (word, sender)));
    let is_right = captured.payload == line[at..] && direction.is_some() == pattern.names().direction.is_some();
    is_right.then_some(Proposal {
        mapping: LogMapping::Pattern(pattern),
        direction,
    })
}

/// The fixed text right before the payload, for a pattern: `payload=`, or a word without digits.
fn payload_prefix(before: &str) -> String {
    let word = |text: &str| text.rsplit(char::is_whitespace).next().unwrap_or_default().to_owned();
    let last = word(before);
    if last.is_empty() {
        return r"\s".to_owned();
    }
    let fixed = !last.contains(|letter: char| letter.is_ascii_digit());
    if fixed { escape(&last) } else { String::new() }
}

/// Where a word for a direction stands in the text before a payload, and a pattern for it. Short words of plain English have to
/// touch punctuation, as in `dir=in`.
fn direction_pattern(before: &str) -> Option<(usize, String)> {
    const PLAIN: [&str; 4] = ["in", "out", "read", "write"];
    let words = before.split(|letter: char| !letter.is_ascii_alphabetic());
    for word in words.filter(|word| !word.is_empty()) {
        let start = offset_in(before, word);
        let lower = word.to_ascii_lowercase();
        let Some(family) = FAMILIES.iter().find(|family| family.contains(&lower.as_str())) else {
            continue;
        };
        let touches = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_punctuation());
        let is_marked =
            touches(before[..start].chars().next_back()) || touches(before[start + word.len()..].chars().next());
        if PLAIN.contains(&lower.as_str()) && !is_marked {
            continue;
        }
        let glue_from = before[..start]
            .char_indices()
            .rfind(|(_, letter)| letter.is_whitespace());
        let glue = escape(&before[glue_from.map_or(0, |(at, blank)| at + blank.len_utf8())..start]);
        let begins = if glue.is_empty() { r"\b" } else { "" };
        let pattern = format!(r"{begins}{glue}(?<direction>(?i:{}))\b", family.join("|"));
        return Some((start, pattern));
    }
    None
}

/// Where a part of a text begins in it.
fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// Words for directions that logs use together.
const FAMILIES: [&[&str]; 7] = [
    &["sending", "send", "sent", "receiving", "received", "receive", "recv"],
    &["outgoing", "incoming"],
    &["outbound", "inbound"],
    &["out", "in"],
    &["tx", "rx"],
    &["egress", "ingress"],
    &["write", "read"],
];

/// Where `conn=` or its like stands in the text before a payload, and a pattern for it and its value.
fn connection_pattern(before: &str) -> Option<(usize, String)> {
    for word in before.split(char::is_whitespace) {
        let start = offset_in(before, word);
        if let Some((key, value)) = word.split_once(['=', ':'])
            && role(key) == Some(Role::Connection)
            && !value.is_empty()
        {
            let mark = &word[key.len()..=key.len()];
            return Some((start, format!(r"{}{mark}(?<connection>[^\s,;\]]+)", escape(key))));
        }
    }
    None
}
