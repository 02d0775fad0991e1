//! How are lines of any length read in bounded memory, and what is said of one that cannot be?

use super::{Reading, TranscriptError, Trouble};
use std::io::{self, BufRead, ErrorKind};

/// The lines of a file, one at a time, and where each stands.
pub(super) struct Lines<R> {
    from: R,
    /// As the file was named.
    pub(super) name: String,
    pub(super) reading: Reading,
    /// Which line was read last, from 1.
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

    /// Reads the next line, of at most `most` octets, without its end; none after the last.
    pub(super) fn next(&mut self, most: u64) -> Result<Option<&[u8]>, Trouble> {
        self.number += 1;
        match next(&mut self.from, most, &mut self.line) {
            Ok(Line::Whole) => Ok(Some(&self.line)),
            Ok(Line::End) => Ok(None),
            Ok(Line::TooLong(length)) => Err(self.too_large(length)),
            Err(error) => Err(Trouble::Rest(self.placed(TranscriptError::io(&self.name, &error)))),
        }
    }

    /// Refuses the line that was read last for its message's length.
    pub(super) fn too_large(&self, length: u64) -> Trouble {
        Trouble::Message(self.placed(self.reading.too_large(length, &self.name)))
    }

    /// Says of an error that it is in the line that was read last.
    pub(super) fn placed(&self, error: TranscriptError) -> TranscriptError {
        error.at(self.number, 1)
    }
}

/// What was read of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// All of it, without its end.
    Whole,
    /// Its beginning; it has this many octets in all.
    TooLong(u64),
    /// There is none: the file has ended.
    End,
}

/// Reads the next line into `line`, which holds no more than `most` octets; what is beyond is passed over. A line ends with LF or
/// CR LF, or with the file.
fn next(from: &mut impl BufRead, most: u64, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let mut length = 0_u64;
    // Room for the CR of a line that is as long as may be.
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
        let end = available.iter().position(|octet| *octet == b'\n');
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
