//! Any JSON value, so that an error can name what was found in place of the expected type.

use crate::reading::excerpt::{Number, shortened};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A JSON value, without the contents of lists and objects.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Truth(bool),
    /// A whole number, 0 or more.
    Count(u64),
    /// Any other number.
    Number(f64),
    Text(String),
    List,
    Object,
}

impl Value {
    /// The text, where it is one.
    pub(crate) fn text(self) -> Result<String, Self> {
        match self {
            Self::Text(text) => Ok(text),
            other => Err(other),
        }
    }

    /// The number, where it is one.
    pub(crate) fn number(self) -> Result<f64, Self> {
        match self {
            Self::Count(count) => Ok(count as f64),
            Self::Number(number) => Ok(number),
            other => Err(other),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Truth(truth) => write!(f, "{truth}"),
            Self::Count(count) => write!(f, "{count}"),
            Self::Number(number) => write!(f, "{}", Number(*number)),
            Self::Text(text) => write!(f, "{:?}", shortened(text)),
            Self::List => f.write_str("a list"),
            Self::Object => f.write_str("an object"),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
                Ok(Value::Truth(truth))
            }
            fn visit_u64<E>(self, count: u64) -> Result<Value, E> {
                Ok(Value::Count(count))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
                Ok(Value::Number(number as f64))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
                Ok(Value::Number(number))
            }
            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Value::List)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
                while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Value::Object)
            }
        }
        from.deserialize_any(Any)
    }
}
