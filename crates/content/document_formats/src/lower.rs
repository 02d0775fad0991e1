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
    schema: Schema,
    original: Schema,
    identical: bool,
    /// Whether a message around a list distinguishes a missing one from an empty one.
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
            root => wrapper_if(true, root),
        };
        lowered.identical = lowered.schema == *original;
        lowered
    }

    /// The fields of the root.
    pub(crate) fn fields(&self) -> &[Field] {
        match &self.schema {
            Schema::Struct(fields) => fields,
            _ => unreachable!("the root of a lowered schema is a struct"),
        }
    }

    fn is_wrapped_root(&self) -> bool {
        !matches!(self.original, Schema::Struct(_) | Schema::Nullable(_))
    }

    fn lower(&self, schema: &Schema) -> Schema {
        match schema {
            Schema::Json => Schema::Text,
            Schema::List(element) => Schema::List(Box::new(wrapper_if(element.is_container(), self.lower(element)))),
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
                        let lowered = wrapper_if(self.is_wrapped_list(own), self.lower(&own.schema));
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

    fn is_wrapped_list(&self, field: &Field) -> bool {
        self.wrap_optional_lists && field.presence != Presence::Always && field.schema.is_container()
    }

    /// The value as the lowered schema has it. A value that is not of the original schema stays as it is, and is refused by the writer.
    pub(crate) fn lower_value<'a>(&self, value: &'a Value) -> Cow<'a, Value> {
        if self.identical {
            return Cow::Borrowed(value);
        }
        Cow::Owned(wrap_if(self.is_wrapped_root(), self.lower_by(&self.original, value)))
    }

    fn lower_by(&self, schema: &Schema, value: &Value) -> Value {
        match (schema, value) {
            (Schema::Json, value) => Value::String(value.to_string()),
            (Schema::List(element), Value::Array(values)) => {
                let lower = |value| wrap_if(element.is_container(), self.lower_by(element, value));
                Value::Array(values.iter().map(lower).collect())
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
                    lowered.insert(name.clone(), wrap_if(self.is_wrapped_list(own), value));
                }
                Value::Object(lowered)
            }
            (Schema::Nullable(_), Value::Null) => wrap_if(true, Value::Null),
            (Schema::Nullable(inner), value) => {
                let own = field(VALUE, Presence::NullIfMissing, (**inner).clone());
                self.lower_by(&Schema::Struct(vec![own]), &wrap_if(true, value.clone()))
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
        self.raise_by(&self.original, unwrap_if(self.is_wrapped_root(), value)?)
    }

    fn raise_by(&self, schema: &Schema, value: Value) -> Result<Value, String> {
        Ok(match (schema, value) {
            (Schema::Json, Value::String(text)) => serde_json::from_str(&text).map_err(|error| error.to_string())?,
            (Schema::List(element), Value::Array(values)) => {
                let raise = |value| self.raise_by(element, unwrap_if(element.is_container(), value)?);
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
                        value => self.raise_by(&own.schema, unwrap_if(self.is_wrapped_list(own), value)?)?,
                    };
                    raised.insert(own.name.clone(), value);
                }
                Value::Object(raised)
            }
            (Schema::Nullable(inner), Value::Object(members)) => {
                let own = field(VALUE, Presence::NullIfMissing, (**inner).clone());
                unwrap_if(true, self.raise_by(&Schema::Struct(vec![own]), Value::Object(members))?)?
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

/// The schema of a message around a value, if it is wrapped.
fn wrapper_if(wrapped: bool, schema: Schema) -> Schema {
    if wrapped {
        Schema::Struct(vec![field(VALUE, Presence::Always, schema)])
    } else {
        schema
    }
}

fn wrap_if(wrapped: bool, value: Value) -> Value {
    if wrapped {
        Value::Object(Map::from_iter([(VALUE.to_owned(), value)]))
    } else {
        value
    }
}

fn unwrap_if(wrapped: bool, value: Value) -> Result<Value, String> {
    match value {
        value if !wrapped => Ok(value),
        Value::Object(mut members) => members
            .remove(VALUE)
            .ok_or_else(|| "a message around a value is empty".to_owned()),
        _ => Err("a message around a value is missing".to_owned()),
    }
}
