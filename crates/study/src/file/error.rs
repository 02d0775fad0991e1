//! What is said when a study cannot be read?

use crate::nearest::toml_problem;

/// A study that could not be read: where it is from, the place in it, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: {problem}")]
pub struct StudyError {
    origin: String,
    problem: String,
}

impl StudyError {
    pub(crate) fn new(origin: &str, problem: impl Into<String>) -> Self {
        Self {
            origin: origin.to_owned(),
            problem: problem.into(),
        }
    }

    /// What the TOML reader found, with its line and caret, and the key that was probably meant.
    pub(super) fn reading(origin: &str, error: &toml::de::Error) -> Self {
        Self::new(origin, toml_problem(error))
    }
}
