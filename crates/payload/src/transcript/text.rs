//! What do lines of text say? Each is a message, an empty one too; only where it ends is left out (LF, or CR LF).
//!
//! A line that is not UTF-8 is a binary message, since a text message cannot be anything else.

use super::lines::{self, Line};
use super::{Kind, Message, Reading, TranscriptError};
use std::io::BufRead;

/// The messages of lines of text.
pub(super) struct Lines<R> {
    /// None once nothing more can be read.
    from: Option<R>,
    name: String,
    reading: Reading,
    number: usize,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(from: R, name: &str, reading: Reading) -> Self {
        Self {
            from: Some(from),
            name: name.to_owned(),
            reading,
            number: 0,
            line: Vec::new(),
        }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<Message, TranscriptError>;

    fn next(&mut self) -> Option<Self::Item> {
        let most = self.reading.largest_message;
        let read = lines::next(self.from.as_mut()?, most.get(), &mut self.line);
        self.number += 1;
        match read {
            Ok(Line::Whole) => {}
            Ok(Line::TooLong(length)) => {
                let problem = format!(
                    "the message has {length} octets, and no more than {} are read",
                    most.get()
                );
                let remedy = "allow larger messages, or leave it out";
                return Some(Err(TranscriptError::new(&self.name, problem, remedy).at(self.number, 1)));
            }
            Ok(Line::End) => {
                self.from = None;
                return None;
            }
            Err(error) => {
                self.from = None;
                return Some(Err(TranscriptError::io(&self.name, &error).at(self.number, 1)));
            }
        }
        let kind = match std::str::from_utf8(&self.line) {
            Ok(_) => Kind::Text,
            Err(_) => Kind::Binary,
        };
        Some(Ok(Message {
            direction: self.reading.direction,
            at: None,
            kind,
            connection: 0,
            payload: self.line.as_slice().to_vec().into(),
        }))
    }
}
