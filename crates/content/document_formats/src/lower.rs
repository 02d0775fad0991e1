//! Schemas without what message formats lack, and the values to match.
//!
//! Protocol Buffers, FlatBuffers and Cap'n Proto have messages of named fields, and lists of scalars, texts or messages. A list within a
//! list, a map, a null among values and a root that is no object become messages of one or two fields here, and are restored after reading.

use crate::schema::{Field, Presence, Schema};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The name of the field of a message that stands for another value.
const VALUE: &str = "value";

/// The name of the field of a map's entry that holds the key.
const KEY: &str = "key";

/// A schema whose root is a struct, whose lists hold no lists, and that has neither maps nor nulls nor mixed types.
#[derive(Debug, Clone)]
pub(crate) struct LoweredSchema {
    pub(crate) schema: Schema,
    original: Schema,
    identical: bool,
    /// Whether a list that is missing must be told from one that is empty by a message around it.
    wrap_optional_lists: bool,
}

impl LoweredSchema {
    pub(crate) fn new(original: &Schema, wrap_optional_lists: bool) -> Self {
        let mut lowered = Self {
            schema: Schema::Bool,
            original: original.clone(),
            identical: false,
            wrap_optional_lists,
        };
        lowered.schema = match lowered.lower(original) {
            root @ Schema::Struct(_) => root,
            root => wrapper(Presence::Always, root),
        };
        lowered.identical = lowered.schema == *original;
        lowered
    }

    fn is_wrapped_root(&self) -> bool {
        !matches!(self.original, Schema::Struct(_) | Schema::Nullable(_))
    }

    fn lower(&self, schema: &Schema) -> Schema {
        match schema {
            Schema::Json => Schema::Text,
            Schema::List(element) => Schema::List(Box::new(self.element(element))),
            Schema::Map(value) => {
                let entry = vec![
                    field(KEY, Presence::Always, Schema::Text),
                    field(VALUE, Presence::Always, self.lower(value)),
                ];
                Schema::List(Box::new(Schema::Struct(entry)))
            }
            Schema::Struct(fields) => Schema::Struct(
                fields
                    .iter()
                    .map(|own| {
                        let lowered = self.lower(&own.schema);
                        let lowered = if self.is_wrapped_list(own) {
                            wrapper(Presence::Always, lowered)
                        } else {
                            lowered
                        };
                        field(&own.name, own.presence, lowered)
                    })
                    .collect(),
            ),
            Schema::Nullable(inner) => {
                let own = field(VALUE, Presence::NullIfMissing, (**inner).clone());
                self.lower(&Schema::Struct(vec![own]))
            }
            scalar => scalar.clone(),
        }
    }

    fn element(&self, element: &Schema) -> Schema {
        let lowered = self.lower(element);
        if element.is_container() {
            wrapper(Presence::Always, lowered)
        } else {
            lowered
        }
    }

    fn is_wrapped_list(&self, field: &Field) -> bool {
        self.wrap_optional_lists && field.presence != Presence::Always && field.schema.is_container()
    }

    /// The value as the lowered schema has it. A value that is not of the original schema stays as it is, and is refused by the writer.
    pub(crate) fn lower_value<'a>(&self, value: &'a Value) -> Cow<'a, Value> {
        if self.identical {
            return Cow::Borrowed(value);
        }
        let lowered = self.lower_by(&self.original, value);
        Cow::Owned(if self.is_wrapped_root() { wrap(lowered) } else { lowered })
    }

    fn lower_by(&self, schema: &Schema, value: &Value) -> Value {
        match (schema, value) {
            (Schema::Json, value) => Value::String(value.to_string()),
            (Schema::List(element), Value::Array(values)) => {
                let lowered = values.iter().map(|value| {
                    let lowered = self.lower_by(element, value);
                    if element.is_container() { wrap(lowered) } else { lowered }
                });
                Value::Array(lowered.collect())
            }
            (Schema::Map(element), Value::Object(members)) => {
                let entry = |(key, value): (&String, &Value)| {
                    let members = [
                        (KEY.to_owned(), Value::String(key.clone())),
                        (VALUE.to_owned(), self.lower_by(element, value)),
                    ];
                    Value::Object(Map::from_iter(members))
                };
                Value::Array(members.iter().map(entry).collect())
            }
            (Schema::Struct(fields), Value::Object(members)) => {
                let mut lowered = Map::new();
                for (name, value) in members {
                    let Some(own) = fields.iter().find(|field| field.name == *name) else {
                        lowered.insert(name.clone(), value.clone());
                        continue;
                    };
                    if own.presence == Presence::NullIfMissing && value.is_null() {
                        lowered.insert(name.clone(), Value::Null);
                        continue;
                    }
                    let value = self.lower_by(&own.schema, value);
                    lowered.insert(
                        name.clone(),
                        if self.is_wrapped_list(own) { wrap(value) } else { value },
                    );
                }
                Value::Object(lowered)
            }
            (Schema::Nullable(_), Value::Null) => wrap(Value::Null),
            (Schema::Nullable(inner), value) => {
                let own = field(VALUE, Presence::NullIfMissing, (**inner).clone());
                let mut members = Map::new();
                members.insert(VALUE.to_owned(), value.clone());
                self.lower_by(&Schema::Struct(vec![own]), &Value::Object(members))
            }
            (_, value) => value.clone(),
        }
    }

    /// The value as the original schema has it.
    ///
    /// # Errors
    /// When text that should be JSON is not, or a part is missing.
    pub(crate) fn raise_value(&self, value: Value) -> Result<Value, String> {
        if self.identical {
            return Ok(value);
        }
        let value = if self.is_wrapped_root() { unwrap(value)? } else { value };
        self.raise_by(&self.original, value)
    }

    fn raise_by(&self, schema: &Schema, value: Value) -> Result<Value, String> {
        Ok(match (schema, value) {
            (Schema::Json, Value::String(text)) => serde_json::from_str(&text).map_err(|error| error.to_string())?,
            (Schema::List(element), Value::Array(values)) => {
                let raise = |value: Value| {
                    let value = if element.is_container() { unwrap(value)? } else { value };
                    self.raise_by(element, value)
                };
                Value::Array(values.into_iter().map(raise).collect::<Result<_, String>>()?)
            }
            (Schema::Map(element), Value::Array(entries)) => {
                let raise = |entry: Value| match entry {
                    Value::Object(mut members) => match (members.remove(KEY), members.remove(VALUE)) {
                        (Some(Value::String(key)), Some(value)) => Ok((key, self.raise_by(element, value)?)),
                        _ => Err("an entry of a map lacks its key or value".to_owned()),
                    },
                    _ => Err("an entry of a map is no message".to_owned()),
                };
                Value::Object(entries.into_iter().map(raise).collect::<Result<_, String>>()?)
            }
            (Schema::Struct(fields), Value::Object(mut members)) => {
                let mut raised = Map::new();
                for own in fields {
                    let Some(value) = members.remove(&own.name) else {
                        continue;
                    };
                    let value = match value {
                        Value::Null if own.presence == Presence::NullIfMissing => Value::Null,
                        value if self.is_wrapped_list(own) => self.raise_by(&own.schema, unwrap(value)?)?,
                        value => self.raise_by(&own.schema, value)?,
                    };
                    raised.insert(own.name.clone(), value);
                }
                Value::Object(raised)
            }
            (Schema::Nullable(inner), Value::Object(members)) => {
                let own = field(VALUE, Presence::NullIfMissing, (**inner).clone());
                unwrap(self.raise_by(&Schema::Struct(vec![own]), Value::Object(members))?)?
            }
            (_, value) => value,
        })
    }
}

fn field(name: &str, presence: Presence, schema: Schema) -> Field {
    Field {
        name: name.to_owned(),
        presence,
        schema,
    }
}

fn wrapper(presence: Presence, schema: Schema) -> Schema {
    Schema::Struct(vec![field(VALUE, presence, schema)])
}

fn wrap(value: Value) -> Value {
    Value::Object(Map::from_iter([(VALUE.to_owned(), value)]))
}

fn unwrap(value: Value) -> Result<Value, String> {
    match value {
        Value::Object(mut members) => members
            .remove(VALUE)
            .ok_or_else(|| "a message around a value is empty".to_owned()),
        _ => Err("a message around a value is missing".to_owned()),
    }
}
