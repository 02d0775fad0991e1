//! Reads lines of text: each line is a message, even an empty one. Line ends (LF, or CR LF) are not part of messages.
//!
//! A line that is not UTF-8 is a binary message, since a text message must be UTF-8. Where nobody said that lines are messages, those of a
//! log are refused.

use super::detect_log::{LogDetector, Proposal};
use super::lines::Lines;
use super::{Message, ReadError, Reader, Reading, kind_of};
use crate::reading::note::{NoteCounter, Plural};
use lastmile_codec::message::Kind;
use std::io::BufRead;

/// The messages of lines of text.
pub(super) struct Text<R> {
    lines: Lines<R>,
    /// None where lines are known to be messages.
    detector: Option<LogDetector>,
    proposal: Option<Proposal>,
}

const DATED: &str = "file has a time stamp at the beginning of each line, which is compressed with it";

impl<R: BufRead> Text<R> {
    pub(super) fn new(from: R, name: &str, reading: Reading) -> Self {
        Self {
            lines: Lines::new(from, name, reading),
            detector: reading.format.is_none().then(LogDetector::default),
            proposal: None,
        }
    }

    /// Refuses the lines that were examined, if they are a log's; examines no more.
    fn end_detection(&mut self, notes: &mut NoteCounter) -> Result<(), ReadError> {
        let Some(detector) = self.detector.take() else {
            return Ok(());
        };
        if let Some(refusal) = detector.refusal(&self.lines.name) {
            self.proposal = refusal.proposal;
            return Err(ReadError::Rest(refusal.error));
        }
        if detector.is_dated() {
            notes.count(DATED, &self.lines.name);
        }
        Ok(())
    }
}

impl<R: BufRead> Reader for Text<R> {
    fn next(&mut self, remarks: &mut NoteCounter) -> Result<Option<Message>, ReadError> {
        let most = self.lines.reading.largest_message.get();
        let Some(line) = self.lines.next(most)? else {
            self.end_detection(remarks)?;
            return Ok(None);
        };
        let is_examined = self.detector.as_mut().is_some_and(|detector| detector.push(line));
        let (kind, payload) = (kind_of(line), line.to_vec().into());
        if kind == Kind::Binary {
            remarks.count(
                Plural {
                    one: "line is not UTF-8, and is read as a binary message",
                    many: "lines are not UTF-8, and are read as binary messages",
                },
                &format!("line {}", self.lines.number),
            );
        }
        if is_examined {
            self.end_detection(remarks)?;
        }
        Ok(Some(Message {
            direction: self.lines.reading.direction,
            at: None,
            kind,
            connection: 0,
            payload,
        }))
    }

    fn line(&self) -> Option<usize> {
        Some(self.lines.number)
    }

    fn proposal(&self) -> Option<&Proposal> {
        self.proposal.as_ref()
    }
}
