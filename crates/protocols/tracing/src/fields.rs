//! The fields of a traced event, with their types.

use lastmile_events::Value;
use std::fmt::Debug;
use tracing_core::field::{Field, Visit};

/// Fields in the order in which they are recorded.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    /// The fields with borrowed texts, as an emitter takes them.
    pub(crate) fn values(&self) -> impl Iterator<Item = (&str, Value<&str>)> {
        self.0.iter().map(|(name, value)| (*name, value.borrowed()))
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.push((field.name(), Value::Float(value)));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.push((field.name(), Value::Integer(value)));
    }

    /// A number that does not fit into an event's integers is kept as text.
    fn record_u64(&mut self, field: &Field, value: u64) {
        let value = i64::try_from(value).map_or_else(|_| Value::Text(value.to_string()), Value::Integer);
        self.0.push((field.name(), value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.push((field.name(), Value::Boolean(value)));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), Value::Text(value.to_owned())));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push((field.name(), Value::Text(format!("{value:?}"))));
    }
}
