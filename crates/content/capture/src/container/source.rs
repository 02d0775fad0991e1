//! A buffered reader that knows its position in the file.
//!
//! Its buffer grows with the data that arrives, never with a length that the file states.

use std::io::{self, ErrorKind, Read};

/// Bytes requested from the reader at once: finally, and at first. Our own choice: large enough that system calls cost nothing, and small
/// enough at first for small files.
const CHUNK: usize = 256 << 10;
const FIRST_CHUNK: usize = 8 << 10;

/// A reader, and the bytes read ahead from it.
#[derive(Debug)]
pub(super) struct Source<R> {
    from: R,
    buffer: Vec<u8>,
    /// The bytes of the buffer that are not consumed yet.
    start: usize,
    end: usize,
    /// The number of the file's bytes before `start`.
    offset: u64,
    ended: bool,
}

impl<R: Read> Source<R> {
    pub(super) fn new(from: R) -> Self {
        Self {
            from,
            buffer: vec![0; FIRST_CHUNK],
            start: 0,
            end: 0,
            offset: 0,
            ended: false,
        }
    }

    /// Bytes consumed so far.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes read so far: where the file ends, once it has.
    pub(super) fn bytes_read(&self) -> u64 {
        self.offset + (self.end - self.start) as u64
    }

    /// Peeks at the next `count` bytes; fewer where the file ends.
    ///
    /// # Errors
    /// Those of the reader.
    pub(super) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.end - self.start < count && !self.ended {
            self.refill(count)?;
        }
        let there = count.min(self.end - self.start);
        Ok(&self.buffer[self.start..self.start + there])
    }

    /// Consumes bytes that were peeked at, and returns them until the next call.
    pub(super) fn take(&mut self, count: usize) -> &[u8] {
        let taken = self.start..self.start + count;
        self.start += count;
        self.offset += count as u64;
        &self.buffer[taken]
    }

    /// Discards `count` bytes; returns how many there were.
    ///
    /// # Errors
    /// Those of the reader.
    pub(super) fn skip(&mut self, count: u64) -> io::Result<u64> {
        let mut left = count;
        while left > 0 {
            let there = self.peek(left.min(CHUNK as u64) as usize)?.len();
            if there == 0 {
                break;
            }
            self.take(there);
            left -= there as u64;
        }
        Ok(count - left)
    }

    fn refill(&mut self, wanted: usize) -> io::Result<()> {
        if self.start > 0 && self.buffer.len() - self.start < wanted.max(CHUNK / 2) {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() {
            // The buffer is full and holds less than requested: double it.
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        match self.from.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.ended = true,
            Ok(count) => {
                self.end += count;
                if self.end == self.buffer.len() && self.end < CHUNK {
                    self.buffer.resize(self.end * 2, 0);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_is_never_met_takes_no_memory() {
        let mut source = Source::new(&[7_u8; 1000][..]);
        assert_eq!(source.peek(1 << 40).unwrap().len(), 1000);
        assert_eq!(source.buffer.len(), FIRST_CHUNK);
    }

    #[test]
    fn what_is_longer_than_the_buffer_is_seen_whole() {
        let file: Vec<u8> = (0..CHUNK * 3).map(|at| (at % 251) as u8).collect();
        let mut source = Source::new(&file[..]);
        assert_eq!(source.peek(5).unwrap(), &file[..5]);
        assert_eq!(source.take(5), &file[..5]);
        assert_eq!(source.peek(CHUNK * 2).unwrap(), &file[5..CHUNK * 2 + 5]);
        assert_eq!(source.skip(u64::MAX).unwrap(), (CHUNK * 3 - 5) as u64);
        assert_eq!(
            (source.offset(), source.bytes_read()),
            (file.len() as u64, file.len() as u64)
        );
    }
}
