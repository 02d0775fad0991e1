//! Buffers the bytes of a stream that have arrived and are not read yet.

use super::super::modified_utf8;
use super::ReadError;

/// Why parsing stops: more bytes are needed, or the bytes are wrong.
pub(super) enum NeedMoreOrError {
    Starved,
    Failed(ReadError),
}

impl From<ReadError> for NeedMoreOrError {
    fn from(error: ReadError) -> Self {
        Self::Failed(error)
    }
}

/// Bytes that have arrived and are not read yet.
#[derive(Default)]
pub(super) struct Input {
    bytes: Vec<u8>,
    /// The index of the first byte that is not read yet.
    at: usize,
    /// The offset in the stream of the first of `bytes`.
    before: u64,
}

impl Input {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        // Read bytes are removed when they are the larger part, so that each byte is moved about once.
        if self.at > self.bytes.len() / 2 {
            self.bytes.drain(..self.at);
            self.before += self.at as u64;
            self.at = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The offset in the stream of the first byte that is not read yet.
    pub(super) fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    /// How many bytes are not read yet.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// `length` bytes, starting `ahead` bytes after the first unread one.
    pub(super) fn slice(&self, ahead: usize, length: usize) -> Result<&[u8], NeedMoreOrError> {
        let from = self.at + ahead;
        self.bytes
            .get(from..from.saturating_add(length))
            .ok_or(NeedMoreOrError::Starved)
    }

    /// Like [`slice`](Self::slice), with a constant length.
    pub(super) fn peek<const N: usize>(&self, ahead: usize) -> Result<[u8; N], NeedMoreOrError> {
        Ok(self.slice(ahead, N)?.try_into().expect("N bytes were asked for"))
    }

    /// Like [`slice`](Self::slice), decoded as text.
    pub(super) fn text(&self, ahead: usize, length: usize) -> Result<String, NeedMoreOrError> {
        let bytes = self.slice(ahead, length)?;
        modified_utf8::decode(bytes).map_err(|(index, expected)| {
            let offset = self.offset() + (ahead + index) as u64;
            NeedMoreOrError::Failed(ReadError::Byte {
                offset,
                expected,
                found: bytes[index],
            })
        })
    }

    /// Marks bytes as read; they have been examined before.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
        assert!(self.at <= self.bytes.len(), "only bytes that are there are used");
    }

    /// Reads the bytes that are there, up to `most`.
    pub(super) fn take_up_to(&mut self, most: usize) -> Vec<u8> {
        let length = self.len().min(most);
        let taken = self.bytes[self.at..self.at + length].to_vec();
        self.at += length;
        taken
    }
}
