//! A schema from documents: the narrowest that holds all of them.

use crate::schema::{Field, Presence, Schema};
use serde_json::{Number, Value};
use std::collections::BTreeMap;

/// An object with more different keys than this, each of them in few objects, is a map: our own choice.
const STRUCT_FIELDS_MAX: usize = 64;

/// The greatest whole number that a 64-bit float holds with all its neighbours.
const FLOAT_INTEGER_MAX: i128 = 1 << 53;

/// What was seen in one place of all documents.
#[derive(Debug, Clone, Default)]
struct Shape {
    null: bool,
    bool: bool,
    integers: Option<(i128, i128)>,
    float: bool,
    text: bool,
    list: Option<Box<Shape>>,
    objects: usize,
    fields: BTreeMap<String, (usize, Shape)>,
}

/// The narrowest schema that holds every document.
pub fn infer<'a>(documents: impl IntoIterator<Item = &'a Value>) -> Schema {
    let mut shape = Shape::default();
    for document in documents {
        shape.add(document);
    }
    shape.schema()
}

impl Shape {
    fn add(&mut self, value: &Value) {
        match value {
            Value::Null => self.null = true,
            Value::Bool(_) => self.bool = true,
            Value::Number(number) => match integer(number) {
                Some(integer) => {
                    let (min, max) = self.integers.unwrap_or((integer, integer));
                    self.integers = Some((min.min(integer), max.max(integer)));
                }
                None => self.float = true,
            },
            Value::String(_) => self.text = true,
            Value::Array(elements) => {
                let shape = self.list.get_or_insert_default();
                elements.iter().for_each(|element| shape.add(element));
            }
            Value::Object(members) => {
                self.objects += 1;
                for (name, value) in members {
                    if !self.fields.contains_key(name) {
                        self.fields.insert(name.clone(), Default::default());
                    }
                    let (seen, shape) = self.fields.get_mut(name).expect("it was inserted");
                    *seen += 1;
                    shape.add(value);
                }
            }
        }
    }

    fn schema(self) -> Schema {
        let null = self.null;
        match self.without_null() {
            Schema::Json if !null => Schema::Json,
            schema if null => Schema::Nullable(Box::new(schema)),
            schema => schema,
        }
    }

    fn without_null(self) -> Schema {
        let number = self.integers.is_some() || self.float;
        let types = [self.bool, number, self.text, self.list.is_some(), self.objects > 0];
        if types.iter().filter(|seen| **seen).count() != 1 {
            return Schema::Json;
        }
        if self.bool {
            Schema::Bool
        } else if self.text {
            Schema::Text
        } else if let Some(elements) = self.list {
            Schema::List(Box::new(elements.schema()))
        } else if self.objects > 0 {
            fields(self.fields, self.objects)
        } else {
            match self.integers {
                Some((min, max)) if min < 0 && max > i128::from(i64::MAX) => Schema::Json,
                Some((min, max)) if !self.float => Schema::Integer { min, max },
                Some((min, max)) if min < -FLOAT_INTEGER_MAX || max > FLOAT_INTEGER_MAX => Schema::Json,
                _ => Schema::Float,
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.null |= other.null;
        self.bool |= other.bool;
        self.float |= other.float;
        self.text |= other.text;
        if let Some((min, max)) = other.integers {
            let (own_min, own_max) = self.integers.unwrap_or((min, max));
            self.integers = Some((own_min.min(min), own_max.max(max)));
        }
        if let Some(list) = other.list {
            self.list.get_or_insert_default().merge(*list);
        }
        self.objects += other.objects;
        for (name, (count, shape)) in other.fields {
            let (seen, own) = self.fields.entry(name).or_default();
            *seen += count;
            own.merge(shape);
        }
    }
}

fn fields(fields: BTreeMap<String, (usize, Shape)>, objects: usize) -> Schema {
    if fields.is_empty() {
        return Schema::Json;
    }
    let seen: usize = fields.values().map(|(seen, _)| seen).sum();
    if fields.len() > STRUCT_FIELDS_MAX && 4 * seen < fields.len() * objects {
        let mut values = Shape::default();
        fields.into_values().for_each(|(_, shape)| values.merge(shape));
        return Schema::Map(Box::new(values.schema()));
    }
    let field = |(name, (seen, shape)): (String, (usize, Shape))| {
        let (presence, schema) = match (seen == objects, shape.schema()) {
            (true, Schema::Nullable(schema)) => (Presence::NullIfMissing, *schema),
            (true, schema) => (Presence::Always, schema),
            (false, schema) => (Presence::Optional, schema),
        };
        Field { name, presence, schema }
    };
    Schema::Struct(fields.into_iter().map(field).collect())
}

/// A number that was written without a fraction.
pub(crate) fn integer(number: &Number) -> Option<i128> {
    number
        .as_i64()
        .map(i128::from)
        .or_else(|| number.as_u64().map(i128::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn field(name: &str, presence: Presence, schema: Schema) -> Field {
        Field {
            name: name.to_owned(),
            presence,
            schema,
        }
    }

    #[test]
    fn fields_are_optional_null_or_mixed_as_they_were_seen() {
        let documents = [
            json!({"a": 1, "b": null, "c": "x", "d": [1.5, 2], "e": {}, "f": null}),
            json!({"a": -7, "b": true, "d": [], "e": {}, "g": [[1]]}),
            json!({"a": 300, "b": false, "c": 5, "d": [2], "e": {}, "f": 1}),
        ];
        let expected = Schema::Struct(vec![
            field("a", Presence::Always, Schema::Integer { min: -7, max: 300 }),
            field("b", Presence::NullIfMissing, Schema::Bool),
            field("c", Presence::Optional, Schema::Json),
            field("d", Presence::Always, Schema::List(Box::new(Schema::Float))),
            field("e", Presence::Always, Schema::Json),
            field(
                "f",
                Presence::Optional,
                Schema::Nullable(Box::new(Schema::Integer { min: 1, max: 1 })),
            ),
            field(
                "g",
                Presence::Optional,
                Schema::List(Box::new(Schema::List(Box::new(Schema::Integer { min: 1, max: 1 })))),
            ),
        ]);
        assert_eq!(infer(&documents), expected);
    }

    #[test]
    fn an_object_with_many_rare_keys_is_a_map() {
        let documents: Vec<Value> = (0..100).map(|id| json!({ format!("user-{id}"): id })).collect();
        assert_eq!(
            infer(&documents),
            Schema::Map(Box::new(Schema::Integer { min: 0, max: 99 }))
        );
    }

    #[test]
    fn a_whole_number_that_no_machine_number_holds_keeps_its_digits() {
        assert_eq!(infer(&[json!(0.5), json!(9_007_199_254_740_993_i64)]), Schema::Json);
        assert_eq!(infer(&[json!(u64::MAX), json!(-1)]), Schema::Json);
        let unsigned = Schema::Integer {
            min: 0,
            max: u64::MAX.into(),
        };
        assert_eq!(infer(&[json!(u64::MAX), json!(0)]), unsigned);
    }
}
