//! Divides an input into portions as a network might: of uneven sizes, some of one byte.

use std::io::{self, Read};

/// Portions of 1, 2, 3, 5, 7, 11, 13 bytes, a longer one, and then again: our own choice, coprime to the alignments of formats.
const SIZES: [usize; 8] = [1, 2, 3, 5, 7, 11, 13, 257];

/// The portions of `input`, in order.
pub(super) fn of(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut left = input;
    SIZES.into_iter().cycle().map_while(move |size| {
        let (portion, rest) = left.split_at(size.min(left.len()));
        left = rest;
        (!portion.is_empty()).then_some(portion)
    })
}

/// A reader that gives the input in portions.
pub(super) struct Portions<'a> {
    left: &'a [u8],
    turn: usize,
}

impl<'a> Portions<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        Self { left: input, turn: 0 }
    }
}

impl Read for Portions<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let size = SIZES[self.turn % SIZES.len()].min(room.len()).min(self.left.len());
        self.turn += 1;
        let (portion, rest) = self.left.split_at(size);
        room[..size].copy_from_slice(portion);
        self.left = rest;
        Ok(size)
    }
}
