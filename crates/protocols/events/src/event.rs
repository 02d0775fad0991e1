//! Events: what happened, when, to what, with which values.

use crate::{Loss, Source, Subject, Timestamp};

/// The most fields that an event has.
pub const FIELDS_MAX: usize = 64;
/// The longest name of a field, in bytes.
pub const NAME_LENGTH_MAX: usize = 128;
/// The longest text of a field, in bytes.
pub const TEXT_LENGTH_MAX: usize = 65_535;

/// The value of a field. `T` is the text: owned, or borrowed by whoever emits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<T = String> {
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// Yes or no.
    Boolean(bool),
    /// Text.
    Text(T),
}

impl<T: AsRef<str>> Value<T> {
    /// The same value with borrowed text.
    pub fn borrowed(&self) -> Value<&str> {
        match self {
            Self::Integer(number) => Value::Integer(*number),
            Self::Float(number) => Value::Float(*number),
            Self::Boolean(truth) => Value::Boolean(*truth),
            Self::Text(text) => Value::Text(text.as_ref()),
        }
    }
}

/// One event, as it is read from a chunk.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Who emitted it.
    pub source: Source,
    /// Its number in the source's sequence, from 1.
    pub sequence: u64,
    /// How many numbers it stands for: 1, but the number of events lost for a loss event.
    pub span: u64,
    /// When it happened.
    pub time: Timestamp,
    /// What it is about.
    pub subject: Subject,
    /// Its values by name, in the order in which they were given.
    pub fields: Vec<(String, Value)>,
}

/// One event, as it stands in a chunk: nothing is copied.
#[derive(Debug)]
pub struct EventView<'a> {
    /// Who emitted it.
    pub source: &'a Source,
    /// Its number in the source's sequence, from 1.
    pub sequence: u64,
    /// How many numbers it stands for: 1, but the number of events lost for a loss event.
    pub span: u64,
    /// When it happened.
    pub time: Timestamp,
    /// What it is about.
    pub subject: &'a str,
    /// Its values by name, in the order in which they were given.
    pub fields: Vec<(&'a str, Value<&'a str>)>,
}

impl<'a> EventView<'a> {
    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<Value<&'a str>> {
        self.fields
            .iter()
            .find_map(|(field, value)| (*field == name).then_some(*value))
    }

    /// The event with copies of its texts.
    pub fn to_event(&self) -> Event {
        let owned = |value: &Value<&str>| match value {
            Value::Integer(number) => Value::Integer(*number),
            Value::Float(number) => Value::Float(*number),
            Value::Boolean(truth) => Value::Boolean(*truth),
            Value::Text(text) => Value::Text((*text).to_owned()),
        };
        let fields = self.fields.iter();
        Event {
            source: self.source.clone(),
            sequence: self.sequence,
            span: self.span,
            time: self.time,
            subject: Subject::of_any_kind(self.subject).expect("a chunk's subjects were checked when it was read"),
            fields: fields.map(|(name, value)| ((*name).to_owned(), owned(value))).collect(),
        }
    }

    /// The loss that it states, if it is a loss event.
    pub fn loss(&self) -> Option<Loss> {
        Loss::of_view(self)
    }
}

impl Event {
    /// The event as it would stand in a chunk.
    pub fn view(&self) -> EventView<'_> {
        let fields = self.fields.iter();
        EventView {
            source: &self.source,
            sequence: self.sequence,
            span: self.span,
            time: self.time,
            subject: self.subject.as_str(),
            fields: fields.map(|(name, value)| (name.as_str(), value.borrowed())).collect(),
        }
    }

    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields
            .iter()
            .find_map(|(field, value)| (field == name).then_some(value))
    }

    /// The loss that it states, if it is a loss event.
    pub fn loss(&self) -> Option<Loss> {
        self.view().loss()
    }
}
