//! Sources: who gives out a sequence of events.

use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// The longest name, in bytes.
pub const NAME_LENGTH_MAX: usize = 128;

/// One life of one program: its sequence numbers begin at 1 and have no hole.
///
/// A program that starts again is a new incarnation, so two lives never share a number. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    name: Arc<str>,
    incarnation: u64,
}

/// A name that no source may have.
#[derive(Debug, Clone, Error)]
#[error("source {name:?}: a name has 1 to {NAME_LENGTH_MAX} bytes, none of them a space or a control character")]
pub struct SourceError {
    name: String,
}

impl Source {
    /// The source of this name in this life. `incarnation` must differ from life to life: the start's time in nanoseconds serves.
    ///
    /// # Errors
    /// When the name is empty, too long, or has spaces or control characters.
    pub fn new(name: &str, incarnation: u64) -> Result<Self, SourceError> {
        let allowed = |c: char| !c.is_whitespace() && !c.is_control();
        if name.is_empty() || name.len() > NAME_LENGTH_MAX || !name.chars().all(allowed) {
            let name = name.chars().take(NAME_LENGTH_MAX).collect();
            return Err(SourceError { name });
        }
        Ok(Self {
            name: name.into(),
            incarnation,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of its life.
    pub const fn incarnation(&self) -> u64 {
        self.incarnation
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{:016x}", self.name, self.incarnation)
    }
}
