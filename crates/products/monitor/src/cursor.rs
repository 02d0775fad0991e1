//! Cursors: places in a log, from which reading continues.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A place in a log. Positions count events from 0 on; the epoch tells logs apart, and the lives of one log between which events may have been
/// lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The epoch in which it was given.
    pub epoch: u64,
    /// The position of the next event to be read.
    pub position: u64,
}

/// A text that is no cursor.
#[derive(Debug, Clone, Error)]
#[error("{text:?} is no cursor: copy one from a line that a query or a subscription printed, like 00000000000000a1-42")]
pub struct CursorError {
    text: String,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.epoch, self.position)
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let parts = text.split_once('-');
        let read = parts.and_then(|(epoch, position)| {
            let epoch = u64::from_str_radix(epoch, 16).ok()?;
            Some(Self {
                epoch,
                position: position.parse().ok()?,
            })
        });
        read.ok_or_else(|| CursorError {
            text: text.chars().take(64).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let cursor = Cursor {
            epoch: 0xa1,
            position: 42,
        };
        assert_eq!(cursor.to_string(), "00000000000000a1-42");
        assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
        assert!("42".parse::<Cursor>().is_err());
    }
}
