//! How is a setting with a content of its own written? As a text that names it, or as an inline table, which may carry a `name`.
//!
//! What the content means is the affair of the crate it belongs to: see [`Spec`].

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Something that a study writes as a text or as a table.
pub trait Spec: Sized {
    /// Reads the text form.
    ///
    /// # Errors
    /// A message for the writer of the study, where the text names nothing.
    fn from_text(text: &str) -> Result<Self, String>;

    /// Reads the table, without the `name` that a study may have given it.
    ///
    /// # Errors
    /// A message for the writer of the study, where a key or a value is not as it should be.
    fn from_table(table: toml::Table) -> Result<Self, String>;
}

/// A [`Spec`] under the name that reports show it by: its text, its `name`, or, where a table has none, the table as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<T> {
    name: String,
    written: toml::Value,
    spec: T,
}

impl<T> Named<T> {
    /// What reports call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it says.
    pub fn spec(&self) -> &T {
        &self.spec
    }
}

impl<T> fmt::Display for Named<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl<T> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.written.serialize(to)
    }
}

impl<'de, T: Spec> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = toml::Value::deserialize(from)?;
        let (name, spec) = match &written {
            toml::Value::String(text) => (text.clone(), T::from_text(text)),
            toml::Value::Table(table) => {
                let mut table = table.clone();
                let name = match table.remove("name") {
                    Some(toml::Value::String(name)) => name,
                    Some(other) => return Err(D::Error::custom(format!("`name` is a text, and not {other}"))),
                    None => written.to_string(),
                };
                (name, T::from_table(table))
            }
            other => {
                return Err(D::Error::custom(format!(
                    "expected a text or an inline table, and not {other}"
                )));
            }
        };
        Ok(Self {
            name,
            spec: spec.map_err(D::Error::custom)?,
            written,
        })
    }
}

impl Spec for toml::Table {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Self::from_iter([(
            "text".to_owned(),
            toml::Value::String(text.to_owned()),
        )]))
    }

    fn from_table(table: toml::Table) -> Result<Self, String> {
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Line {
        link: Named<toml::Table>,
    }

    fn read(toml: &str) -> Result<Named<toml::Table>, String> {
        toml::from_str::<Line>(toml)
            .map(|line| line.link)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_is_known_by_its_name_and_without_one_by_what_it_says() {
        assert_eq!(read("link = 'wpt/3g'").unwrap().name(), "wpt/3g");
        assert_eq!(read("link = { name = 'short', loss = '0 %' }").unwrap().name(), "short");
        assert_eq!(read("link = { loss = '0 %' }").unwrap().name(), r#"{ loss = "0 %" }"#);
    }

    #[test]
    fn a_number_is_refused_with_its_line() {
        let error = read("link = 5").unwrap_err();
        assert!(
            error.contains("line 1") && error.contains("expected a text or an inline table, and not 5"),
            "{error}"
        );
    }
}
