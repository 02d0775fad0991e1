//! When do two settings send the same octets for a message? When the message has the same *shape*: its content, the matches that were
//! chosen, and what else `_tr_flush_block` (trees.c) goes by.
//!
//! Every message ends in a flush to a whole octet, so nothing is left over from the one before. A block's symbols decide on its codes.
//! Besides, there are three things:
//!
//! - **Where blocks end.** The buffer of symbols ends a block when it is full, at 2^(m+6) - 1 symbols (deflate.c, `lit_bufsize`). With
//!   fewer, the message is one block at every mem level.
//! - **Whether a block can be stored.** It can while its octets are still in the buffer. They leave it in mid-message only where the
//!   buffer moves on, and then they began in its first half, so the message is longer than its window reaches.
//! - **Fixed codes**, if that is the strategy.

use super::parse::{Match, reach};
use crate::message_codec::{Deflate, Strategy};
use std::collections::HashMap;

/// What the octets sent for a message depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    content: u32,
    choice: Choice,
    /// The mem level, where blocks end by it.
    mem_level: Option<u8>,
    /// The window, and with takeover the message, where the place in the buffer decides on what can be stored.
    place: Option<(u8, Option<u32>)>,
    fixed: bool,
}

/// Which matches were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Choice {
    /// As foretold: the number of a list of matches.
    Parsed(ListId),
    /// By a level that is not foretold, with the mem level where its hash may matter.
    Level(u8, Option<u8>),
}

/// The number of a shape.
pub(super) type ShapeId = u32;

/// Shapes, numbered as they come, with the size of those that were measured.
#[derive(Default)]
pub(super) struct Shapes {
    lists: HashMap<Box<[Match]>, ListId>,
    shapes: HashMap<Shape, ShapeId>,
    sizes: Vec<u32>,
}

/// A message of a piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    /// Which of the piece.
    pub(super) number: u32,
    /// The same for all of the same octets.
    pub(super) content: u32,
    pub(super) length: usize,
}

/// The number of a list of matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ListId(u32);

/// How a message is parsed at a setting.
#[derive(Debug, Clone, Copy)]
pub(super) enum Parsed {
    /// These matches, with literals so many symbols.
    Matches(ListId, usize),
    /// Unknown, but the hash has no say.
    AnyHash,
    /// Unknown.
    Unknown,
}

/// Whether a message of so many symbols fills the buffer of symbols, so that the mem level decides on where blocks end.
pub(super) const fn fills_buffer(symbols: usize, mem_level: u8) -> bool {
    symbols >= (1 << (mem_level + 6)) - 1
}

impl Shapes {
    /// The shape of a message, and whether it is the first of its kind, which whoever asks has to measure.
    pub(super) fn number(&mut self, message: Message, setting: Deflate, parsed: Parsed) -> (ShapeId, bool) {
        let Message {
            number,
            content,
            length,
        } = message;
        let mem_level = Some(setting.mem_level);
        let (choice, symbols) = match parsed {
            Parsed::Matches(list, symbols) => (Choice::Parsed(list), symbols),
            Parsed::AnyHash => (Choice::Level(setting.level, None), length),
            Parsed::Unknown => (Choice::Level(setting.level, mem_level), length),
        };
        let out_of_reach = length > reach(setting.window_bits);
        let shape = Shape {
            content,
            choice,
            mem_level: mem_level.filter(|mem_level| fills_buffer(symbols, *mem_level)),
            place: out_of_reach.then_some((setting.window_bits.runs_as().get(), setting.takeover.then_some(number))),
            fixed: setting.strategy == Strategy::Fixed,
        };
        let next = self.shapes.len() as ShapeId;
        let number = *self.shapes.entry(shape).or_insert(next);
        if number == next {
            self.sizes.push(0);
        }
        (number, number == next)
    }

    /// The number of a list of matches.
    pub(super) fn list(&mut self, matches: &[Match]) -> ListId {
        if let Some(number) = self.lists.get(matches) {
            return *number;
        }
        let number = ListId(self.lists.len() as u32);
        self.lists.insert(matches.into(), number);
        number
    }

    /// Keeps the size of a shape.
    pub(super) fn measured(&mut self, shape: ShapeId, size: usize) {
        self.sizes[shape as usize] = size as u32;
    }

    /// The size of a shape that was measured.
    pub(super) fn size(&self, shape: ShapeId) -> u64 {
        u64::from(self.sizes[shape as usize])
    }
}
