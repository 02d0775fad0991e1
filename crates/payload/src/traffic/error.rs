//! What is said when traffic cannot be read?

use std::fmt;
use std::io;

/// A place in a file. Both count from 1; columns count octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The octet in the line.
    pub column: usize,
}

/// Traffic that could not be read: the file, the place, what is wrong, and what to do. Printed as
/// `shop.har: line 12, column 4: …; …`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TrafficError {
    file: String,
    place: Option<Place>,
    problem: String,
    remedy: String,
}

impl fmt::Display for TrafficError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if let Some(Place { line, column }) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}

impl TrafficError {
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
        Self {
            place: Some(Place { line, column }),
            ..self
        }
    }

    /// A file that the system does not give.
    pub(crate) fn io(file: &str, error: &io::Error) -> Self {
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => "give the path of a HAR, a .jsonl file or a folder",
            io::ErrorKind::PermissionDenied => "make it readable to you",
            _ => "try to read it with another program",
        };
        let problem = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
            _ => format!("it cannot be read: {error}"),
        };
        Self::new(file, problem, remedy)
    }

    /// What serde_json found, without the place that it puts behind its message.
    pub(crate) fn message(error: &serde_json::Error) -> String {
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        text.strip_suffix(&place).unwrap_or(&text).to_owned()
    }
}
