//! Values by their schema, for serde: how positional encodings write a document, and read it again.
//!
//! Structs become tuples, since names are left out. Maps are sequences of pairs where the encoding has no maps, which is the same
//! bytes. An option is an option, or a sequence of none or one where the encoding has none.

use crate::scalar::{from_float, mismatch, missing, refuse_unknown, whole_number, written_value};
use crate::schema::{Field, IntegerWidth, Presence, Schema};
use crate::self_describing::RESERVED_MAX;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap as _, SerializeSeq as _, SerializeTuple as _};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt;

/// What an encoding has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dialect {
    /// Options.
    pub(crate) options: bool,
    /// None is written as null, so that an option within an option must be written as a sequence.
    pub(crate) none_is_null: bool,
    /// Unsigned numbers of more than a byte.
    pub(crate) unsigned: bool,
}

/// A value that is written by its schema.
pub(crate) struct Typed<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) value: &'a Value,
    pub(crate) dialect: Dialect,
}

impl Dialect {
    /// The bytes of a whole number, and whether it has a sign. None where 64 bits are too few.
    fn width(self, min: i128, max: i128) -> Option<(usize, bool)> {
        let width = if self.unsigned {
            Some(IntegerWidth::of(min, max))
        } else {
            IntegerWidth::signed_of(min, max)
        };
        width.map(|width| (width.bytes, width.signed))
    }

    fn has_option_of(self, schema: &Schema) -> bool {
        self.options && !(self.none_is_null && matches!(schema, Schema::Nullable(_)))
    }
}

impl<'a> Typed<'a> {
    fn maybe(&self, schema: &'a Schema, value: Option<&'a Value>) -> Maybe<'a> {
        Maybe {
            value: value.map(|value| self.with(schema, value)),
            native: self.dialect.has_option_of(schema),
        }
    }

    fn with(&self, schema: &'a Schema, value: &'a Value) -> Self {
        Self {
            schema,
            value,
            dialect: self.dialect,
        }
    }
}

/// A value that may be missing.
struct Maybe<'a> {
    value: Option<Typed<'a>>,
    native: bool,
}

impl Serialize for Maybe<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.native {
            return match &self.value {
                Some(value) => serializer.serialize_some(value),
                None => serializer.serialize_none(),
            };
        }
        let mut sequence = serializer.serialize_seq(Some(self.value.iter().len()))?;
        self.value
            .iter()
            .try_for_each(|value| sequence.serialize_element(value))?;
        sequence.end()
    }
}

impl Serialize for Typed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.schema, self.value) {
            (Schema::Bool, Value::Bool(value)) => serializer.serialize_bool(*value),
            (Schema::Integer { min, max }, Value::Number(number)) => {
                let number = whole_number(number, *min, *max).map_err(S::Error::custom)?;
                match self.dialect.width(*min, *max) {
                    Some((1, false)) => serializer.serialize_u8(number as u8),
                    Some((2, false)) => serializer.serialize_u16(number as u16),
                    Some((4, false)) => serializer.serialize_u32(number as u32),
                    Some((_, false)) => serializer.serialize_u64(number as u64),
                    Some((1, true)) => serializer.serialize_i8(number as i8),
                    Some((2, true)) => serializer.serialize_i16(number as i16),
                    Some((4, true)) => serializer.serialize_i32(number as i32),
                    Some((_, true)) if number <= i128::from(i64::MAX) => serializer.serialize_i64(number as i64),
                    _ => Err(S::Error::custom(format!(
                        "{number} does not fit into a signed number of 64 bits"
                    ))),
                }
            }
            (Schema::Float, Value::Number(number)) => {
                serializer.serialize_f64(number.as_f64().ok_or_else(|| S::Error::custom("not a finite number"))?)
            }
            (Schema::Text, Value::String(text)) => serializer.serialize_str(text),
            (Schema::Json, value) => serializer.serialize_str(&value.to_string()),
            (Schema::List(element), Value::Array(values)) => {
                let mut sequence = serializer.serialize_seq(Some(values.len()))?;
                values
                    .iter()
                    .try_for_each(|value| sequence.serialize_element(&self.with(element, value)))?;
                sequence.end()
            }
            (Schema::Map(element), Value::Object(members)) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members
                    .iter()
                    .try_for_each(|(key, value)| map.serialize_entry(key, &self.with(element, value)))?;
                map.end()
            }
            (Schema::Struct(fields), Value::Object(members)) => {
                let mut tuple = serializer.serialize_tuple(fields.len())?;
                for field in fields {
                    let value = written_value(&field.name, field.presence, members).map_err(S::Error::custom)?;
                    match value {
                        Some(value) if field.presence == Presence::Always => {
                            tuple.serialize_element(&self.with(&field.schema, value))?;
                        }
                        value => tuple.serialize_element(&self.maybe(&field.schema, value))?,
                    }
                }
                let is_known = |name: &str| fields.iter().any(|field| field.name == name);
                refuse_unknown(members, is_known).map_err(S::Error::custom)?;
                tuple.end()
            }
            (Schema::Nullable(schema), value) => {
                let value = Some(value).filter(|value| !value.is_null());
                self.maybe(schema, value).serialize(serializer)
            }
            (schema, value) => Err(S::Error::custom(mismatch(schema, value))),
        }
    }
}

/// Reads a value by its schema.
#[derive(Clone, Copy)]
pub(crate) struct TypedSeed<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) dialect: Dialect,
}

impl<'a> TypedSeed<'a> {
    fn with(self, schema: &'a Schema) -> Self {
        Self { schema, ..self }
    }
}

impl<'de> DeserializeSeed<'de> for TypedSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        match self.schema {
            Schema::Bool => reader.deserialize_bool(self),
            Schema::Integer { min, max } => match self.dialect.width(*min, *max) {
                Some((1, false)) => reader.deserialize_u8(self),
                Some((2, false)) => reader.deserialize_u16(self),
                Some((4, false)) => reader.deserialize_u32(self),
                Some((_, false)) => reader.deserialize_u64(self),
                Some((1, true)) => reader.deserialize_i8(self),
                Some((2, true)) => reader.deserialize_i16(self),
                Some((4, true)) => reader.deserialize_i32(self),
                _ => reader.deserialize_i64(self),
            },
            Schema::Float => reader.deserialize_f64(self),
            Schema::Text | Schema::Json => reader.deserialize_str(self),
            Schema::List(_) => reader.deserialize_seq(self),
            Schema::Map(_) => reader.deserialize_map(self),
            Schema::Struct(fields) => reader.deserialize_tuple(fields.len(), self),
            Schema::Nullable(schema) => MaybeSeed(self.with(schema))
                .deserialize(reader)
                .map(|value| value.unwrap_or(Value::Null)),
        }
    }
}

impl<'de> Visitor<'de> for TypedSeed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a value of the type {:?}", self.schema)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        from_float(value).map_err(E::custom)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        if *self.schema == Schema::Json {
            return serde_json::from_str(text).map_err(E::custom);
        }
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        match self.schema {
            Schema::Struct(fields) => {
                let mut members = Map::new();
                for field in fields {
                    if let Some(value) = read_field(self, field, &mut elements)? {
                        members.insert(field.name.clone(), value);
                    }
                }
                Ok(Value::Object(members))
            }
            Schema::List(element) => {
                let mut values = Vec::with_capacity(elements.size_hint().unwrap_or_default().min(RESERVED_MAX));
                while let Some(value) = elements.next_element_seed(self.with(element))? {
                    values.push(value);
                }
                Ok(Value::Array(values))
            }
            _ => Err(de::Error::custom("a sequence is not expected here")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let Schema::Map(element) = self.schema else {
            return Err(de::Error::custom("a map is not expected here"));
        };
        let mut members = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            members.insert(key, entries.next_value_seed(self.with(element))?);
        }
        Ok(Value::Object(members))
    }
}

fn read_field<'de, A: SeqAccess<'de>>(
    seed: TypedSeed<'_>,
    field: &Field,
    elements: &mut A,
) -> Result<Option<Value>, A::Error> {
    let seed = seed.with(&field.schema);
    let value = match field.presence {
        Presence::Always => elements.next_element_seed(seed)?.map(Some),
        Presence::Optional => elements.next_element_seed(MaybeSeed(seed))?,
        Presence::NullIfMissing => {
            let value = elements.next_element_seed(MaybeSeed(seed))?;
            value.map(|value| Some(value.unwrap_or(Value::Null)))
        }
    };
    value.ok_or_else(|| de::Error::custom(missing(&field.name)))
}

/// Reads a value that may be missing.
#[derive(Clone, Copy)]
struct MaybeSeed<'a>(TypedSeed<'a>);

impl<'de> DeserializeSeed<'de> for MaybeSeed<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Option<Value>, D::Error> {
        if self.0.dialect.has_option_of(self.0.schema) {
            reader.deserialize_option(self)
        } else {
            reader.deserialize_seq(self)
        }
    }
}

impl<'de> Visitor<'de> for MaybeSeed<'_> {
    type Value = Option<Value>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value or none")
    }

    fn visit_none<E: de::Error>(self) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<Option<Value>, D::Error> {
        self.0.deserialize(reader).map(Some)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Option<Value>, A::Error> {
        let value = elements.next_element_seed(self.0)?;
        if elements.next_element_seed(self.0)?.is_some() {
            return Err(de::Error::custom("an optional value has two values"));
        }
        Ok(value)
    }
}
