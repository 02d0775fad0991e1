//! Which events a query or a subscription asks for: subject, time and predicates on fields.

use lastmile_events::{Chunk, EventView, Pattern, Timestamp, Value, line};
use std::cmp::Ordering;
use std::str::FromStr;
use thiserror::Error;

/// Chooses events. Every part must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Their subjects; all without one.
    pub subject: Option<Pattern>,
    /// The earliest time.
    pub since: Option<Timestamp>,
    /// The first time after them.
    pub until: Option<Timestamp>,
    /// Conditions on their fields.
    pub predicates: Vec<Predicate>,
}

/// A condition on a field: `NAME OP VALUE`. It does not hold where the field is absent or cannot be compared. An event that has no field of the name
/// `subject`, `source` or `time` is asked for its own: time is in nanoseconds of Unix time.
#[derive(Debug, Clone)]
pub struct Predicate {
    name: String,
    operator: Operator,
    value: Value,
    /// A bare value as it was written, for texts like `1.10`.
    text: String,
}

/// An operator's symbol, and the orders for which it holds.
type Operator = (&'static str, fn(Ordering) -> bool);

/// The operators, each with the orders for which it holds. `<=` comes before `<`, so that it is not read as that.
const OPERATORS: [Operator; 6] = [
    ("!=", Ordering::is_ne),
    ("<=", Ordering::is_le),
    (">=", Ordering::is_ge),
    ("=", Ordering::is_eq),
    ("<", Ordering::is_lt),
    (">", Ordering::is_gt),
];

/// A text that is no predicate.
#[derive(Debug, Clone, Error)]
#[error("{text:?} is no condition: {hint}")]
pub struct PredicateError {
    text: String,
    hint: &'static str,
}

const FORM: &str = "write NAME OP VALUE, like cell=3 or 'rate >= 2.5', with one of = != < <= > >=";

impl FromStr for Predicate {
    type Err = PredicateError;

    fn from_str(text: &str) -> Result<Self, PredicateError> {
        let hinted = |hint| PredicateError {
            text: text.to_owned(),
            hint,
        };
        let refused = || hinted(FORM);
        let at = text.find(['!', '<', '>', '=']).ok_or_else(refused)?;
        let (name, rest) = (text[..at].trim(), &text[at..]);
        let (value, operator) = OPERATORS
            .iter()
            .find_map(|operator| Some((rest.strip_prefix(operator.0)?.trim(), *operator)))
            .ok_or_else(refused)?;
        if name.is_empty() {
            return Err(refused());
        }
        if name.contains(char::is_whitespace) {
            return Err(hinted(
                "a name has no spaces; there is no NOT: turn the operator round, like != for =",
            ));
        }
        let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        if let Some(quoted) = quoted.filter(|quoted| !quoted.contains('"')) {
            let text = quoted.to_owned();
            return Ok(Self {
                name: name.to_owned(),
                operator,
                value: Value::Text(text.clone()),
                text,
            });
        }
        if let Some(hint) = bare_hint(value) {
            return Err(hinted(hint));
        }
        Ok(Self {
            name: name.to_owned(),
            operator,
            value: number(value).unwrap_or_else(|| line::bare_value(value)),
            text: value.to_owned(),
        })
    }
}

/// The number that a bare value is, however it is written.
fn number(value: &str) -> Option<Value> {
    let is_number = value.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    let whole = value.parse().map(Value::Integer);
    whole
        .or_else(|_| value.parse().map(Value::Float))
        .ok()
        .filter(|_| is_number)
}

/// What to write in the place of a bare value that other languages know, and this one does not.
fn bare_hint(value: &str) -> Option<&'static str> {
    if value.starts_with(['=', '<', '>', '!']) {
        return Some("the operators are = != < <= > >=");
    }
    if value.contains(['\'', '"']) {
        return Some("put a text with spaces or quotes into double quotes, like 'name=\"pump 1\"'");
    }
    if value.contains(char::is_whitespace) {
        return Some("a value with spaces stands in double quotes; for AND give --where twice; for OR ask twice");
    }
    let is_other_truth = ["true", "false"]
        .iter()
        .any(|truth| value.eq_ignore_ascii_case(truth) && value != *truth);
    is_other_truth.then_some("write true or false, or \"TRUE\" for the text")
}

impl Predicate {
    fn holds(&self, event: &EventView<'_>) -> bool {
        // A name alone is the source in each of its lives.
        let asks_for_life = self.name == "source" && self.text.contains('@');
        let life = asks_for_life.then(|| event.source.to_string());
        let value = event.field(&self.name).or_else(|| match self.name.as_str() {
            "subject" => Some(Value::Text(event.subject)),
            "source" => Some(Value::Text(life.as_deref().unwrap_or_else(|| event.source.name()))),
            "time" => Some(Value::Integer(event.time.unix_nanoseconds())),
            _ => None,
        });
        let order = value.and_then(|value| match value {
            Value::Text(text) => self.compare_text(text),
            value => compare(value, self.value.borrowed()),
        });
        order.is_some_and(self.operator.1)
    }

    /// A text that reads as a number, like `12.50`, is larger or smaller as a number is; it equals only what is written like it, since it may be an
    /// identifier.
    fn compare_text(&self, text: &str) -> Option<Ordering> {
        let asks_for_equality = matches!(self.operator.0, "=" | "!=");
        match (&self.value, number(text)) {
            (Value::Boolean(_), _) => None,
            (Value::Integer(_) | Value::Float(_), Some(number)) if !asks_for_equality => {
                compare(number.borrowed(), self.value.borrowed())
            }
            _ => Some(text.cmp(&self.text)),
        }
    }
}

fn compare(a: Value<&str>, b: Value<&str>) -> Option<Ordering> {
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(&b)),
        (Value::Integer(a), Value::Float(b)) => (a as f64).partial_cmp(&b),
        (Value::Float(a), Value::Integer(b)) => a.partial_cmp(&(b as f64)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(&b),
        (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(&b)),
        _ => None,
    }
}

impl Filter {
    /// Whether the chunk may hold an event that is asked for, by its times.
    pub fn may_match(&self, chunk: &Chunk) -> bool {
        self.since.is_none_or(|since| chunk.latest() >= since)
            && self.until.is_none_or(|until| chunk.earliest() < until)
    }

    /// Whether the event is asked for.
    pub fn matches(&self, event: &EventView<'_>) -> bool {
        self.subject
            .as_ref()
            .is_none_or(|pattern| pattern.matches(event.subject))
            && self.since.is_none_or(|since| event.time >= since)
            && self.until.is_none_or(|until| event.time < until)
            && self.predicates.iter().all(|predicate| predicate.holds(event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_events::{ChunkBuilder, Source};

    #[test]
    fn predicates_compare_numbers_with_numbers_and_texts_with_texts() {
        let mut builder = ChunkBuilder::new(Source::new("a", 1).unwrap(), 1);
        let fields = [
            ("cell", Value::Integer(3)),
            ("name", Value::Text("b")),
            ("version", Value::Text("1.10")),
            ("price", Value::Text("12.50")),
        ];
        builder.push(Timestamp::default(), "x", fields).unwrap();
        let event = builder.finish().unwrap().events().next().unwrap();
        for (text, expected) in [
            ("cell=3", true),
            ("cell >= 2.5", true),
            ("cell<3", false),
            ("cell != 3", false),
            ("name=b", true),
            ("name > \"a\"", true),
            ("name=3", false),
            ("absent!=3", false),
            ("version=1.10", true),
            ("version=1.1", false),
            ("price > 9", true),
            ("price > \"9\"", false),
            ("price <= 12.5", true),
            ("cell=3.0", true),
            ("subject=x", true),
            ("source=a", true),
            ("source=b", false),
            ("source=\"a@0000000000000001\"", true),
            ("time >= 0", true),
            ("time > 0", false),
        ] {
            assert_eq!(
                text.parse::<Predicate>().unwrap().holds(&event.view()),
                expected,
                "{text}"
            );
        }
        for (text, hint) in [
            ("cell", "write NAME OP VALUE"),
            ("n == 5", "the operators are"),
            ("n<>6", "the operators are"),
            ("name = 'pump 1'", "double quotes"),
            ("n=5 and ok=true", "--where twice"),
            ("n > 9 OR n < 6", "--where twice"),
            ("ok = TRUE", "write true"),
            ("NOT n=6", "no NOT"),
        ] {
            let refused = text.parse::<Predicate>().unwrap_err().to_string();
            assert!(refused.contains(hint), "{refused}");
        }
    }
}
