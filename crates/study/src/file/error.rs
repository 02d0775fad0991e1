//! What is said when a study cannot be read?

use crate::nearest::nearest;

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
        let shown = error.to_string();
        let shown = shown.trim_end();
        let problem = match meant(error.message()) {
            Some(name) => format!("{shown}\ndid you mean `{name}`?"),
            None => shown.to_owned(),
        };
        Self::new(origin, problem)
    }
}

/// The name that was probably meant, where the message is serde's about an unknown key or word: "unknown field `x`, expected one
/// of `a`, `b`". Every name stands between backticks there, the unknown one first.
fn meant(message: &str) -> Option<&str> {
    if !message.starts_with("unknown field") && !message.starts_with("unknown variant") {
        return None;
    }
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    nearest(unknown, names)
}
