//! Losses: events that stand in the place of those that were dropped.

use crate::{EventView, Subject, Value};
use std::collections::BTreeMap;
use std::ops::Range;

/// The subject of loss events.
pub const SUBJECT: &str = "_loss";
/// The subject of the last event of a source that ended in good order.
pub const END_SUBJECT: &str = "_end";

/// Events of a source that were dropped: which, where and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The first number that was lost.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// Which part dropped them: `emitter`, `sensor`.
    pub place: String,
    /// Why: `ring full`, `store full`, `line refused`, `forgotten`, `budget`.
    pub cause: String,
    /// How many of each subject, where that is known; all together are then `count`.
    pub by_subject: BTreeMap<String, u64>,
}

impl Loss {
    /// The loss of consecutive numbers, of which nothing is known but where they were dropped and why.
    pub fn new(numbers: Range<u64>, place: &str, cause: &str) -> Self {
        Self {
            first: numbers.start,
            count: numbers.end - numbers.start,
            place: place.to_owned(),
            cause: cause.to_owned(),
            by_subject: BTreeMap::new(),
        }
    }

    /// The subject and the fields of the event that states it.
    pub fn fields<'a>(place: &'a str, cause: &'a str) -> [(&'static str, Value<&'a str>); 2] {
        [("place", Value::Text(place)), ("cause", Value::Text(cause))]
    }

    /// The subject of loss events.
    pub fn subject() -> Subject {
        Subject::of_any_kind(SUBJECT).expect("it is a subject")
    }

    pub(crate) fn of_view(event: &EventView<'_>) -> Option<Self> {
        let text = |name| match event.field(name) {
            Some(Value::Text(text)) => text.to_owned(),
            _ => "unknown".to_owned(),
        };
        (event.subject == SUBJECT).then(|| Self {
            first: event.sequence,
            count: event.span,
            place: text("place"),
            cause: text("cause"),
            by_subject: Self::by_subject(event).unwrap_or_default(),
        })
    }

    /// The counts by subject, if they add up.
    fn by_subject(event: &EventView<'_>) -> Option<BTreeMap<String, u64>> {
        let mut counts = BTreeMap::new();
        let mut all = 0u64;
        for (name, value) in &event.fields {
            if let Value::Integer(count) = value {
                let count = u64::try_from(*count).ok()?;
                all = all.checked_add(count)?;
                counts.insert((*name).to_owned(), count);
            }
        }
        (all == event.span).then_some(counts)
    }
}
