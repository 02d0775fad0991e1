//! The error of links and radios that a user asks for: where, the value found, and the remedy.

/// A link, radio, setting, profile or trace that cannot be used: where, what was found, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LinkError(pub(crate) String);

impl LinkError {
    /// The error of a setting; `kind` is "link" or "radio", and `formula` as the user wrote it.
    pub(crate) fn of_setting(kind: &str, formula: &str, problem: &str) -> Self {
        Self(format!("{kind} {formula:?}: {problem}"))
    }
}
