//! How is JSON read that was written for lastmile? Strictly: a key that means nothing is a mistake, and so is one that is there twice.

mod value;

pub(crate) use value::Value;

use super::SourceError;
use super::quoted::shortened;
use serde::de::{Deserialize, Error as _, MapAccess};
use serde_json::error::Category;

/// Fills a field that must not be there twice.
pub(crate) fn set<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    field: &mut Option<T>,
    key: &str,
    map: &mut A,
) -> Result<(), A::Error> {
    match field.replace(map.next_value()?) {
        None => Ok(()),
        Some(_) => Err(A::Error::custom(format!("the key {key:?} is there twice"))),
    }
}

/// Fills a field that must not be there twice with what `read` makes of its value; `wanted` says what that must be. A field that is
/// null is one that is not there, as many programs write it.
pub(crate) fn set_as<'de, T, A: MapAccess<'de>>(
    field: &mut Option<Option<T>>,
    key: &str,
    map: &mut A,
    wanted: &str,
    read: impl FnOnce(Value) -> Result<T, Value>,
) -> Result<(), A::Error> {
    let read = match map.next_value()? {
        Value::Null => None,
        value => {
            Some(read(value).map_err(|found| A::Error::custom(format!("{key:?} is {found}, and must be {wanted}")))?)
        }
    };
    match field.replace(read) {
        None => Ok(()),
        Some(_) => Err(A::Error::custom(format!("the key {key:?} is there twice"))),
    }
}

/// What to say of a key that is none of `keys`.
pub(crate) fn unknown_key(keys: &[&str], key: &str) -> String {
    // A longer key is near to none; and to find that out takes as long as it has characters.
    const LONGEST: usize = 64;
    let comparable = keys.iter().filter(|_| key.len() <= LONGEST);
    let nearest = comparable
        .min_by_key(|known| strsim::damerau_levenshtein(known, key))
        .filter(|known| strsim::damerau_levenshtein(known, key) <= 3);
    let hint = nearest.map_or(String::new(), |known| format!("; did you mean {known:?}?"));
    format!("unknown key {:?}{hint} (one of {})", shortened(key), keys.join(", "))
}

/// What is wrong with a line of JSON; `example` says how to write one.
pub(crate) fn explain_line(error: &serde_json::Error, name: &str, line: usize, example: &str) -> SourceError {
    let message = SourceError::message(error);
    let problem = match error.classify() {
        Category::Eof => format!("the line is cut off: it ends with {message}"),
        Category::Data => message,
        Category::Syntax | Category::Io => format!("it is not JSON here: {message}"),
    };
    SourceError::new(name, problem, example).at(line, error.column().max(1))
}
