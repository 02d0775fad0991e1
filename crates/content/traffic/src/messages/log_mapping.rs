//! Where the parts of a message stand in the lines of a log: in fields of JSON objects, or in groups of a regular expression.
//!
//! It also reads the values that logs write there: directions in many words, times in seconds or as text.

use super::Direction;
use crate::reading::lenient::microseconds;
use crate::reading::timestamp;
use regex_lite::Regex;
use std::time::Duration;

/// Where the parts of a message stand in a line.
#[derive(Debug, Clone)]
pub enum LogMapping {
    /// In fields of a JSON object.
    Fields(FieldMapping),
    /// In what a regular expression captures.
    Pattern(Pattern),
}

/// The fields of a JSON object that hold the parts of a message, as dotted paths: `message.data` is the member `data` of the member
/// `message`. A key may contain dots itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldMapping {
    /// The payload: a text, or any other value, whose JSON is taken as it stands in the line.
    pub payload: String,
    /// The direction: sent or received, out or in, send or recv, and the like. None: the direction that the reader is given.
    pub direction: Option<String>,
    /// The connection: any text or number. None: all messages are of one connection.
    pub connection: Option<String>,
    /// The time: a number, or text as in RFC 3339. None: no message has a time.
    pub time: Option<String>,
}

/// A regular expression that captures the payload of a message in a line of text, and its other parts where they have names.
///
/// ```
/// use lastmile_traffic::messages::Pattern;
/// assert!("payload=(.*)$".parse::<Pattern>().is_ok());
/// assert!(r"ws\.(?<direction>send|recv) (?<payload>.*)$".parse::<Pattern>().is_ok());
/// let error = "payload=.*".parse::<Pattern>().unwrap_err().to_string();
/// assert!(error.ends_with("put the payload in brackets, like 'payload=(.*)$'"), "{error}");
/// ```
#[derive(Debug, Clone)]
pub struct Pattern {
    expression: Regex,
    /// The number of the group that is the payload.
    payload: usize,
    /// The names of the groups.
    names: FieldMapping,
}

/// An expression that does not say where the payload is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; put the payload in brackets, like 'payload=(.*)$'")]
pub struct ParsePatternError {
    problem: String,
}

/// The names of groups that a pattern may have.
const GROUPS: [&str; 4] = ["payload", "direction", "connection", "time"];

impl std::str::FromStr for Pattern {
    type Err = ParsePatternError;

    fn from_str(text: &str) -> Result<Self, ParsePatternError> {
        let fail = |problem: String| ParsePatternError { problem };
        let expression = Regex::new(text).map_err(|error| fail(format!("it is not a regular expression: {error}")))?;
        let names: Vec<Option<&str>> = expression.capture_names().collect();
        if let Some(name) = names.iter().flatten().find(|name| !GROUPS.contains(name)) {
            return Err(fail(format!(
                "it has a group named {name:?}; the names are {}",
                GROUPS.join(", ")
            )));
        }
        let is_unnamed = names.iter().all(Option::is_none);
        if is_unnamed && names.len() != 2 {
            let groups = names.len() - 1;
            return Err(fail(format!("it has {groups} groups in place of one, the payload")));
        }
        let payload = names.iter().position(|name| *name == Some("payload"));
        let payload = payload.or(is_unnamed.then_some(1));
        let payload = payload.ok_or_else(|| fail("none of its groups is named payload".to_owned()))?;
        let group = |name: &str| names.contains(&Some(name)).then(|| name.to_owned());
        let names = FieldMapping {
            payload: "payload".to_owned(),
            direction: group("direction"),
            connection: group("connection"),
            time: group("time"),
        };
        Ok(Self {
            expression,
            payload,
            names,
        })
    }
}

/// The parts of a message, as the line of a log has them.
#[derive(Debug)]
pub(super) struct LineParts {
    pub(super) payload: String,
    pub(super) direction: Option<String>,
    pub(super) connection: Option<String>,
    pub(super) time: Option<String>,
}

impl LogMapping {
    /// The names of the parts, in fields or groups.
    pub(super) fn names(&self) -> &FieldMapping {
        match self {
            Self::Fields(fields) => fields,
            Self::Pattern(pattern) => &pattern.names,
        }
    }

    pub(super) const fn remedy(&self) -> &'static str {
        match self {
            Self::Fields(_) => "check the names of the fields against the first lines of the file",
            Self::Pattern(_) => "check the regular expression against the first lines of the file",
        }
    }
}

impl Pattern {
    /// The expression, as written.
    pub fn as_str(&self) -> &str {
        self.expression.as_str()
    }

    /// The names of its groups.
    pub(super) fn names(&self) -> &FieldMapping {
        &self.names
    }

    /// The parts of a line; none where it does not match.
    pub(super) fn capture(&self, line: &str) -> Option<LineParts> {
        let found = self.expression.captures(line)?;
        let part = |name| found.name(name).map(|part| part.as_str().to_owned());
        Some(LineParts {
            payload: found.get(self.payload)?.as_str().to_owned(),
            direction: part("direction"),
            connection: part("connection"),
            time: part("time"),
        })
    }
}

/// Words for a message that the recording end sent, and for one that it received. Our own choice, of words that logs have.
const SENT: [&str; 9] = [
    "sent", "send", "sending", "out", "outgoing", "outbound", "tx", "egress", "write",
];
const RECEIVED: [&str; 10] = [
    "received",
    "receive",
    "receiving",
    "recv",
    "in",
    "incoming",
    "inbound",
    "rx",
    "ingress",
    "read",
];
/// Words for a message of the server, and for one of the client, without blanks and punctuation. "client" alone may be either end of a
/// message, and is none of them.
const OF_SERVER: [&str; 5] = ["servertoclient", "serverclient", "s2c", "toclient", "fromserver"];
const OF_CLIENT: [&str; 5] = ["clienttoserver", "clientserver", "c2s", "toserver", "fromclient"];

/// The directions that are understood, for errors.
pub(super) const DIRECTIONS: &str = "sent or received, out or in, send or recv, tx or rx, s2c or c2s";

/// A direction as logs write it, in upper or lower case; `server_sends` is that of the server's messages.
pub(super) fn direction(text: &str, server_sends: Direction) -> Option<Direction> {
    let letters: String = text
        .trim()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    let is_one_of = |words: &[&str]| words.contains(&letters.as_str());
    if is_one_of(&SENT) {
        Some(Direction::Sent)
    } else if is_one_of(&RECEIVED) {
        Some(Direction::Received)
    } else if is_one_of(&OF_SERVER) {
        Some(server_sends)
    } else if is_one_of(&OF_CLIENT) {
        Some(server_sends.opposite())
    } else {
        None
    }
}

/// A time as logs write it: a number, or text as in RFC 3339 (read as UTC where it has no offset). A number counts seconds, unless the
/// field's name ends in a smaller unit (`time_ms`), or the time would be more than 126 years from its zero: a count of seconds since 1970 is not, one of
/// milliseconds is.
pub(super) fn time(name: &str, text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Some(nanoseconds) = timestamp::read(text) {
        return u64::try_from(nanoseconds).ok().map(Duration::from_nanos);
    }
    let count: f64 = text.parse().ok().filter(|count| *count >= 0.0)?;
    let per_second = UNITS
        .iter()
        .find(|(endings, _)| endings.iter().any(|ending| name.ends_with(ending)))
        .map(|(_, per_second)| *per_second);
    match per_second {
        Some(per_second) => microseconds(count * 1e6 / per_second),
        None => [1e6, 1e3, 1.0, 1e-3]
            .into_iter()
            .find_map(|scale| microseconds(count * scale)),
    }
}

/// The endings of names that say a unit, and how many of it are in a second.
const UNITS: [(&[&str], f64); 3] = [
    (&["_ms", "Ms", "_millis", "Millis"], 1e3),
    (&["_us", "Us", "_micros", "Micros"], 1e6),
    (&["_ns", "Ns", "_nanos", "Nanos"], 1e9),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_read_in_the_words_of_logs() {
        let read = |text| direction(text, Direction::Sent);
        for sent in [
            "sent",
            "OUT",
            "send",
            "Outbound",
            "tx",
            "server->client",
            "S2C",
            "to client",
        ] {
            assert_eq!(read(sent), Some(Direction::Sent), "{sent}");
        }
        for received in ["received", "in", "RECV", "client_to_server", "from-client", "rx"] {
            assert_eq!(read(received), Some(Direction::Received), "{received}");
        }
        assert_eq!(direction("s2c", Direction::Received), Some(Direction::Received));
        assert_eq!(direction("out", Direction::Received), Some(Direction::Sent));
        for ambiguous in ["client", "server", "up", "", "1", "sideways"] {
            assert_eq!(read(ambiguous), None, "{ambiguous}");
        }
    }

    #[test]
    fn times_are_read_in_their_unit() {
        let at = |name, text| time(name, text).map(|at| at.as_secs_f64());
        assert_eq!(at("ts", "1.5"), Some(1.5));
        assert_eq!(at("ts", "1700000000.25"), Some(1_700_000_000.25));
        assert_eq!(at("ts", "1700000000250"), Some(1_700_000_000.25));
        assert_eq!(at("ts", "1700000000250000"), Some(1_700_000_000.25));
        assert_eq!(at("time_ms", "12.5"), Some(0.0125));
        assert_eq!(at("sentNs", "12500000"), Some(0.0125));
        assert_eq!(at("ts", "1970-01-01T00:01:00.5+00:00"), Some(60.5));
        assert_eq!(at("ts", "1970-01-01 00:01:00,500"), Some(60.5));
        assert_eq!((at("ts", "now"), at("ts", "-1"), at("ts", "")), (None, None, None));
    }

    #[test]
    fn a_pattern_captures_its_one_group_or_those_with_names() {
        let captured = |pattern: &str, line| {
            let pattern: Pattern = pattern.parse().unwrap();
            pattern.capture(line).map(|parts| (parts.payload, parts.direction))
        };
        assert_eq!(captured("p=(.*)$", "x p={}"), Some(("{}".to_owned(), None)));
        assert_eq!(captured("p=(.*)$", "nothing"), None);
        assert_eq!(
            captured("(?<direction>in|out) (?<payload>.*)", "at in {}"),
            Some(("{}".to_owned(), Some("in".to_owned())))
        );
        for (wrong, said) in [
            ("(a)(b)", "2 groups in place of one"),
            ("(?<body>a)", "named \"body\"; the names are payload, direction"),
            ("(?<time>a)", "none of its groups is named payload"),
            ("(", "not a regular expression"),
        ] {
            let error = wrong.parse::<Pattern>().unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
