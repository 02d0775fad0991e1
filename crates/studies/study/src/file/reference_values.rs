//! Published values of figures, which are shown beside measured ones and never used to make them.

use super::{PublishedAt, Study};
use crate::figure::FigureName;
use lastmile_report::record::{Levels, Published};
use lastmile_report::rules::in_base_unit;
use serde::{Deserialize, Serialize};

/// Published values of one figure: `figure = "memory_bytes"`, `values = [{ window_bits = "9", value = "130 KiB" }]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawPublishedFigure")]
pub struct PublishedFigure {
    /// The figure.
    pub figure: FigureName,
    /// The parts to whose cells they belong; where none is named, all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// The values, in the figure's base unit, each with the levels that a cell must have.
    pub values: Vec<PublishedAt>,
}

/// As written in the file: a value is a number in the base unit, two of them for a range, or a text with a unit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPublishedFigure {
    figure: FigureName,
    #[serde(default)]
    parts: Vec<String>,
    values: Vec<WrittenAt>,
}

#[derive(Deserialize)]
struct WrittenAt {
    value: Value,
    #[serde(flatten)]
    levels: Levels,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Number(Published),
    Text(String),
}

impl TryFrom<RawPublishedFigure> for PublishedFigure {
    type Error = String;

    fn try_from(written: RawPublishedFigure) -> Result<Self, String> {
        let unit = written.figure.0.unit;
        let read = |at: WrittenAt| {
            let value = match at.value {
                Value::Number(number) => number,
                Value::Text(text) => Published::Value(in_base_unit(unit, &text)?),
            };
            Ok(PublishedAt {
                value,
                levels: at.levels,
            })
        };
        Ok(Self {
            figure: written.figure,
            parts: written.parts,
            values: written.values.into_iter().map(read).collect::<Result<_, String>>()?,
        })
    }
}

impl PublishedFigure {
    /// The published value of `figure` for a cell of that part with those levels.
    pub(crate) fn value_for(&self, part: Option<&str>, levels: &Levels, figure: &str) -> Option<Published> {
        let in_part = self.parts.is_empty() || part.is_some_and(|part| self.parts.iter().any(|known| known == part));
        (in_part && self.figure.0.name == figure).then(|| PublishedAt::find(&self.values, levels))?
    }

    /// Checks that the study has what this refers to.
    pub(super) fn check(&self, study: &Study) -> Result<(), String> {
        study.check_parts(&self.parts)?;
        let mut levels = self.values.iter().flat_map(|at| &at.levels);
        levels.try_for_each(|(key, level)| study.check_level(key, Some(level)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(published: &str) -> Result<Study, String> {
        let toml = format!(
            "name = 't'\nquestion = ''\n[factors]\ncodec = ['identity', 'gzip:6']\n[[published]]\n{published}\n\
             [[part]]\nname = 'cases'\n[[part]]\nname = 'others'"
        );
        Study::parse("t.toml", &toml).map_err(|error| error.to_string())
    }

    #[test]
    fn a_value_is_read_in_the_unit_it_is_written_with_and_belongs_to_cells_with_its_levels() {
        let study = study(
            "figure = 'response_bytes'\nparts = ['cases']\nvalues = [{ codec = 'gzip:6', value = '130 KiB' }, { value = [1, 2] }]",
        )
        .unwrap();
        let of = |part, codec: &str, figure| {
            study.published[0].value_for(Some(part), &Levels::from([("codec".into(), codec.into())]), figure)
        };
        assert_eq!(
            of("cases", "gzip:6", "response_bytes"),
            Some(Published::Value(133_120.0))
        );
        assert_eq!(
            of("cases", "identity", "response_bytes"),
            Some(Published::Range([1.0, 2.0]))
        );
        assert_eq!(of("others", "gzip:6", "response_bytes"), None);
        assert_eq!(of("cases", "gzip:6", "link_bytes"), None);
        assert_eq!(Study::parse("again", &study.expanded()).unwrap(), study);
    }

    #[test]
    fn what_a_study_lacks_is_refused_by_name() {
        let refusal = |published: &str| study(published).unwrap_err();
        assert!(refusal("figure = 'response_bytes'\nvalues = [{ codec = 'gzip:7', value = 1 }]").contains("gzip:6"));
        assert!(refusal("figure = 'response_bytes'\nvalues = [{ codek = 'gzip:6', value = 1 }]").contains("\"codec\""));
        assert!(refusal("figure = 'response_bytes'\nvalues = [{ value = '5' }]").contains("unit"));
        assert!(refusal("figure = 'response_bytes'\nparts = ['case']\nvalues = []").contains("\"cases\""));
    }
}
