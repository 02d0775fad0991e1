//! The headers of a HAR entry: their size, and the values of the few fields that are used.

use crate::reading::lenient::{Text, lenient_object};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// The fields that are kept, by name in lower case.
const KEPT: [&str; 13] = [
    "access-control-allow-credentials",
    "cache-control",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "etag",
    "last-modified",
    "link",
    "location",
    "origin",
    "referer",
    "sec-fetch-mode",
];

/// Those that change what a browser does next.
const FOR_BROWSERS: [&str; 4] = ["cache-control", "content-range", "link", "location"];

/// A list of headers, reduced to what is used.
#[derive(Debug, Default)]
pub(super) struct Headers {
    kept: BTreeMap<&'static str, String>,
    pub(super) sets_cookie: bool,
    /// The size of all fields in HTTP/1.1, `name: value CR LF`. Pseudo-headers of HTTP/2 are not counted, as the request or status
    /// line contains their values. None where the list is absent or empty.
    pub(super) size: Option<u64>,
}

impl Headers {
    /// A field's value; repeated ones are joined by a comma (RFC 9110 section 5.3).
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.kept.get(name).map(String::as_str)
    }

    /// The fields that change what a browser does next.
    pub(super) fn for_browsers(&self) -> BTreeMap<&'static str, String> {
        let fields = FOR_BROWSERS
            .iter()
            .filter_map(|name| Some((*name, self.kept.get(name)?.clone())));
        fields.collect()
    }

    fn add(&mut self, name: &str, value: &str) {
        if name.starts_with(':') || name.is_empty() {
            return;
        }
        *self.size.get_or_insert(0) += (name.len() + value.len() + ": \r\n".len()) as u64;
        let name = name.to_ascii_lowercase();
        self.sets_cookie |= name == "set-cookie";
        if let Some(name) = KEPT.into_iter().find(|kept| *kept == name) {
            let list = self.kept.entry(name).or_default();
            if !list.is_empty() {
                list.push_str(", ");
            }
            list.push_str(value);
        }
    }
}

lenient_object!(Field, "a header" { "name" => name: Text, "value" => value: Text, });

impl<'de> Deserialize<'de> for Headers {
    /// A list of `{"name": …, "value": …}`, or, as a few tools write it, an object of values by name.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Headers;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of headers")
            }
            fn visit_unit<E>(self) -> Result<Headers, E> {
                Ok(Headers::default())
            }
            fn visit_str<E>(self, _: &str) -> Result<Headers, E> {
                Ok(Headers::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Headers, A::Error> {
                let mut headers = Headers::default();
                while let Some(field) = list.next_element::<Field>()? {
                    headers.add(field.name.as_str(), field.value.as_str());
                }
                Ok(headers)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
                let mut headers = Headers::default();
                while let Some(name) = map.next_key::<String>()? {
                    headers.add(&name, map.next_value::<Text>()?.as_str());
                }
                Ok(headers)
            }
        }
        from.deserialize_any(List)
    }
}
