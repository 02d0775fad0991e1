//! The error of a study that cannot be read.

use lastmile_testbed::toml_error::toml_problem;

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
        Self::new(origin, toml_problem(error))
    }
}
