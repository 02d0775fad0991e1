//! The reason why a run gave no figures.

use serde::{Deserialize, Serialize};

/// Why a repeat gave no figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    /// What went wrong, in a sentence.
    pub reason: String,
}

impl Failure {
    /// A failure for that reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }

    /// A failure for the reason that an error states.
    pub fn from_error(error: impl std::fmt::Display) -> Self {
        Self::new(error.to_string())
    }
}
