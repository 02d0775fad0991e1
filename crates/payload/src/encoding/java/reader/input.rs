//! Which bytes are there, and where in the stream?

use super::super::modified_utf8;
use super::ReadError;

/// Either the bytes do not suffice, or they are wrong.
pub(super) enum Stop {
    Starved,
    Failed(ReadError),
}

impl From<ReadError> for Stop {
    fn from(error: ReadError) -> Self {
        Self::Failed(error)
    }
}

/// Bytes that arrived and are not used yet.
#[derive(Default)]
pub(super) struct Input {
    bytes: Vec<u8>,
    /// The first that is not used yet.
    at: usize,
    /// The offset in the stream of the first of `bytes`.
    before: u64,
}

impl Input {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        // Used bytes go when they are the larger part, so that each is moved about once.
        if self.at > self.bytes.len() / 2 {
            self.bytes.drain(..self.at);
            self.before += self.at as u64;
            self.at = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The offset in the stream of the first byte that is not used yet.
    pub(super) fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    /// How many bytes are not used yet.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// `length` bytes, from `ahead` of the first unused one.
    pub(super) fn slice(&self, ahead: usize, length: usize) -> Result<&[u8], Stop> {
        let from = self.at + ahead;
        self.bytes.get(from..from.saturating_add(length)).ok_or(Stop::Starved)
    }

    /// As [`slice`](Self::slice), of a length known beforehand.
    pub(super) fn peek<const N: usize>(&self, ahead: usize) -> Result<[u8; N], Stop> {
        Ok(self.slice(ahead, N)?.try_into().expect("N bytes were asked for"))
    }

    /// As [`slice`](Self::slice), as text.
    pub(super) fn text(&self, ahead: usize, length: usize) -> Result<String, Stop> {
        let bytes = self.slice(ahead, length)?;
        modified_utf8::decode(bytes).map_err(|(index, expected)| {
            let offset = self.offset() + (ahead + index) as u64;
            Stop::Failed(ReadError::Byte {
                offset,
                expected,
                found: bytes[index],
            })
        })
    }

    /// Marks bytes as used; they have been looked at.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
        debug_assert!(self.at <= self.bytes.len(), "only bytes that are there are used");
    }

    /// Uses as many as there are, up to `most`.
    pub(super) fn take_up_to(&mut self, most: usize) -> Vec<u8> {
        let length = self.len().min(most);
        let taken = self.bytes[self.at..self.at + length].to_vec();
        self.at += length;
        taken
    }
}
