//! Finds the field of a document that does not fit a message, since the library's error names none.

use super::join;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, ReflectMessage as _};
use serde_json::{Value, json};

/// How much of a value is shown: our own choice.
const SHOWN_CHARS: usize = 60;

/// Why a document does not fit a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}value {value}: {problem}", if field.is_empty() { String::new() } else { format!("field {field}, ") })]
pub struct Misfit {
    /// The path to the field; empty for the document itself.
    pub field: String,
    /// The value, or its beginning.
    pub value: String,
    /// What is wrong.
    pub problem: String,
}

impl Misfit {
    fn new(field: &str, value: &Value, problem: String) -> Self {
        let text = value.to_string();
        let value = match text.char_indices().nth(SHOWN_CHARS) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        };
        Self {
            field: field.to_owned(),
            value,
            problem,
        }
    }
}

/// Reads a document by the JSON mapping.
pub(super) fn read(message: &MessageDescriptor, document: &Value) -> Result<DynamicMessage, String> {
    DynamicMessage::deserialize(message.clone(), document).map_err(|error| error.to_string())
}

/// The field that goes by a name in JSON.
pub(super) fn field_named(message: &MessageDescriptor, name: &str) -> Option<FieldDescriptor> {
    message
        .get_field_by_json_name(name)
        .or_else(|| message.get_field_by_name(name))
}

/// Whether the JSON mapping has a form of its own for a message.
pub(super) fn is_well_known(message: &MessageDescriptor) -> bool {
    message.package_name() == "google.protobuf"
}

/// Where a document that is refused for `problem` does not fit.
pub(super) fn locate(message: &MessageDescriptor, document: &Value, problem: String) -> Misfit {
    within(message, document, "").unwrap_or_else(|| Misfit::new("", document, problem))
}

fn within(message: &MessageDescriptor, document: &Value, path: &str) -> Option<Misfit> {
    if is_well_known(message) {
        let problem = read(message, document).err()?;
        return Some(Misfit::new(path, document, problem));
    }
    let Value::Object(members) = document else {
        let problem = format!("it must be an object, for the message {}", message.full_name());
        return Some(Misfit::new(path, document, problem));
    };
    let mut inner = None;
    for (name, value) in members {
        let at = join(path, name);
        let Some(field) = field_named(message, name) else {
            if message.get_extension_by_json_name(name).is_some() {
                continue;
            }
            let known: Vec<String> = message.fields().map(|field| field.json_name().to_owned()).collect();
            let problem = format!(
                "the message {} has no such field; it has {}",
                message.full_name(),
                known.join(", ")
            );
            return Some(Misfit::new(&at, value, problem));
        };
        inner = inner.or_else(|| within_field(message, &field, name, value, &at));
    }
    // What is wrong with several members together is known only if each is right.
    inner.or_else(|| {
        read(message, document)
            .err()
            .map(|problem| Misfit::new(path, document, problem))
    })
}

fn within_field(
    message: &MessageDescriptor,
    field: &FieldDescriptor,
    name: &str,
    value: &Value,
    at: &str,
) -> Option<Misfit> {
    let problem = read(message, &json!({ name: value })).err()?;
    let of_type = |problem: String| format!("the field is of type {:?}: {problem}", field.kind());
    let found = match (field.kind(), value) {
        (_, Value::Array(elements)) if field.is_list() => {
            elements.iter().zip(0_usize..).find_map(|(element, index)| {
                let at = format!("{at}[{index}]");
                match field.kind() {
                    Kind::Message(held) => within(&held, element, &at),
                    _ => {
                        let problem = read(message, &json!({ name: [element] })).err()?;
                        Some(Misfit::new(&at, element, of_type(problem)))
                    }
                }
            })
        }
        (Kind::Message(entry), Value::Object(entries)) if field.is_map() => {
            entries.iter().find_map(|(key, element)| {
                let at = format!("{at}[{key:?}]");
                let problem = read(message, &json!({ name: { key: element } })).err()?;
                let kind = entry.map_entry_value_field().kind();
                let nested = kind.as_message().and_then(|held| within(held, element, &at));
                let problem = format!("the map holds {kind:?}: {problem}");
                Some(nested.unwrap_or_else(|| Misfit::new(&at, element, problem)))
            })
        }
        (Kind::Message(held), value) if !field.is_list() && !field.is_map() => within(&held, value, at),
        _ => None,
    };
    Some(found.unwrap_or_else(|| Misfit::new(at, value, of_type(problem))))
}

/// A required field that is missing: the library does not demand them.
pub(super) fn missing(message: &DynamicMessage, document: &Value, path: &str) -> Option<Misfit> {
    let descriptor = message.descriptor();
    if let Some(field) = descriptor
        .fields()
        .find(|field| field.is_required() && !message.has_field(field))
    {
        let at = join(path, field.json_name());
        return Some(Misfit::new(
            &at,
            document,
            "the field is required, and missing".to_owned(),
        ));
    }
    message.fields().find_map(|(field, value)| {
        let at = join(path, field.json_name());
        match value {
            prost_reflect::Value::Message(held) => missing(held, document, &at),
            prost_reflect::Value::List(elements) => elements
                .iter()
                .filter_map(prost_reflect::Value::as_message)
                .find_map(|held| missing(held, document, &at)),
            prost_reflect::Value::Map(entries) => entries
                .values()
                .filter_map(prost_reflect::Value::as_message)
                .find_map(|held| missing(held, document, &at)),
            _ => None,
        }
    })
}
