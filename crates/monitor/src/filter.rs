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

/// A condition on a field: `NAME OP VALUE`. It does not hold where the field is absent or cannot be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    name: String,
    operator: Operator,
    value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// In this order, so that `<=` is not read as `<`.
const OPERATORS: [(&str, Operator); 6] = [
    ("!=", Operator::Unequal),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("=", Operator::Equal),
    ("<", Operator::Below),
    (">", Operator::Above),
];

/// A text that is no predicate.
#[derive(Debug, Clone, Error)]
#[error("{text:?} is no condition: write NAME OP VALUE, like cell=3 or 'rate >= 2.5', with one of = != < <= > >=")]
pub struct PredicateError {
    text: String,
}

impl FromStr for Predicate {
    type Err = PredicateError;

    fn from_str(text: &str) -> Result<Self, PredicateError> {
        let refused = || PredicateError { text: text.to_owned() };
        let at = text.find(['!', '<', '>', '=']).ok_or_else(refused)?;
        let (name, rest) = (text[..at].trim(), &text[at..]);
        let (value, operator) = OPERATORS
            .iter()
            .find_map(|(symbol, operator)| Some((rest.strip_prefix(symbol)?.trim(), *operator)))
            .ok_or_else(refused)?;
        if name.is_empty() {
            return Err(refused());
        }
        let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        Ok(Self {
            name: name.to_owned(),
            operator,
            value: quoted.map_or_else(|| line::bare_value(value), |text| Value::Text(text.to_owned())),
        })
    }
}

impl Predicate {
    fn holds(&self, event: &EventView<'_>) -> bool {
        let own = self.value.borrowed();
        let Some(order) = event.field(&self.name).and_then(|value| compare(value, own)) else {
            return false;
        };
        match self.operator {
            Operator::Equal => order.is_eq(),
            Operator::Unequal => order.is_ne(),
            Operator::Below => order.is_lt(),
            Operator::AtMost => order.is_le(),
            Operator::Above => order.is_gt(),
            Operator::AtLeast => order.is_ge(),
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
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
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
        let fields = [("cell", Value::Integer(3)), ("name", Value::Text("b"))];
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
        ] {
            assert_eq!(
                text.parse::<Predicate>().unwrap().holds(&event.view()),
                expected,
                "{text}"
            );
        }
        assert!("cell".parse::<Predicate>().is_err());
    }
}
