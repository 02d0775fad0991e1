//! Reads a line of JSON strictly: an object with known keys, none of them twice.

use super::strict::unknown_key;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// An object on a line of its own, as it is written.
pub(crate) trait JsonLine: Default {
    /// The keys that it may have.
    const KEYS: &'static [&'static str];
    /// What a line is, printed after "expected".
    const EXPECTED: &'static str;

    /// Reads the value of `key` out of `map`, if it is one of [`Self::KEYS`]; returns whether it is.
    fn read_key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// Parses a line; none where it is blank. `explain_line` makes the message of an error.
pub(crate) fn parse<L: JsonLine>(line: &[u8]) -> serde_json::Result<Option<L>> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(line).map(|Parsed(line)| Some(line))
}

/// A line that serde reads.
struct Parsed<L>(L);

impl<'de, L: JsonLine> Deserialize<'de> for Parsed<L> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Keys(PhantomData))
    }
}

/// Reads the keys of a line.
struct Keys<L>(PhantomData<L>);

impl<'de, L: JsonLine> Visitor<'de> for Keys<L> {
    type Value = Parsed<L>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(L::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parsed<L>, A::Error> {
        let mut line = L::default();
        while let Some(key) = map.next_key::<String>()? {
            if !line.read_key(&key, &mut map)? {
                return Err(A::Error::custom(unknown_key(L::KEYS, &key)));
            }
        }
        Ok(Parsed(line))
    }
}
