//! Reads lines of any length in bounded memory, and refuses those that are too long.

use super::{ReadError, Reading, TranscriptError};
use std::io::{self, BufRead, ErrorKind};

/// The lines of a file, one at a time, with their numbers.
pub(super) struct Lines<R> {
    from: R,
    /// The name of the file, as the caller gave it.
    pub(super) name: String,
    pub(super) reading: Reading,
    /// The number of the line that was read last, from 1.
    pub(super) number: usize,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(from: R, name: &str, reading: Reading) -> Self {
        Self {
            from,
            name: name.to_owned(),
            reading,
            number: 0,
            line: Vec::new(),
        }
    }

    /// Reads the next line, of at most `most` bytes, without its end; none after the last.
    pub(super) fn next(&mut self, most: u64) -> Result<Option<&[u8]>, ReadError> {
        self.number += 1;
        match next(&mut self.from, most, &mut self.line) {
            Ok(Line::Whole) => Ok(Some(&self.line)),
            Ok(Line::End) => Ok(None),
            Ok(Line::TooLong(length)) => Err(self.too_large(length)),
            Err(error) => Err(ReadError::Rest(
                self.with_position(TranscriptError::io(&self.name, &error)),
            )),
        }
    }

    /// The error for the line read last, whose message is too long.
    pub(super) fn too_large(&self, length: u64) -> ReadError {
        ReadError::Message(self.with_position(self.reading.too_large(length, &self.name)))
    }

    /// Adds the position of the line read last to an error.
    pub(super) fn with_position(&self, error: TranscriptError) -> TranscriptError {
        error.at(self.number, 1)
    }
}

/// How much of a line was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// The whole line, without its end.
    Whole,
    /// Only its beginning; the whole line has this many bytes.
    TooLong(u64),
    /// No line: the file has ended.
    End,
}

/// Reads the next line into `line`, up to `most` bytes; the rest of it is skipped. A line ends with LF or CR LF, or with the file.
fn next(from: &mut impl BufRead, most: u64, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let mut length = 0_u64;
    // Room for the CR of a line of the greatest length.
    let room = usize::try_from(most).unwrap_or(usize::MAX).saturating_add(1);
    let mut last = 0;
    loop {
        let available = match from.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            break;
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let piece = &available[..end.unwrap_or(available.len())];
        let kept = piece.len().min(room - line.len());
        line.extend_from_slice(&piece[..kept]);
        length += piece.len() as u64;
        last = piece.last().copied().unwrap_or(last);
        let used = piece.len() + usize::from(end.is_some());
        from.consume(used);
        if end.is_some() {
            let carriage_return = u64::from(last == b'\r' && length > 0);
            length -= carriage_return;
            line.truncate(usize::try_from(length).unwrap_or(usize::MAX).min(room));
            return Ok(verdict(length, most));
        }
    }
    Ok(if length == 0 { Line::End } else { verdict(length, most) })
}

fn verdict(length: u64, most: u64) -> Line {
    if length > most {
        Line::TooLong(length)
    } else {
        Line::Whole
    }
}
