//! Any JSON value: what lenient readers convert, and strict ones name in errors in place of the expected type.

use crate::reading::excerpt::{Number, shortened};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A JSON value, without the contents of lists and objects.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JsonValue {
    Null,
    Truth(bool),
    /// A whole number, 0 or more.
    Count(u64),
    /// Any other number.
    Number(f64),
    Text(String),
    /// A list of so many elements.
    List(usize),
    /// An object of so many members.
    Object(usize),
}

impl JsonValue {
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

impl fmt::Display for JsonValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Truth(truth) => write!(f, "{truth}"),
            Self::Count(count) => write!(f, "{count}"),
            Self::Number(number) => write!(f, "{}", Number(*number)),
            Self::Text(text) => write!(f, "{:?}", shortened(text)),
            Self::List(_) => f.write_str("a list"),
            Self::Object(_) => f.write_str("an object"),
        }
    }
}

impl<'de> Deserialize<'de> for JsonValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = JsonValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_unit<E>(self) -> Result<JsonValue, E> {
                Ok(JsonValue::Null)
            }
            fn visit_bool<E>(self, truth: bool) -> Result<JsonValue, E> {
                Ok(JsonValue::Truth(truth))
            }
            fn visit_u64<E>(self, count: u64) -> Result<JsonValue, E> {
                Ok(JsonValue::Count(count))
            }
            fn visit_i64<E>(self, number: i64) -> Result<JsonValue, E> {
                Ok(JsonValue::Number(number as f64))
            }
            fn visit_f64<E>(self, number: f64) -> Result<JsonValue, E> {
                Ok(JsonValue::Number(number))
            }
            fn visit_str<E>(self, text: &str) -> Result<JsonValue, E> {
                Ok(JsonValue::Text(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonValue, A::Error> {
                let mut length = 0;
                while list.next_element::<IgnoredAny>()?.is_some() {
                    length += 1;
                }
                Ok(JsonValue::List(length))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<JsonValue, A::Error> {
                let mut length = 0;
                while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                    length += 1;
                }
                Ok(JsonValue::Object(length))
            }
        }
        from.deserialize_any(Any)
    }
}
