//! How is a JSON file as long as one likes walked, a value at a time? In memory that does not grow with it.
//!
//! Only the structure is looked at, and only where the walk leads: what is passed over need not be right, nor are commas. What is kept
//! is read by a reader of JSON.

use std::io::{self, BufRead, ErrorKind};

/// Where a walk is.
pub(super) struct Scanner<R> {
    from: R,
    /// From 1.
    line: usize,
    /// Octets of the line before this.
    column: usize,
}

/// Why a walk ends.
#[derive(Debug)]
pub(super) enum Fault {
    /// There is nothing where something should be.
    End,
    /// Something else is there.
    Unexpected(u8),
    /// The system gives no more.
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

    /// The line and the octet in it that come next, from 1.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.line, self.column + 1)
    }

    /// The next octet that is not white space, which stays.
    pub(super) fn peek(&mut self) -> Result<u8, Fault> {
        loop {
            let octet = *self.available()?.first().ok_or(Fault::End)?;
            if !octet.is_ascii_whitespace() {
                return Ok(octet);
            }
            self.pass(octet);
        }
    }

    /// Passes this octet, if it comes next.
    pub(super) fn enter(&mut self, expected: u8) -> Result<(), Fault> {
        let octet = self.peek()?;
        if octet != expected {
            return Err(Fault::Unexpected(octet));
        }
        self.pass(octet);
        Ok(())
    }

    /// Whether there is another member of the list or object; its end is passed.
    pub(super) fn another(&mut self, close: u8) -> Result<bool, Fault> {
        while self.peek()? == b',' {
            self.pass(b',');
        }
        let more = self.peek()? != close;
        if !more {
            self.pass(close);
        }
        Ok(more)
    }

    /// A key, as it is written between its quotation marks, and its colon. Of a key longer than 64 octets, which is none that
    /// anybody looks for, that many.
    pub(super) fn key(&mut self) -> Result<Vec<u8>, Fault> {
        const LONGEST: usize = 64;
        if self.peek()? != b'"' {
            return Err(Fault::Unexpected(self.peek()?));
        }
        let mut key = Vec::new();
        self.value(LONGEST, &mut key)?;
        self.enter(b':')?;
        Ok(key
            .split_off(1)
            .split(|octet| *octet == b'"')
            .next()
            .unwrap_or_default()
            .to_vec())
    }

    /// Passes a value, whatever it is, and keeps its first `most` octets. Gives how many it has.
    pub(super) fn value(&mut self, most: usize, kept: &mut Vec<u8>) -> Result<u64, Fault> {
        self.peek()?;
        kept.clear();
        let mut shape = Shape::default();
        let mut length = 0;
        loop {
            let available = self.available()?;
            if available.is_empty() {
                // A number may end with the file; all else is cut off.
                return if shape.is_scalar() { Ok(length) } else { Err(Fault::End) };
            }
            let end = available.iter().position(|octet| shape.ends_before(*octet));
            let piece = &available[..end.unwrap_or(available.len())];
            kept.extend_from_slice(&piece[..piece.len().min(most - kept.len())]);
            length += piece.len() as u64;
            let lines = piece.iter().filter(|octet| **octet == b'\n').count();
            let used = piece.len();
            let tail = piece.iter().rev().position(|octet| *octet == b'\n');
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
        // What is buffered already is given again.
        self.from.fill_buf().map_err(Fault::Io)
    }

    fn pass(&mut self, octet: u8) {
        self.from.consume(1);
        self.column += 1;
        if octet == b'\n' {
            self.line += 1;
            self.column = 0;
        }
    }
}

/// How much of a value has gone by.
#[derive(Default)]
struct Shape {
    begun: bool,
    done: bool,
    depth: u64,
    in_string: bool,
    escaped: bool,
}

impl Shape {
    /// Whether the value ended before this octet; if not, it takes the octet in.
    fn ends_before(&mut self, octet: u8) -> bool {
        if self.done {
            return true;
        }
        if self.in_string {
            match octet {
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
        match octet {
            b'"' if self.depth == 0 && self.begun => return true,
            b'"' => self.in_string = true,
            b'{' | b'[' if self.depth == 0 && self.begun => return true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' | b',' | b':' if self.depth == 0 => return true,
            b'}' | b']' => {
                self.depth -= 1;
                self.done = self.depth == 0;
            }
            _ if self.depth == 0 && octet.is_ascii_whitespace() => return true,
            _ => {}
        }
        self.begun = true;
        false
    }

    fn is_scalar(&self) -> bool {
        self.done || (self.begun && self.depth == 0 && !self.in_string)
    }
}
