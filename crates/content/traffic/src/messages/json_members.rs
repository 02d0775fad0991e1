//! The members of a JSON object, with their values as they are written.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The members of an object, in their order.
#[derive(Debug)]
pub(super) struct Members<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The members of this value; none where it is not an object.
    pub(super) fn of(value: &'a RawValue) -> Option<Self> {
        serde_json::from_str(value.get()).ok()
    }

    /// The value at a dotted path. A key that contains dots is found too: at each object, the longest key counts.
    pub(super) fn find(&self, path: &str) -> Option<&'a RawValue> {
        let whole = self.0.iter().rev().find(|(key, _)| key == path);
        if let Some((_, value)) = whole {
            return Some(value);
        }
        path.rmatch_indices('.').find_map(|(dot, _)| {
            let (_, value) = self.0.iter().rev().find(|(key, _)| *key == path[..dot])?;
            Members::of(value)?.find(&path[dot + 1..])
        })
    }
}

/// The text of a text, number or Boolean; none for any other value.
pub(super) fn scalar_text(value: &RawValue) -> Option<String> {
    match value.get() {
        "null" => None,
        text if text.starts_with('"') => serde_json::from_str(text).ok(),
        list if list.starts_with(['{', '[']) => None,
        scalar => Some(scalar.to_owned()),
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &'de RawValue>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_into_objects_and_through_keys_with_dots() {
        let line = r#"{"a":{"b":{"c":1},"b.c":2},"a.d":{"e":[ 3 ]},"t":"x\ny"}"#;
        let members: Members = serde_json::from_str(line).unwrap();
        let found = |path| members.find(path).map(RawValue::get);
        assert_eq!(found("a.b.c"), Some("2"));
        assert_eq!(found("a.b"), Some(r#"{"c":1}"#));
        assert_eq!(found("a.d.e"), Some("[ 3 ]"), "as it stands");
        assert_eq!((found("a.x"), found("t.x"), found("")), (None, None, None));
        assert_eq!(members.find("t").and_then(scalar_text).as_deref(), Some("x\ny"));
        assert_eq!(members.find("a").and_then(scalar_text), None);
    }
}
