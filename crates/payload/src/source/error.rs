//! What is said when a file cannot be read?

use super::quoted::shortened;
use std::fmt;
use std::io;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In text.
    Text {
        /// The line, from 1.
        line: u64,
        /// The octet in the line, from 1.
        column: u64,
    },
    /// In what is not text: octets before it.
    Octet(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { line, column } => write!(f, "line {line}, column {column}"),
            Self::Octet(offset) => write!(f, "octet {offset}"),
        }
    }
}

/// A file or folder that could not be read: its name, the place, what is wrong, and what to do. Printed as
/// `shop.har: line 12, column 4: …; …`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SourceError {
    file: String,
    place: Option<Place>,
    problem: String,
    remedy: String,
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if let Some(place) = self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}

impl SourceError {
    /// The file or folder, as it was named.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Where in the file, if the trouble has a place.
    pub fn place(&self) -> Option<Place> {
        self.place
    }

    pub(crate) fn new(file: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            place: None,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    pub(crate) fn at(self, line: usize, column: usize) -> Self {
        let (line, column) = (line as u64, column as u64);
        Self {
            place: Some(Place::Text { line, column }),
            ..self
        }
    }

    pub(crate) fn at_octet(self, offset: u64) -> Self {
        Self {
            place: Some(Place::Octet(offset)),
            ..self
        }
    }

    /// A file that the system does not open; `wanted` says what to give where there is none.
    pub(crate) fn unopened(file: &str, error: &io::Error, wanted: &str) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::new(file, "there is no such file or folder", wanted),
            _ => Self::io(file, error),
        }
    }

    /// A file that the system does not give.
    pub(crate) fn io(file: &str, error: &io::Error) -> Self {
        if error.raw_os_error().is_none() {
            // It is not the system's, so it is of what unpacks the file.
            let problem = format!(
                "it cannot be read: what is packed in it is damaged or cut off, or something else stands behind it ({error})"
            );
            return Self::new(file, problem, "pack it anew");
        }
        let remedy = match error.kind() {
            io::ErrorKind::PermissionDenied => "make it readable to you",
            _ => "try to read it with another program",
        };
        Self::new(file, format!("it cannot be read: {error}"), remedy)
    }

    /// What serde_json found, without the place that it puts behind its message, and without all of a value that is long.
    pub(crate) fn message(error: &serde_json::Error) -> String {
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let text = text.strip_suffix(&place).unwrap_or(&text);
        // "invalid type: string \"…\", expected u32": what is expected stands behind the value, which may be anything.
        let wanted = text.rfind(", expected ").filter(|_| text.starts_with("invalid "));
        match wanted.map(|at| text.split_at(at)) {
            Some((found, wanted)) => format!("{}{wanted}", shortened(found)),
            None => text.to_owned(),
        }
    }
}
