//! What do lines of text say? Each is a message, an empty one too; only where it ends is left out (LF, or CR LF).
//!
//! A line that is not UTF-8 is a binary message, since a text message cannot be anything else.

use super::lines::{self, Line};
use super::{Kind, Message, Reader, Reading, TranscriptError, Trouble, kind_of};
use crate::source::remark::Tally;
use std::io::BufRead;

/// The messages of lines of text.
pub(super) struct Lines<R> {
    from: R,
    name: String,
    reading: Reading,
    number: usize,
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
}

impl<R: BufRead> Reader for Lines<R> {
    fn next(&mut self, remarks: &mut Tally) -> Result<Option<Message>, Trouble> {
        self.number += 1;
        let most = self.reading.largest_message.get();
        let placed = |error: TranscriptError| error.at(self.number, 1);
        match lines::next(&mut self.from, most, &mut self.line) {
            Ok(Line::Whole) => {}
            Ok(Line::End) => return Ok(None),
            Ok(Line::TooLong(length)) => {
                return Err(Trouble::Message(placed(self.reading.too_large(length, &self.name))));
            }
            Err(error) => return Err(Trouble::Rest(placed(TranscriptError::io(&self.name, &error)))),
        }
        let kind = kind_of(&self.line);
        if kind == Kind::Binary {
            remarks.count(
                "lines are not UTF-8, and are taken as binary messages",
                &format!("line {}", self.number),
            );
        }
        Ok(Some(Message {
            direction: self.reading.direction,
            at: None,
            kind,
            connection: 0,
            payload: self.line.clone().into(),
        }))
    }
}
