//! How are lines of any length read in bounded memory?

use std::io::{self, BufRead, ErrorKind};

/// What was read of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// All of it, without its end.
    Whole,
    /// Its beginning; it has this many octets in all.
    TooLong(u64),
    /// There is none: the file has ended.
    End,
}

/// Reads the next line into `line`, which holds no more than `most` octets; what is beyond is passed over. A line ends with LF or
/// CR LF, or with the file.
pub(super) fn next(from: &mut impl BufRead, most: u64, line: &mut Vec<u8>) -> io::Result<Line> {
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
