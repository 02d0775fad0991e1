//! Reads JSON of other tools leniently: a value of the wrong type is accepted where its meaning is plain.
//!
//! HAR files write `null`, `-1`, `"12"` and `12.0` for a count, leave out fields of objects, and write `[]` for an empty object.
//! A value that cannot be converted counts as absent; broken JSON is still an error.

use super::json_value::JsonValue;
use lastmile_units::ByteCount;
use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::fmt;
use std::time::Duration;

/// A number, written as a number or as text; absent where it is neither.
#[derive(Debug, Default, Clone, Copy, PartialEq, serde::Deserialize)]
#[serde(from = "JsonValue")]
pub(crate) struct Number(Option<f64>);

impl Number {
    /// As it is written, below 0 too.
    pub(crate) const fn value(self) -> Option<f64> {
        self.0
    }

    /// As a count of bytes; none below 0, which means "unknown" in HAR.
    pub(crate) fn bytes(self) -> Option<ByteCount> {
        let count = self.0.filter(|value| (0.0..=9e15).contains(value))?;
        Some(ByteCount::new(count.round() as u64))
    }

    /// As milliseconds; none below 0.
    pub(crate) fn milliseconds(self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.0? / 1e3).ok()
    }

    /// As a whole number from 0 to 1e9; none otherwise.
    pub(crate) fn whole(self) -> Option<u32> {
        let small = |value: &f64| (0.0..=1e9).contains(value) && value.fract() == 0.0;
        self.0.filter(small).map(|value| value as u32)
    }

    /// As an HTTP status code.
    pub(crate) fn status(self) -> Option<u16> {
        self.0
            .filter(|value| (100.0..1000.0).contains(value))
            .map(|value| value as u16)
    }
}

/// A time, rounded to a microsecond. None below 0 or beyond 126 years: up to there a double resolves microseconds, whether it counts
/// seconds or milliseconds.
pub(crate) fn microseconds(count: f64) -> Option<Duration> {
    let count = count.round();
    (0.0..=4e15)
        .contains(&count)
        .then(|| Duration::from_micros(count as u64))
}

/// A time in seconds, to the microsecond.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(from = "JsonValue")]
pub(crate) enum LenientTime {
    /// Missing or null.
    #[default]
    Absent,
    /// Not a number, below 0, or too large.
    Unreadable,
    At(Duration),
}

impl LenientTime {
    fn seconds(count: f64) -> Self {
        microseconds(count * 1e6).map_or(Self::Unreadable, Self::At)
    }
}

/// A text; a number or Boolean counts as its written form. Absent for any other value.
#[derive(Debug, Default, Clone, PartialEq, serde::Deserialize)]
#[serde(from = "JsonValue")]
pub(crate) struct Text(pub(crate) Option<String>);

impl Text {
    /// The text; none where it is empty.
    pub(crate) fn filled(self) -> Option<String> {
        self.0.filter(|text| !text.is_empty())
    }

    /// The text, or an empty one.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

/// Whether a field is present and is not null, false or empty.
#[derive(Debug, Default, Clone, Copy, PartialEq, serde::Deserialize)]
#[serde(from = "JsonValue")]
pub(crate) struct LenientBool(pub(crate) bool);

/// The bytes of a text. An unpaired surrogate, which tools write in binary bodies, becomes three bytes (WTF-8).
#[derive(Debug, Default, PartialEq)]
pub(crate) struct TextBytes(pub(crate) Option<Vec<u8>>);

impl From<JsonValue> for Number {
    fn from(value: JsonValue) -> Self {
        Self(match value {
            JsonValue::Text(text) => text.trim().parse().ok(),
            other => other.number().ok(),
        })
    }
}

impl From<JsonValue> for LenientTime {
    fn from(value: JsonValue) -> Self {
        let seconds = match value {
            JsonValue::Null => return Self::Absent,
            JsonValue::Text(text) => text.trim().parse().ok(),
            other => other.number().ok(),
        };
        seconds.map_or(Self::Unreadable, Self::seconds)
    }
}

impl From<JsonValue> for Text {
    fn from(value: JsonValue) -> Self {
        Self(match value {
            JsonValue::Truth(truth) => Some(truth.to_string()),
            JsonValue::Text(text) => Some(text),
            other => other.number().ok().map(|number| number.to_string()),
        })
    }
}

impl From<JsonValue> for LenientBool {
    fn from(value: JsonValue) -> Self {
        Self(match value {
            JsonValue::Truth(truth) => truth,
            JsonValue::Text(text) => !text.is_empty(),
            JsonValue::List(length) | JsonValue::Object(length) => length > 0,
            other => other.number().is_ok_and(|number| number != 0.0),
        })
    }
}

impl<'de> Deserialize<'de> for TextBytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct OrNull;
        impl<'de> Visitor<'de> for OrNull {
            type Value = TextBytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or null")
            }
            fn visit_none<E>(self) -> Result<TextBytes, E> {
                Ok(TextBytes(None))
            }
            fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<TextBytes, D::Error> {
                from.deserialize_bytes(Bytes)
            }
        }
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = TextBytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<TextBytes, E> {
                Ok(TextBytes(Some(bytes.to_vec())))
            }
            fn visit_str<E>(self, text: &str) -> Result<TextBytes, E> {
                Ok(TextBytes(Some(text.as_bytes().to_vec())))
            }
        }
        from.deserialize_option(OrNull)
    }
}

/// Declares a JSON object whose fields may all be absent, null or repeated (the last one counts); unknown fields are ignored.
macro_rules! lenient_object {
    ($(#[$doc:meta])* $vis:vis $name:ident, $what:literal { $($key:literal => $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        $vis struct $name {
            $($field: $type,)*
        }
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Fields;
                impl<'de> serde::de::Visitor<'de> for Fields {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($what)
                    }
                    fn visit_unit<E>(self) -> Result<$name, E> {
                        Ok($name::default())
                    }
                    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, list: A) -> Result<$name, A::Error> {
                        crate::reading::lenient::empty_list(list, &self)?;
                        Ok($name::default())
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let mut object = $name::default();
                        while let Some(key) = map.next_key::<String>()? {
                            match key.as_str() {
                                $($key => object.$field = map.next_value()?,)*
                                _ => drop(map.next_value::<serde::de::IgnoredAny>()?),
                            }
                        }
                        Ok(object)
                    }
                }
                from.deserialize_any(Fields)
            }
        }
    };
}
pub(crate) use lenient_object;

/// Accepts `[]` for an empty object, as some languages write it.
pub(crate) fn empty_list<'de, A: SeqAccess<'de>>(mut list: A, expected: &impl Visitor<'de>) -> Result<(), A::Error> {
    match list.next_element::<IgnoredAny>()? {
        None => Ok(()),
        Some(_) => Err(serde::de::Error::invalid_type(serde::de::Unexpected::Seq, expected)),
    }
}
