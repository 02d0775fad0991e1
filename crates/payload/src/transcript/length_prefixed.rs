//! What do messages with their lengths say? Before each stands how many octets it has: 4 octets, big endian. Nothing else is there.
//!
//! What is UTF-8 is taken as a message of text, since the file does not say. [`write()`] gives such a file.

use super::{Message, Reader, Reading, TranscriptError, Trouble, kind_of};
use crate::source::remark::Tally;
use std::io::{self, BufRead, Read as _, Write};

/// The octets of a length.
const PREFIX: usize = 4;

/// Messages with their lengths.
pub(super) struct Frames<R> {
    from: R,
    name: String,
    reading: Reading,
    /// Octets before what is read next.
    offset: u64,
}

/// Whether a file that starts so can be one, as far as one sees: a chain of lengths that leads to its end, or beyond what is seen.
pub(super) fn starts(head: &[u8]) -> bool {
    let mut rest = head;
    while let Some((prefix, behind)) = rest.split_first_chunk::<PREFIX>() {
        let length = u32::from_be_bytes(*prefix) as usize;
        // The first octet is not 0 where a message has 16 MiB or more, and then what is there may be anything.
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
    fn length(&mut self) -> Result<Option<u64>, Trouble> {
        let mut prefix = [0; PREFIX];
        let mut filled = 0;
        while filled < PREFIX {
            match self.from.read(&mut prefix[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(self.cut_off(&format!("it ends after {filled} of {PREFIX} octets of a length"))),
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Trouble::io(&self.name, &error)),
            }
        }
        Ok(Some(u64::from(u32::from_be_bytes(prefix))))
    }

    fn cut_off(&self, problem: &str) -> Trouble {
        let problem = format!("the file is cut off: {problem}");
        let remedy = "write it again, or say the format, if it is another";
        Trouble::Rest(TranscriptError::new(&self.name, problem, remedy).at_octet(self.offset))
    }
}

impl<R: BufRead> Reader for Frames<R> {
    fn next(&mut self, _: &mut Tally) -> Result<Option<Message>, Trouble> {
        let Some(length) = self.length()? else { return Ok(None) };
        let too_large = length > self.reading.largest_message.get();
        // A length may lie, so that room is made as octets come.
        let mut payload = Vec::new();
        let mut content = self.from.by_ref().take(length);
        let read = if too_large {
            io::copy(&mut content, &mut io::sink())
        } else {
            content.read_to_end(&mut payload).map(|read| read as u64)
        };
        let read = read.map_err(|error| Trouble::io(&self.name, &error))?;
        if read < length {
            return Err(self.cut_off(&format!(
                "the message has {length} octets by its length, and {read} are there"
            )));
        }
        let place = self.offset;
        self.offset += PREFIX as u64 + length;
        if too_large {
            let error = self.reading.too_large(length, &self.name).at_octet(place);
            return Err(Trouble::Message(error));
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

/// Writes what messages hold, each behind its length.
///
/// # Errors
/// When `to` does not take them, or one is as long as 4 GiB.
pub fn write<'a>(messages: impl IntoIterator<Item = &'a Message>, mut to: impl Write) -> io::Result<()> {
    for message in messages {
        let too_long = |_| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "a message of 4 GiB or more has no such length",
            )
        };
        let length = u32::try_from(message.payload.len()).map_err(too_long)?;
        to.write_all(&length.to_be_bytes())?;
        to.write_all(&message.payload)?;
    }
    Ok(())
}
