//! Walks a JSON file of any length, one value at a time, in constant memory.
//!
//! Only the structure along the walk is checked: skipped values and commas need not be valid. The values that are kept are left to
//! a JSON parser.

use std::io::{self, BufRead, ErrorKind};

/// A walk and its position.
pub(super) struct Scanner<R> {
    from: R,
    /// From 1.
    line: usize,
    /// How many bytes of the line have been read.
    column: usize,
}

/// Why a walk ends.
#[derive(Debug)]
pub(super) enum Fault {
    /// The file ends too early.
    End,
    /// An unexpected byte.
    Unexpected(u8),
    /// Reading failed.
    Io(io::Error),
}

impl<R: BufRead> Scanner<R> {
    pub(super) fn new(from: R) -> Self {
        Self {
            from,
            line: 1,
            column: 0,
        }
    }

    /// The line and column of the next byte, from 1.
    pub(super) fn position(&self) -> (usize, usize) {
        (self.line, self.column + 1)
    }

    /// The next byte that is not white space; it is not consumed.
    pub(super) fn peek(&mut self) -> Result<u8, Fault> {
        loop {
            let byte = *self.available()?.first().ok_or(Fault::End)?;
            if !byte.is_ascii_whitespace() {
                return Ok(byte);
            }
            self.advance(byte);
        }
    }

    /// Consumes this byte, if it comes next.
    pub(super) fn consume(&mut self, expected: u8) -> Result<(), Fault> {
        let byte = self.peek()?;
        if byte != expected {
            return Err(Fault::Unexpected(byte));
        }
        self.advance(byte);
        Ok(())
    }

    /// Whether there is another member of the list or object; consumes its end if there is none.
    pub(super) fn has_another(&mut self, close: u8) -> Result<bool, Fault> {
        while self.peek()? == b',' {
            self.advance(b',');
        }
        let more = self.peek()? != close;
        if !more {
            self.advance(close);
        }
        Ok(more)
    }

    /// Reads a key and its colon; returns the key as written between its quotation marks. A key is cut at 64 bytes, longer than any
    /// that is searched for.
    pub(super) fn key(&mut self) -> Result<Vec<u8>, Fault> {
        const KEY_LENGTH_MAX: usize = 64;
        if self.peek()? != b'"' {
            return Err(Fault::Unexpected(self.peek()?));
        }
        let mut key = Vec::new();
        self.value(KEY_LENGTH_MAX, &mut key)?;
        self.consume(b':')?;
        Ok(key
            .split_off(1)
            .split(|byte| *byte == b'"')
            .next()
            .unwrap_or_default()
            .to_vec())
    }

    /// Reads any value, and stores its first `most` bytes in `kept`. Returns its size.
    pub(super) fn value(&mut self, most: usize, kept: &mut Vec<u8>) -> Result<u64, Fault> {
        self.peek()?;
        kept.clear();
        let mut shape = ValueState::default();
        let mut length = 0;
        loop {
            let available = self.available()?;
            if available.is_empty() {
                // Only a number may end with the file; any other value is cut off.
                return if shape.is_scalar() { Ok(length) } else { Err(Fault::End) };
            }
            let end = available.iter().position(|byte| shape.ends_before(*byte));
            let piece = &available[..end.unwrap_or(available.len())];
            kept.extend_from_slice(&piece[..piece.len().min(most - kept.len())]);
            length += piece.len() as u64;
            let lines = piece.iter().filter(|byte| **byte == b'\n').count();
            let used = piece.len();
            let tail = piece.iter().rev().position(|byte| *byte == b'\n');
            self.line += lines;
            self.column = tail.unwrap_or(self.column + used);
            self.from.consume(used);
            if end.is_some() {
                return match length {
                    0 => Err(Fault::Unexpected(self.peek()?)),
                    _ => Ok(length),
                };
            }
        }
    }

    fn available(&mut self) -> Result<&[u8], Fault> {
        loop {
            match self.from.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::Io(error)),
            }
        }
        // This second call returns what is buffered already.
        self.from.fill_buf().map_err(Fault::Io)
    }

    fn advance(&mut self, byte: u8) {
        self.from.consume(1);
        self.column += 1;
        if byte == b'\n' {
            self.line += 1;
            self.column = 0;
        }
    }
}

/// How much of a value has been read.
#[derive(Default)]
struct ValueState {
    begun: bool,
    done: bool,
    depth: u64,
    in_string: bool,
    escaped: bool,
}

impl ValueState {
    /// Whether the value ended before this byte; if not, the byte becomes part of it.
    fn ends_before(&mut self, byte: u8) -> bool {
        if self.done {
            return true;
        }
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.in_string = false;
                    self.done = self.depth == 0;
                }
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' if self.depth == 0 && self.begun => return true,
            b'"' => self.in_string = true,
            b'{' | b'[' if self.depth == 0 && self.begun => return true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' | b',' | b':' if self.depth == 0 => return true,
            b'}' | b']' => {
                self.depth -= 1;
                self.done = self.depth == 0;
            }
            _ if self.depth == 0 && byte.is_ascii_whitespace() => return true,
            _ => {}
        }
        self.begun = true;
        false
    }

    fn is_scalar(&self) -> bool {
        self.done || (self.begun && self.depth == 0 && !self.in_string)
    }
}
