//! The error of a study that cannot be read.

use lastmile_testbed::toml_error::toml_problem;

/// What users look for as a factor, and is a setting of each link.
const LINK_SETTINGS: [&str; 4] = ["loss", "queue", "jitter", "one_way_delay"];

/// A study that could not be read: its origin, the position in it, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: {problem}")]
pub struct StudyError {
    origin: String,
    problem: String,
}

impl StudyError {
    /// An error of `origin`, a file or a study, with what is wrong and the remedy.
    pub fn new(origin: &str, problem: impl Into<String>) -> Self {
        Self {
            origin: origin.to_owned(),
            problem: problem.into(),
        }
    }

    /// The error of the TOML reader, with its line and caret, and the key that was probably meant.
    pub(super) fn reading(origin: &str, error: &toml::de::Error) -> Self {
        let setting = LINK_SETTINGS
            .iter()
            .find(|name| error.message().starts_with(&format!("unknown field `{name}`")));
        let remedy = setting.map_or_else(String::new, |name| {
            format!("\n`{name}` belongs to a link, whose levels can differ by it: link = [\"wpt/3g\", \"wpt/3g+{name}=...\"]")
        });
        Self::new(origin, toml_problem(error) + &remedy)
    }
}
