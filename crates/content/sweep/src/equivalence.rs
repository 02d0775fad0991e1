//! Decides when two settings send the same bytes for a message: when the message has the same *shape* at both. A shape is the content,
//! the matches that were chosen, and whatever else `_tr_flush_block` (trees.c) depends on.
//!
//! Every message ends in a flush to a whole byte, so no bits are left over from the message before. A block's symbols determine its codes.
//! Three more things matter:
//!
//! - **Where blocks end.** The buffer of symbols ends a block when it is full, at 2^(m+6) - 1 symbols (deflate.c, `lit_bufsize`). With
//!   fewer, the message is one block at every mem level.
//! - **Whether a block can be stored.** It can while its bytes are still in the buffer. They leave the buffer within a message only when
//!   the buffer slides, and then they began in its first half, so the message is longer than its window reaches.
//! - **Fixed codes**, if that is the strategy.

use super::lazy_parse::{Match, reach};
use lastmile_codec::message::{Deflate, Strategy};
use std::collections::HashMap;

/// Everything that the bytes sent for a message depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    content: u32,
    choice: Choice,
    /// The mem level, if it decides where blocks end.
    mem_level: Option<u8>,
    /// The window, and with takeover the message, if the position in the buffer decides which blocks can be stored.
    buffer_position: Option<(u8, Option<u32>)>,
    fixed: bool,
}

/// Which matches were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Choice {
    /// As predicted: the number of a list of matches.
    Parsed(MatchListId),
    /// By a level that is not predicted, with the mem level if its hash may matter.
    Level(u8, Option<u8>),
}

/// The number of a shape.
pub(super) type ShapeId = u32;

/// Shapes, numbered in order of appearance, with the sizes of those that were measured.
#[derive(Default)]
pub(super) struct Shapes {
    lists: HashMap<Box<[Match]>, MatchListId>,
    shapes: HashMap<Shape, ShapeId>,
    sizes: Vec<u32>,
}

/// A message of a piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    /// Its index in the piece.
    pub(super) number: u32,
    /// The same for all messages with the same bytes.
    pub(super) content: u32,
    pub(super) length: usize,
}

/// The number of a list of matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct MatchListId(u32);

/// How a message is parsed at a setting.
#[derive(Debug, Clone, Copy)]
pub(super) enum ParseResult {
    /// These matches, and the number of symbols including literals.
    Matches(MatchListId, usize),
    /// Unknown, but independent of the hash.
    AnyHash,
    /// Unknown.
    Unknown,
}

/// Whether a message with this many symbols fills the buffer of symbols, so that the mem level decides where blocks end.
pub(super) const fn fills_buffer(symbols: usize, mem_level: u8) -> bool {
    symbols >= (1 << (mem_level + 6)) - 1
}

impl Shapes {
    /// The shape of a message, and whether it is new, in which case the caller has to measure it.
    pub(super) fn number(&mut self, message: Message, setting: Deflate, parsed: ParseResult) -> (ShapeId, bool) {
        let Message {
            number,
            content,
            length,
        } = message;
        let mem_level = Some(setting.mem_level);
        let (choice, symbols) = match parsed {
            ParseResult::Matches(list, symbols) => (Choice::Parsed(list), symbols),
            ParseResult::AnyHash => (Choice::Level(setting.level, None), length),
            ParseResult::Unknown => (Choice::Level(setting.level, mem_level), length),
        };
        let out_of_reach = length > reach(setting.window_bits);
        let shape = Shape {
            content,
            choice,
            mem_level: mem_level.filter(|mem_level| fills_buffer(symbols, *mem_level)),
            buffer_position: out_of_reach
                .then_some((setting.window_bits.runs_as().get(), setting.takeover.then_some(number))),
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
    pub(super) fn list(&mut self, matches: &[Match]) -> MatchListId {
        if let Some(number) = self.lists.get(matches) {
            return *number;
        }
        let number = MatchListId(self.lists.len() as u32);
        self.lists.insert(matches.into(), number);
        number
    }

    /// Stores the size of a shape.
    pub(super) fn measured(&mut self, shape: ShapeId, size: usize) {
        self.sizes[shape as usize] = size as u32;
    }

    /// The size of a shape that was measured.
    pub(super) fn size(&self, shape: ShapeId) -> u64 {
        u64::from(self.sizes[shape as usize])
    }
}
