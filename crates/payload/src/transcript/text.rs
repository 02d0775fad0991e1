//! What do lines of text say? Each is a message, an empty one too; only where it ends is left out (LF, or CR LF).
//!
//! A line that is not UTF-8 is a binary message, since a text message cannot be anything else.

use super::lines::Lines;
use super::{Kind, Message, Reader, Reading, Trouble, kind_of};
use crate::source::remark::{Tally, Words};
use std::io::BufRead;

/// The messages of lines of text.
pub(super) struct Text<R>(Lines<R>);

impl<R: BufRead> Text<R> {
    pub(super) fn new(from: R, name: &str, reading: Reading) -> Self {
        Self(Lines::new(from, name, reading))
    }
}

impl<R: BufRead> Reader for Text<R> {
    fn next(&mut self, remarks: &mut Tally) -> Result<Option<Message>, Trouble> {
        let most = self.0.reading.largest_message.get();
        let Some(line) = self.0.next(most)? else {
            return Ok(None);
        };
        let (kind, payload) = (kind_of(line), line.to_vec().into());
        if kind == Kind::Binary {
            remarks.count(
                Words {
                    one: "line is not UTF-8, and is taken as a binary message",
                    many: "lines are not UTF-8, and are taken as binary messages",
                },
                &format!("line {}", self.0.number),
            );
        }
        Ok(Some(Message {
            direction: self.0.reading.direction,
            at: None,
            kind,
            connection: 0,
            payload,
        }))
    }
}
