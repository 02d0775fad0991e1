//! The send buffer: bytes that the program has written and that are not acknowledged yet.

use bytes::Bytes;
use std::collections::VecDeque;

/// The written, unacknowledged stream, by stream offset. Pieces are shared with the segments that carry them.
#[derive(Debug)]
pub(super) struct SendBuffer {
    /// Each piece with the offset of its first byte.
    pieces: VecDeque<(u64, Bytes)>,
    start: u64,
    end: u64,
}

impl SendBuffer {
    /// An empty buffer whose first byte will be at `start`.
    pub(super) const fn new(start: u64) -> Self {
        Self {
            pieces: VecDeque::new(),
            start,
            end: start,
        }
    }

    /// One past the last byte written.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    pub(super) const fn len(&self) -> u64 {
        self.end - self.start
    }

    pub(super) fn push(&mut self, piece: Bytes) {
        if !piece.is_empty() {
            let at = self.end;
            self.end += piece.len() as u64;
            self.pieces.push_back((at, piece));
        }
    }

    /// Drops everything before `offset`.
    pub(super) fn release(&mut self, offset: u64) {
        let offset = offset.min(self.end);
        while let Some((at, piece)) = self.pieces.front() {
            if at + piece.len() as u64 > offset {
                break;
            }
            self.pieces.pop_front();
        }
        self.start = self.start.max(offset);
    }

    /// The bytes from `start` to `end`: shared where one piece holds them all, copied where several do.
    pub(super) fn slice(&self, start: u64, end: u64) -> Bytes {
        assert!(
            self.start <= start && start <= end && end <= self.end,
            "the range is in the buffer"
        );
        if start == end {
            return Bytes::new();
        }
        let first = self
            .pieces
            .partition_point(|(at, piece)| at + piece.len() as u64 <= start);
        let (at, piece) = &self.pieces[first];
        let from = (start - at) as usize;
        let length = (end - start) as usize;
        if from + length <= piece.len() {
            return piece.slice(from..from + length);
        }
        let mut gathered = Vec::with_capacity(length);
        gathered.extend_from_slice(&piece[from..]);
        for (_, piece) in self.pieces.iter().skip(first + 1) {
            let wanted = length - gathered.len();
            gathered.extend_from_slice(&piece[..wanted.min(piece.len())]);
            if gathered.len() == length {
                break;
            }
        }
        gathered.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_may_span_pieces_and_what_is_released_is_gone() {
        let mut buffer = SendBuffer::new(1);
        for piece in ["abc", "de", "", "fghi"] {
            buffer.push(Bytes::from_static(piece.as_bytes()));
        }
        assert_eq!(buffer.slice(2, 8), "bcdefg");
        assert_eq!(buffer.slice(1, 4), "abc");
        buffer.release(5);
        assert_eq!((buffer.len(), buffer.end()), (5, 10));
        assert_eq!(buffer.slice(5, 10), "efghi");
    }
}
