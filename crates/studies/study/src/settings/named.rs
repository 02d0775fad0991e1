//! Levels that are tables with a name, and links.
//!
//! The crate that a content belongs to defines its meaning.

use lastmile_link::{LinkRequest, LinkSpec};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A content that is written as an inline table with an optional `name`: reports show it by that name, or, where there is none, by the
/// table as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<T> {
    name: String,
    written: toml::Table,
    content: T,
}

impl<T> Named<T> {
    /// Its name in reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its content.
    pub fn content(&self) -> &T {
        &self.content
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

impl<'de, T: DeserializeOwned> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = toml::Table::deserialize(from)?;
        let mut table = written.clone();
        let name = match table.remove("name") {
            Some(toml::Value::String(name)) => name,
            Some(other) => return Err(D::Error::custom(format!("`name` must be a text, not {other}"))),
            None => toml::Value::Table(written.clone()).to_string(),
        };
        let content = T::deserialize(table).map_err(|error| D::Error::custom(error.message()))?;
        Ok(Self { name, written, content })
    }
}

/// A link, which reports show by its profile and changed parameters, or by the name in its table. It follows no delivery trace: a study,
/// and the copy in its run folder, describe their links completely.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Link(pub LinkSpec);

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut no_traces = |_: &str| {
            Err("a study's links cannot follow traces; give the link a rate, or use the trace with `lastmile advise --link`".to_owned())
        };
        let request = LinkRequest::deserialize(from)?;
        request.resolve_with(&mut no_traces).map(Self).map_err(D::Error::custom)
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_workload::WorkloadSpec;

    #[derive(Debug, Deserialize)]
    struct Line {
        case: Named<WorkloadSpec>,
    }

    fn read(case: &str) -> Result<Named<WorkloadSpec>, String> {
        toml::from_str::<Line>(&format!("case = {case}"))
            .map(|line| line.case)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_is_known_by_its_name_and_without_one_by_what_it_says() {
        assert_eq!(
            read("{ name = 'A', kind = 'bulk', bytes = '1 kB' }").unwrap().name(),
            "A"
        );
        let nameless = read("{ kind = 'bulk', bytes = '1 kB' }").unwrap();
        assert_eq!(nameless.name(), r#"{ bytes = "1 kB", kind = "bulk" }"#);
    }

    #[test]
    fn a_link_that_follows_a_trace_is_refused_with_the_place_where_traces_work() {
        #[derive(Debug, Deserialize)]
        struct Setting {
            #[expect(dead_code, reason = "it is refused")]
            link: Link,
        }
        for link in [
            "'wpt/3g+trace=drive.down'",
            "{ name = 'mine', trace = 'drive.down', one_way_delay = '30 ms' }",
        ] {
            let error = toml::from_str::<Setting>(&format!("link = {link}"))
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("line 1")
                    && error.contains("\"drive.down\"")
                    && error.contains("`lastmile advise --link`"),
                "{error}"
            );
        }
    }

    #[test]
    fn what_is_wrong_in_a_table_is_said_with_its_line() {
        for (case, problem) in [
            ("5", "invalid type: integer `5`, expected a map"),
            (
                "{ name = 5, kind = 'bulk', bytes = '1 kB' }",
                "`name` must be a text, not 5",
            ),
            (
                "{ name = 'A', kind = 'bulc', bytes = '1 kB' }",
                "unknown variant `bulc`",
            ),
            ("{ name = 'A', kind = 'bulk', bites = '1 kB' }", "unknown field `bites`"),
            ("{ name = 'A', kind = 'bulk', bytes = '1' }", "its unit is missing"),
        ] {
            let error = read(case).unwrap_err();
            assert!(error.contains("line 1") && error.contains(problem), "{error}");
        }
    }
}
