//! Overrides of a study's common settings from outside its file: `window_bits=12`.
//!
//! An override replaces the value in the study's `[fixed]`. A part that sets or varies the same key keeps its own value, since the part
//! is about that key.

use super::{Study, StudyError};
use crate::settings::{KEYS, Settings};
use lastmile_units::suggest::suggestion;
use serde::Deserialize as _;
use std::fmt;
use std::str::FromStr;

/// A key of `[fixed]`, and its new value.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingOverride {
    key: &'static str,
    /// The value as written.
    written: String,
    settings: Settings,
}

/// An override that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingOverrideError(String);

impl FromStr for SettingOverride {
    type Err = SettingOverrideError;

    /// Reads `KEY=VALUE`, with the value as in a study file; a text may omit its quotes. The value of the workload may be the path of a
    /// transcript.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = |problem: String| Err(SettingOverrideError(problem));
        let Some((key, written)) = text.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
            return refused(format!(
                "{text:?} has no \"=\"; write a key and its value, like window_bits=12"
            ));
        };
        let Some(key) = KEYS.iter().copied().find(|known| *known == key) else {
            let meant = suggestion(key, KEYS.iter().copied());
            return refused(format!(
                "{key:?} is not a setting{meant}; use a key of a study's [fixed]"
            ));
        };
        let refused_value = |problem: &str| refused(format!("{key} is {written}: {problem}"));
        let value = match value(written) {
            Ok(toml::Value::String(path)) if ["workload", "case"].contains(&key) => transcript(&path),
            Ok(value) => value,
            Err(problem) => return refused_value(&problem),
        };
        let settings = match single_setting(key, value) {
            // A quantity whose unit was left out reads as a number.
            Err(problem) if problem.starts_with("invalid type: ") && !written.starts_with(BRACKETS) => {
                single_setting(key, toml::Value::String(written.to_owned()))
            }
            read => read,
        };
        match settings {
            Ok(settings) => Ok(Self {
                key,
                written: written.to_owned(),
                settings,
            }),
            Err(problem) => refused_value(&problem),
        }
    }
}

/// The first characters of values that are not unquoted text.
const BRACKETS: [char; 4] = ['{', '[', '"', '\''];

/// Settings with only this key.
fn single_setting(key: &str, value: toml::Value) -> Result<Settings, String> {
    let table = toml::Table::from_iter([(key.to_owned(), value)]);
    Settings::deserialize(table).map_err(|error| error.message().to_owned())
}

/// Reads a TOML value, or a text without quotes.
fn value(written: &str) -> Result<toml::Value, String> {
    match written.parse::<toml::Value>() {
        Ok(value) => Ok(value),
        Err(error) if written.starts_with(BRACKETS) => Err(error.message().to_owned()),
        Err(_) => Ok(toml::Value::String(written.to_owned())),
    }
}

/// The workload of a file with messages; reports name it by its path.
fn transcript(path: &str) -> toml::Value {
    let entries = [("name", path), ("kind", "transcript"), ("path", path)];
    let entries = entries.map(|(key, value)| (key.to_owned(), toml::Value::String(value.to_owned())));
    toml::Value::Table(entries.into_iter().collect())
}

impl fmt::Display for SettingOverride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.written)
    }
}

impl Study {
    /// Sets a common setting of all cells; returns the names of the parts that keep their own value.
    ///
    /// # Errors
    /// When no cell would change, or when a level that the study compares or publishes would no longer occur.
    pub fn set(&mut self, overriding: &SettingOverride) -> Result<Vec<String>, StudyError> {
        let SettingOverride { key, settings, .. } = overriding;
        let has_own = |varied: &[&str], fixed: &Settings| varied.contains(key) || fixed.levels().contains_key(*key);
        let own: Vec<(Option<String>, bool)> = self
            .layers()
            .iter()
            .map(|(part, _, factors)| {
                let varied: Vec<_> = factors.axes().iter().map(|axis| axis.key).collect();
                let none = Settings::default();
                let fixed = part.map_or(&none, |part| &part.fixed);
                (part.map(|part| part.name.clone()), has_own(&varied, fixed))
            })
            .collect();
        if own.iter().all(|(_, has_own)| *has_own) {
            return Err(self.error(format!(
                "{overriding} would change nothing: every cell has its own {key}; change {key} in the study's file"
            )));
        }
        self.fixed = self.fixed.overlaid(settings);
        if let Err(problem) = self.check() {
            return Err(StudyError::new(
                &format!("study {:?} with {overriding}", self.name),
                problem,
            ));
        }
        Ok(own
            .into_iter()
            .filter_map(|(part, has_own)| part.filter(|_| has_own))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::expand;

    fn study(rest: &str) -> Study {
        Study::parse("test.toml", &format!("name = 'test'\nquestion = ''\n{rest}")).unwrap()
    }

    fn set(study: &mut Study, text: &str) -> Result<Vec<String>, StudyError> {
        study.set(&text.parse().unwrap())
    }

    fn refusal(text: &str) -> String {
        text.parse::<SettingOverride>().unwrap_err().to_string()
    }

    #[test]
    fn every_cell_gets_what_is_set_and_parts_about_it_keep_their_own() {
        let mut study = study(
            "[fixed]\nwindow_bits = 15\n[[part]]\nname = 'levels'\n[part.factors]\ncompression_level = [1, 9]\n\
             [[part]]\nname = 'windows'\n[part.factors]\nwindow_bits = [9, 10]\n\
             [[part]]\nname = 'narrow'\n[part.fixed]\nwindow_bits = 8",
        );
        assert_eq!(set(&mut study, "window_bits=12").unwrap(), ["windows", "narrow"]);
        let bits: Vec<String> = expand(&study)
            .unwrap()
            .cells
            .iter()
            .map(|cell| cell.settings.levels()["window_bits"].clone())
            .collect();
        assert_eq!(bits, ["12", "12", "9", "10", "8"]);
    }

    #[test]
    fn a_value_is_written_as_in_a_study_and_a_text_needs_no_quotes() {
        let mut study = study("");
        for text in [
            "link = wpt/3g",
            "context_takeover=off",
            "mem_level=4",
            "message_codec='deflate:6/w11/m4'",
            "compression_threshold=1 kB",
            "case={ kind = 'bulk', bytes = '1 kB' }",
        ] {
            set(&mut study, text).unwrap();
        }
        let levels = study.fixed.levels();
        let shown: Vec<_> = levels.iter().map(|(key, level)| format!("{key} {level}")).collect();
        assert_eq!(
            shown.join(", "),
            "case { bytes = \"1 kB\", kind = \"bulk\" }, compression_threshold 1 kB, context_takeover off, link wpt/3g, mem_level 4, \
             message_codec deflate:6/w11/m4"
        );
    }

    #[test]
    fn a_workload_that_is_a_text_is_a_transcript_and_is_called_by_its_path() {
        let mut study = study("");
        set(&mut study, "workload=../my chat.txt").unwrap();
        let workload = study.fixed.workload.clone().unwrap();
        assert_eq!(workload.name(), "../my chat.txt");
        let written = "[fixed]\nworkload = { name = '../my chat.txt', kind = 'transcript', path = '../my chat.txt' }";
        assert_eq!(Some(&workload), super::tests::study(written).fixed.workload.as_ref());
    }

    #[test]
    fn what_would_change_nothing_is_refused() {
        let mut study = study("[factors]\nlink = ['wpt/3g', 'wpt/cable']");
        assert_eq!(
            set(&mut study, "link=wpt/dsl").unwrap_err().to_string(),
            "study \"test\": link=wpt/dsl would change nothing: every cell has its own link; change link in the study's file"
        );
    }

    #[test]
    fn what_is_not_understood_is_named_with_the_remedy() {
        assert_eq!(
            refusal("window_bits"),
            "\"window_bits\" has no \"=\"; write a key and its value, like window_bits=12"
        );
        assert!(
            refusal("window_bit=12").contains("did you mean \"window_bits\"?"),
            "{}",
            refusal("window_bit=12")
        );
        for (text, problem) in [
            ("window_bits=16", "window_bits is 16: "),
            ("workload={ kind = 'chat' }", "missing field `messages`"),
            ("workload={ kind = 'chat', messages = 3", "workload is {"),
            ("compression_threshold=12", "unit"),
        ] {
            assert!(refusal(text).contains(problem), "{}", refusal(text));
        }
    }
}
