//! Compares a message that was decoded with the document that it came from, member by member.

use super::join;
use super::misfit::{field_named, is_well_known, read};
use crate::infer::integer;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, ReflectMessage as _, Value as Held};
use serde_json::Value;
use std::collections::BTreeSet;

/// The first field in which a message differs from the document.
pub(super) fn difference(document: &Value, message: &DynamicMessage, path: &str) -> Option<String> {
    let descriptor = message.descriptor();
    if is_well_known(&descriptor) {
        let json = |message: &DynamicMessage| serde_json::to_value(message).ok();
        let same = read(&descriptor, document).is_ok_and(|read| json(&read) == json(message));
        return (!same).then(|| path.to_owned());
    }
    let Value::Object(members) = document else {
        return Some(path.to_owned());
    };
    let mut named = BTreeSet::new();
    for (name, value) in members {
        let at = join(path, name);
        let Some(field) = field_named(&descriptor, name) else {
            let held = descriptor
                .get_extension_by_json_name(name)
                .is_some_and(|extension| value.is_null() || message.has_extension(&extension));
            if held {
                continue;
            }
            return Some(at);
        };
        named.insert(field.number());
        let is_held = message.has_field(&field);
        if value.is_null() && !is_held {
            continue;
        }
        if field.supports_presence() && !is_held {
            return Some(at);
        }
        let different = field_difference(&field, value, &message.get_field(&field), &at);
        if different.is_some() {
            return different;
        }
    }
    message
        .fields()
        .find(|(field, _)| !named.contains(&field.number()))
        .map(|(field, _)| join(path, field.json_name()))
}

fn field_difference(field: &FieldDescriptor, value: &Value, held: &Held, at: &str) -> Option<String> {
    match (held, value) {
        (Held::List(held), Value::Array(values)) if held.len() == values.len() => values
            .iter()
            .zip(held)
            .zip(0_usize..)
            .find_map(|((value, held), index)| value_difference(&field.kind(), value, held, &format!("{at}[{index}]"))),
        (Held::Map(held), Value::Object(entries)) if held.len() == entries.len() => {
            let kind = field.kind().as_message()?.map_entry_value_field().kind();
            held.iter().find_map(|(key, held)| {
                let key = key_text(key);
                let at = format!("{at}[{key:?}]");
                match entries.get(&key) {
                    Some(value) => value_difference(&kind, value, held, &at),
                    None => Some(at),
                }
            })
        }
        (Held::List(_) | Held::Map(_), _) => Some(at.to_owned()),
        (held, value) => value_difference(&field.kind(), value, held, at),
    }
}

fn value_difference(kind: &Kind, value: &Value, held: &Held, at: &str) -> Option<String> {
    let same = match held {
        Held::Message(message) => return difference(value, message, at),
        Held::Bool(held) => value.as_bool() == Some(*held),
        Held::I32(held) => whole_number(value) == Some(i128::from(*held)),
        Held::I64(held) => whole_number(value) == Some(i128::from(*held)),
        Held::U32(held) => whole_number(value) == Some(i128::from(*held)),
        Held::U64(held) => whole_number(value) == Some(i128::from(*held)),
        Held::F64(held) => number(value).is_some_and(|value| value == *held || (value.is_nan() && held.is_nan())),
        Held::F32(held) => number(value).is_some_and(|value| {
            let nearest = value as f32;
            value.is_finite() == held.is_finite() && (nearest == *held || (value.is_nan() && held.is_nan()))
        }),
        Held::String(held) => value.as_str() == Some(held),
        Held::Bytes(held) => value
            .as_str()
            .is_some_and(|text| standard_base64(text) == STANDARD_NO_PAD.encode(held)),
        Held::EnumNumber(held) => match (kind, value) {
            (Kind::Enum(kind), Value::String(name)) => kind
                .get_value_by_name(name)
                .is_some_and(|value| value.number() == *held),
            (_, Value::Null) => *held == 0,
            (_, value) => whole_number(value) == Some(i128::from(*held)),
        },
        Held::List(_) | Held::Map(_) => false,
    };
    (!same).then(|| at.to_owned())
}

fn whole_number(value: &Value) -> Option<i128> {
    match value {
        Value::Number(number) => integer(number),
        Value::String(text) => text.parse().ok().or_else(|| integer(&text.parse().ok()?)),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// Base64 may come with padding or without, in either alphabet.
fn standard_base64(text: &str) -> String {
    text.trim_end_matches('=').replace('-', "+").replace('_', "/")
}

fn key_text(key: &MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => key.clone(),
    }
}
