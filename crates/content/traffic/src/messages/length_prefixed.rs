//! Reads length-prefixed messages: the length of each in 4 bytes, big endian, then its bytes, and nothing else.
//!
//! A message that is UTF-8 is read as text, since the file does not say.

use super::{Message, ReadError, Reader, Reading, TranscriptError, kind_of};
use crate::reading::note::NoteCounter;
use std::io::{self, BufRead, Read as _};

/// The size of a length, in bytes.
const PREFIX: usize = 4;

/// Messages with their lengths.
pub(super) struct Frames<R> {
    from: R,
    name: String,
    reading: Reading,
    /// The offset of the next length.
    offset: u64,
}

/// Whether a file with this head can be length-prefixed: its lengths lead from one to the next up to the end of the head, or beyond.
pub(super) fn starts(head: &[u8]) -> bool {
    let mut rest = head;
    while let Some((prefix, behind)) = rest.split_first_chunk::<PREFIX>() {
        let length = u32::from_be_bytes(*prefix) as usize;
        // A length of 16 MiB or more, whose first byte is not 0, is more likely another kind of file.
        if prefix[0] != 0 {
            return false;
        }
        rest = behind.get(length..).unwrap_or_default();
    }
    head.len() >= PREFIX
}

impl<R: BufRead> Frames<R> {
    pub(super) fn new(from: R, name: &str, reading: Reading) -> Self {
        Self {
            from,
            name: name.to_owned(),
            reading,
            offset: 0,
        }
    }

    /// The next length; none at the end.
    fn length(&mut self) -> Result<Option<u64>, ReadError> {
        let mut prefix = [0; PREFIX];
        let mut filled = 0;
        while filled < PREFIX {
            match self.from.read(&mut prefix[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(self.cut_off(&format!("it ends after {filled} of the {PREFIX} bytes of a length"))),
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ReadError::io(&self.name, &error)),
            }
        }
        Ok(Some(u64::from(u32::from_be_bytes(prefix))))
    }

    fn cut_off(&self, problem: &str) -> ReadError {
        let problem = format!("the file is cut off: {problem}");
        let remedy = "write it again, or set the input format if it is another";
        ReadError::Rest(TranscriptError::new(&self.name, problem, remedy).at_byte(self.offset))
    }
}

impl<R: BufRead> Reader for Frames<R> {
    fn next(&mut self, _: &mut NoteCounter) -> Result<Option<Message>, ReadError> {
        let Some(length) = self.length()? else { return Ok(None) };
        let too_large = length > self.reading.largest_message.get();
        // A length may lie, so memory is allocated only as bytes arrive.
        let mut payload = Vec::new();
        let mut content = self.from.by_ref().take(length);
        let read = if too_large {
            io::copy(&mut content, &mut io::sink())
        } else {
            content.read_to_end(&mut payload).map(|read| read as u64)
        };
        let read = read.map_err(|error| ReadError::io(&self.name, &error))?;
        if read < length {
            return Err(self.cut_off(&format!(
                "the message should have {length} bytes, but only {read} are there"
            )));
        }
        let offset = self.offset;
        self.offset += PREFIX as u64 + length;
        if too_large {
            let error = self.reading.too_large(length, &self.name).at_byte(offset);
            return Err(ReadError::Message(error));
        }
        Ok(Some(Message {
            direction: self.reading.direction,
            at: None,
            kind: kind_of(&payload),
            connection: 0,
            payload: payload.into(),
        }))
    }
}
