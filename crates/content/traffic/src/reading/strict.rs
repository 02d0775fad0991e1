//! Reads JSON that was written for lastmile strictly: unknown and repeated keys are errors.

use super::SourceError;
use super::excerpt::shortened;
use super::json_value::JsonValue;
use serde::de::{Deserialize, Error as _, MapAccess};
use serde_json::error::Category;

/// Sets a field whose key must not be repeated.
pub(crate) fn set<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    field: &mut Option<T>,
    key: &str,
    map: &mut A,
) -> Result<(), A::Error> {
    match field.replace(map.next_value()?) {
        None => Ok(()),
        Some(_) => Err(A::Error::custom(format!("the key {key:?} occurs twice"))),
    }
}

/// Sets a field whose key must not be repeated to `read` of its value; `wanted` describes the values allowed. A null field counts as
/// absent, as many programs write it.
pub(crate) fn set_as<'de, T, A: MapAccess<'de>>(
    field: &mut Option<Option<T>>,
    key: &str,
    map: &mut A,
    wanted: &str,
    read: impl FnOnce(JsonValue) -> Result<T, JsonValue>,
) -> Result<(), A::Error> {
    let read = match map.next_value()? {
        JsonValue::Null => None,
        value => {
            Some(read(value).map_err(|found| A::Error::custom(format!("{key:?} is {found}, but must be {wanted}")))?)
        }
    };
    match field.replace(read) {
        None => Ok(()),
        Some(_) => Err(A::Error::custom(format!("the key {key:?} occurs twice"))),
    }
}

/// The error text for a key that is not in `keys`.
pub(crate) fn unknown_key(keys: &[&str], key: &str) -> String {
    // A longer key resembles none of them, and comparing it would take time in proportion to its length.
    const KEY_LENGTH_MAX: usize = 64;
    let comparable = keys.iter().filter(|_| key.len() <= KEY_LENGTH_MAX);
    let nearest = comparable
        .min_by_key(|known| strsim::damerau_levenshtein(known, key))
        .filter(|known| strsim::damerau_levenshtein(known, key) <= 3);
    let hint = nearest.map_or(String::new(), |known| format!("; did you mean {known:?}?"));
    format!("unknown key {:?}{hint} (one of {})", shortened(key), keys.join(", "))
}

/// The error for a line of JSON; `example` shows how to write one.
pub(crate) fn explain_line(error: &serde_json::Error, name: &str, line: usize, example: &str) -> SourceError {
    let message = SourceError::message(error);
    let problem = match error.classify() {
        Category::Eof => format!("the line is cut off: {message}"),
        Category::Data => message,
        Category::Syntax | Category::Io => format!("invalid JSON: {message}"),
    };
    SourceError::new(name, problem, example).at(line, error.column().max(1))
}
