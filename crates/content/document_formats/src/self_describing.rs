//! JSON, MessagePack and CBOR: encodings that carry the names and types of what they hold.

use crate::Encoding;
use crate::scalar::{from_float, whole};
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::fmt;

/// The deepest nesting that is read: that of serde_json.
const DEPTH_MAX: usize = 128;

/// The most elements that memory is set aside for before they are read: our own choice.
pub(crate) const RESERVED_MAX: usize = 1024;

pub(crate) fn encode(encoding: Encoding, document: &impl Serialize) -> Result<Vec<u8>, String> {
    match encoding {
        Encoding::Json => serde_json::to_vec(document).map_err(|error| error.to_string()),
        Encoding::Cbor => {
            let mut writer = minicbor_serde::Serializer::new(Vec::new());
            // As MessagePack has it, and most JSON bridges: null is null, and not an empty array.
            writer.serialize_unit_as_null(true);
            document.serialize(&mut writer).map_err(|error| error.to_string())?;
            Ok(writer.into_encoder().into_writer())
        }
        _ => rmp_serde::to_vec_named(document).map_err(|error| error.to_string()),
    }
}

/// The text of a document, with the keys of its objects in the order in which they stand there.
pub(crate) fn encode_text(encoding: Encoding, text: &str) -> Result<Vec<u8>, String> {
    let document: &RawValue = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match encoding {
        Encoding::Json => Ok(text.as_bytes().to_vec()),
        _ => encode(encoding, &JsonText(document)),
    }
}

/// The text of a value.
struct JsonText<'a>(&'a RawValue);

impl Serialize for JsonText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.0.get();
        let unreadable = |error: serde_json::Error| S::Error::custom(error);
        match text.as_bytes().first() {
            Some(b'{') => {
                let Members(members) = serde_json::from_str(text).map_err(unreadable)?;
                serializer.collect_map(members.into_iter().map(|(key, value)| (key, JsonText(value))))
            }
            Some(b'[') => {
                let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(unreadable)?;
                serializer.collect_seq(elements.into_iter().map(JsonText))
            }
            _ => {
                let scalar: Value = serde_json::from_str(text).map_err(unreadable)?;
                scalar.serialize(serializer)
            }
        }
    }
}

/// The members of an object, in their order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = entries.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

pub(crate) fn decode(encoding: Encoding, bytes: &[u8]) -> Result<Value, String> {
    let root = AnyValue { depth: 0 };
    match encoding {
        Encoding::Json => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
        Encoding::Cbor => {
            let mut reader = minicbor_serde::Deserializer::new(bytes);
            let value = root.deserialize(&mut reader).map_err(|error| error.to_string())?;
            whole(value, bytes.len() - reader.decoder().position())
        }
        _ => decode_message_pack(root, bytes),
    }
}

pub(crate) fn decode_message_pack<'a>(
    seed: impl DeserializeSeed<'a, Value = Value>,
    bytes: &'a [u8],
) -> Result<Value, String> {
    let mut reader = rmp_serde::Deserializer::new(bytes);
    let value = seed.deserialize(&mut reader).map_err(|error| error.to_string())?;
    whole(value, reader.get_ref().len())
}

/// Reads a value of any type, to a limited depth.
#[derive(Clone, Copy)]
struct AnyValue {
    depth: usize,
}

impl AnyValue {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        if self.depth == DEPTH_MAX {
            return Err(E::custom(format!("values are nested more than {DEPTH_MAX} deep")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for AnyValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value that JSON has")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        self.deserialize(reader)
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
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut values = Vec::with_capacity(elements.size_hint().unwrap_or_default().min(RESERVED_MAX));
        while let Some(value) = elements.next_element_seed(inner)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut members = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if members.insert(key, entries.next_value_seed(inner)?).is_some() {
                return Err(de::Error::custom("a key stands twice in an object"));
            }
        }
        Ok(Value::Object(members))
    }
}
