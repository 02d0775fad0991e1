//! The body of a message (RFC 9112 sections 6 and 7.1), read as its bytes arrive.

/// How the length of a body is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

/// A body: what is expected next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageBody {
    expected: Expected,
    /// The bytes of the current line, or of the trailer section.
    line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// Content without chunks.
    Content(u64),
    UntilClose,
    /// The first digit of a chunk's size.
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

/// Bytes of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyPart {
    Content(usize),
    /// Sizes of chunks, line ends and the trailer section.
    Framing(usize),
}

/// A body that is malformed, and why. Nothing that follows can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BodyError(pub &'static str);

/// The maximum length of a line with a size and its extensions, and of the trailer section: our own choice.
const SIZE_LINE_MAX: usize = 4096;
const TRAILER_MAX: usize = 64 * 1024;

impl MessageBody {
    pub const fn new(framing: Framing) -> Self {
        let expected = match framing {
            Framing::Length(0) => Expected::End,
            Framing::Length(length) => Expected::Content(length),
            Framing::Chunked => Expected::SizeStart,
            Framing::UntilClose => Expected::UntilClose,
        };
        Self { expected, line: 0 }
    }

    pub fn is_complete(&self) -> bool {
        self.expected == Expected::End
    }

    /// Whether the end of the connection ends the body.
    pub fn ends_with_connection(&self) -> bool {
        matches!(self.expected, Expected::UntilClose | Expected::End)
    }

    /// Reads the next part of the body from the start of `bytes`; a part of no bytes at the end of either.
    ///
    /// # Errors
    /// When the chunks are malformed.
    pub fn read(&mut self, bytes: &[u8]) -> Result<BodyPart, BodyError> {
        let content = match self.expected {
            Expected::Content(left) | Expected::Data(left) => left.min(bytes.len() as u64),
            Expected::UntilClose => bytes.len() as u64,
            _ => 0,
        };
        if content > 0 {
            self.skip(content);
            return Ok(BodyPart::Content(content as usize));
        }
        let mut read = 0;
        while read < bytes.len() && !matches!(self.expected, Expected::Data(_) | Expected::End) {
            self.read_framing(bytes[read])?;
            read += 1;
        }
        Ok(BodyPart::Framing(read))
    }

    /// Takes `count` bytes of content as read, which are not there. Returns whether they are all content: otherwise nothing that follows can
    /// be read.
    pub fn skip(&mut self, count: u64) -> bool {
        self.expected = match self.expected {
            Expected::UntilClose => Expected::UntilClose,
            Expected::Content(left) if count == left => Expected::End,
            Expected::Content(left) if count < left => Expected::Content(left - count),
            Expected::Data(left) if count == left => Expected::DataEnd,
            Expected::Data(left) if count < left => Expected::Data(left - count),
            _ => return false,
        };
        true
    }

    fn read_framing(&mut self, byte: u8) -> Result<(), BodyError> {
        let malformed = |why| Err(BodyError(why));
        self.line += 1;
        let line_max = match self.expected {
            Expected::Trailer { .. } => TRAILER_MAX,
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
            // Content is read above, and nothing follows the end.
            (other @ (Expected::Content(_) | Expected::UntilClose | Expected::Data(_) | Expected::End), _) => other,
        };
        Ok(())
    }
}

fn hex_digit(byte: u8) -> Option<u64> {
    char::from(byte).to_digit(16).map(u64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The content, the bytes read, and whether the body is complete.
    fn read(framing: Framing, bytes: &[u8]) -> Result<(usize, usize, bool), BodyError> {
        let (mut body, mut content, mut read) = (MessageBody::new(framing), 0, 0);
        loop {
            let count = match body.read(&bytes[read..])? {
                BodyPart::Content(count) => {
                    content += count;
                    count
                }
                BodyPart::Framing(count) => count,
            };
            read += count;
            if count == 0 {
                return Ok((content, read, body.is_complete()));
            }
        }
    }

    #[test]
    fn a_body_ends_by_its_length_its_last_chunk_or_the_connection() {
        assert_eq!(read(Framing::Length(2), b"okHTTP"), Ok((2, 2, true)));
        assert_eq!(read(Framing::Length(0), b"HTTP"), Ok((0, 0, true)));
        assert_eq!(read(Framing::UntilClose, b"all"), Ok((3, 3, false)));
        let chunked = b"5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n";
        assert_eq!(read(Framing::Chunked, chunked), Ok((6, chunked.len(), true)));
        assert!(read(Framing::Chunked, b"5\r\nhello!").is_err());
    }

    #[test]
    fn missing_bytes_are_content_or_nothing_that_follows_can_be_read() {
        let mut body = MessageBody::new(Framing::Chunked);
        assert_eq!(body.read(b"5\r\nh"), Ok(BodyPart::Framing(3)));
        assert!(!body.skip(6));
        assert!(body.skip(5));
        assert!(!body.skip(1));
        assert_eq!(body.read(b"\r\n0\r\n\r\n"), Ok(BodyPart::Framing(7)));
        assert!(body.is_complete());
    }
}
