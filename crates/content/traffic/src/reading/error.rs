//! The error for a file or folder that cannot be read: name, position, problem and remedy.

use super::excerpt::shortened;
use std::fmt;
use std::io;

/// A position in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// In a text file.
    Text {
        /// The line, from 1.
        line: u64,
        /// The byte in the line, from 1.
        column: u64,
    },
    /// In a binary file: the offset in bytes.
    Byte(u64),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { line, column } => write!(f, "line {line}, column {column}"),
            Self::Byte(offset) => write!(f, "byte {offset}"),
        }
    }
}

/// A file or folder that could not be read: its name, the position, the problem and the remedy. Printed as
/// `shop.har: line 12, column 4: …; …`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SourceError {
    file: String,
    position: Option<Position>,
    problem: String,
    remedy: String,
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if let Some(position) = self.position {
            write!(f, "{position}: ")?;
        }
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}

impl SourceError {
    /// The file or folder, as the caller named it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The position in the file, where the error has one.
    pub fn position(&self) -> Option<Position> {
        self.position
    }

    pub(crate) fn new(file: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            position: None,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    pub(crate) fn at(self, line: usize, column: usize) -> Self {
        let (line, column) = (line as u64, column as u64);
        Self {
            position: Some(Position::Text { line, column }),
            ..self
        }
    }

    pub(crate) fn at_byte(self, offset: u64) -> Self {
        Self {
            position: Some(Position::Byte(offset)),
            ..self
        }
    }

    /// A file that the system cannot open; `wanted` is the remedy where it does not exist.
    pub(crate) fn unopened(file: &str, error: &io::Error, wanted: &str) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::new(file, "there is no such file or folder", wanted),
            _ => Self::io(file, error),
        }
    }

    /// A file that cannot be read.
    pub(crate) fn io(file: &str, error: &io::Error) -> Self {
        if error.raw_os_error().is_none() {
            // Not an OS error, so it came from the decompressor.
            let problem = format!(
                "it cannot be read: the compressed data is damaged or cut off, or something else follows it ({error})"
            );
            return Self::new(file, problem, "compress it again");
        }
        let remedy = match error.kind() {
            io::ErrorKind::PermissionDenied => "allow your user to read it",
            _ => "try to read it with another program",
        };
        Self::new(file, format!("it cannot be read: {error}"), remedy)
    }

    /// serde_json's message, without the position that it appends, and with long values shortened.
    pub(crate) fn message(error: &serde_json::Error) -> String {
        let text = error.to_string();
        let position = format!(" at line {} column {}", error.line(), error.column());
        let text = text.strip_suffix(&position).unwrap_or(&text);
        // "invalid type: string \"…\", expected u32": the value comes first, and may contain anything.
        let wanted = text.rfind(", expected ").filter(|_| text.starts_with("invalid "));
        match wanted.map(|at| text.split_at(at)) {
            Some((found, wanted)) => format!("{}{wanted}", shortened(found)),
            None => text.to_owned(),
        }
    }
}
