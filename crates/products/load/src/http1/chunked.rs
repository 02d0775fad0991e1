//! Reads a chunked body (RFC 9112 section 7.1) as its bytes arrive, in constant memory.

use super::response::{HEAD_MAX, ResponseError};

/// A chunked body: what is expected next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ChunkedBody {
    expected: Expected,
    /// The bytes of the current line, or of the trailer section.
    line: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Expected {
    /// The first digit of a chunk's size.
    #[default]
    SizeStart,
    /// More digits of a chunk's size.
    Size(u64),
    /// The rest of the size's line: chunk extensions.
    Extension(u64),
    Data(u64),
    /// The line end behind the data: CR or LF, and LF after CR.
    DataEnd,
    DataEndAfterReturn,
    /// A line of the trailer section: whether it has been empty so far.
    Trailer {
        is_empty: bool,
    },
    End,
}

/// The maximum length of a line with a size and its extensions: our own choice.
const SIZE_LINE_MAX: usize = 4096;

impl ChunkedBody {
    pub(super) fn is_complete(self) -> bool {
        self.expected == Expected::End
    }

    /// Reads bytes up to the end of the body; returns how many belong to it, and how many of them are data.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<(usize, u64), ResponseError> {
        let (mut read, mut body) = (0, 0);
        while read < bytes.len() && self.expected != Expected::End {
            if let Expected::Data(left) = self.expected {
                let taken = (bytes.len() - read).min(usize::try_from(left).unwrap_or(usize::MAX));
                read += taken;
                body += taken as u64;
                self.expected = match left - taken as u64 {
                    0 => Expected::DataEnd,
                    left => Expected::Data(left),
                };
                continue;
            }
            self.read_byte(bytes[read])?;
            read += 1;
        }
        Ok((read, body))
    }

    fn read_byte(&mut self, byte: u8) -> Result<(), ResponseError> {
        let malformed = |why| Err(ResponseError::Malformed(why));
        self.line += 1;
        let line_max = match self.expected {
            Expected::Trailer { .. } => HEAD_MAX,
            _ => SIZE_LINE_MAX,
        };
        if self.line > line_max {
            return malformed("a line of its chunked body is too long");
        }
        self.expected = match (self.expected, byte) {
            (Expected::SizeStart, _) => match hex_digit(byte) {
                Some(digit) => Expected::Size(digit),
                None => return malformed("the size of a chunk is no hexadecimal number"),
            },
            (Expected::Size(size) | Expected::Extension(size), b'\n') => {
                self.line = 0;
                if size == 0 {
                    Expected::Trailer { is_empty: true }
                } else {
                    Expected::Data(size)
                }
            }
            (Expected::Size(size), b';' | b' ' | b'\t' | b'\r') | (Expected::Extension(size), _) => {
                Expected::Extension(size)
            }
            (Expected::Size(size), _) => match (hex_digit(byte), size.checked_mul(16)) {
                (Some(digit), Some(sixteenfold)) => Expected::Size(sixteenfold + digit),
                _ => return malformed("the size of a chunk is no hexadecimal number of 64 bits"),
            },
            (Expected::DataEnd, b'\r') => Expected::DataEndAfterReturn,
            (Expected::DataEnd | Expected::DataEndAfterReturn, b'\n') => {
                self.line = 0;
                Expected::SizeStart
            }
            (Expected::DataEnd | Expected::DataEndAfterReturn, _) => {
                return malformed("a chunk is longer than its size");
            }
            (Expected::Trailer { is_empty: true }, b'\n') => Expected::End,
            (Expected::Trailer { is_empty: false }, b'\n') => Expected::Trailer { is_empty: true },
            (Expected::Trailer { is_empty }, b'\r') => Expected::Trailer { is_empty },
            (Expected::Trailer { .. }, _) => Expected::Trailer { is_empty: false },
            // Data is read above, and nothing follows the end.
            (other @ (Expected::Data(_) | Expected::End), _) => other,
        };
        Ok(())
    }
}

fn hex_digit(byte: u8) -> Option<u64> {
    char::from(byte).to_digit(16).map(u64::from)
}
