//! Which matches does zlib choose for a message? `deflate_slow` and `longest_match` of zlib 1.3 (deflate.c), levels 4 to 9, on the candidates
//! of [`super::chains`] and without coding anything.
//!
//! Written from what those functions do. Two of their habits show at small windows: a string at exactly the greatest distance
//! is found at the head of its chain alone, and the first octet of the buffer, which also stands for none, never.

use super::chains::{Candidate, Chains, LOOKAHEAD_MIN, MATCH_MIN};
use super::piece::Span;
use crate::message_codec::{Deflate, Strategy, WindowBits};

/// Matches of the least length are not worth it from further away (deflate.c, `TOO_FAR`).
const TOO_FAR: usize = 4096;
/// Filtered data has no use for shorter matches (deflate.c, `deflate_slow`).
const FILTERED_MIN: usize = 6;

/// How hard a level looks (deflate.c, `configuration_table`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Effort {
    /// From this length of a match on, a better one is looked for in a quarter of the chain.
    good: usize,
    /// From this length on, none better is looked for.
    lazy: usize,
    /// From this length on, the search ends.
    nice: usize,
    /// How far a chain is followed.
    chain: u32,
}

const fn effort(good: usize, lazy: usize, nice: usize, chain: u32) -> Effort {
    Effort {
        good,
        lazy,
        nice,
        chain,
    }
}

/// Levels 4 to 9.
const EFFORTS: [Effort; 6] = [
    effort(4, 4, 16, 16),
    effort(8, 16, 32, 32),
    effort(8, 16, 128, 128),
    effort(8, 32, 128, 256),
    effort(32, 128, 258, 1024),
    effort(32, 258, 258, 4096),
];

/// The lowest level that this foretells.
pub(super) const LEVEL_MIN: u8 = 4;

/// How far a window reaches: less than its size, by what zlib looks ahead (deflate.h, `MAX_DIST`).
pub(super) fn reach(window_bits: WindowBits) -> usize {
    (1 << window_bits.runs_as().get()) - LOOKAHEAD_MIN
}

/// A match that is chosen, within a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Match {
    /// Where in the message.
    position: u32,
    distance: u16,
    length: u16,
}

/// A setting, ready to parse messages.
pub(super) struct Parser<'a> {
    chains: &'a Chains,
    ordinals: &'a [u32],
    effort: Effort,
    window: usize,
    reach: usize,
    takeover: bool,
    filtered: bool,
}

/// The best match so far.
#[derive(Debug, Clone, Copy)]
struct Best {
    start: usize,
    length: usize,
}

impl<'a> Parser<'a> {
    /// # Panics
    /// At levels below 4.
    pub(super) fn new(chains: &'a Chains, setting: Deflate) -> Self {
        Self {
            chains,
            ordinals: chains.ordinals(setting.mem_level),
            effort: EFFORTS[usize::from(setting.level - LEVEL_MIN)],
            window: 1 << setting.window_bits.runs_as().get(),
            reach: reach(setting.window_bits),
            takeover: setting.takeover,
            filtered: setting.strategy == Strategy::Filtered,
        }
    }

    /// Puts the matches of a message into `matches`, in their order; returns how many symbols they and the literals are.
    pub(super) fn parse(&self, span: Span, matches: &mut Vec<Match>) -> usize {
        const NO_MATCH: usize = MATCH_MIN - 1;
        matches.clear();
        let context = if self.takeover { span.connection } else { span.start };
        let mut symbols = span.len();
        let mut best = Best {
            start: 0,
            length: NO_MATCH,
        };
        let mut position = span.start;
        while position < span.end {
            let previous = best;
            best.length = NO_MATCH;
            if previous.length < self.effort.lazy && span.end - position >= MATCH_MIN {
                best = self.longest(position, span.end, context, previous);
                let distance = position - best.start;
                let too_far = best.length == MATCH_MIN && distance > TOO_FAR;
                if best.length < FILTERED_MIN && (self.filtered || too_far) {
                    best.length = NO_MATCH;
                }
            }
            if previous.length >= MATCH_MIN && best.length <= previous.length {
                let at = position - 1;
                matches.push(Match {
                    position: (at - span.start) as u32,
                    distance: (at - previous.start) as u16,
                    length: previous.length as u16,
                });
                symbols -= previous.length - 1;
                position = at + previous.length;
                best.length = NO_MATCH;
            } else {
                position += 1;
            }
        }
        symbols
    }

    /// What a search comes to: a longer match than the previous one, or the same length again.
    fn longest(&self, position: usize, end: usize, context: usize, previous: Best) -> Best {
        let Effort { good, nice, chain, .. } = self.effort;
        let chain = if previous.length >= good { chain / 4 } else { chain };
        let ahead = end - position;
        let nice = nice.min(ahead);
        let mut best = previous;
        for &Candidate { start, length } in self.chains.candidates(position) {
            let (start, length) = (start as usize, usize::from(length));
            let distance = position - start;
            if start <= context || distance > self.reach {
                break;
            }
            let place = self.ordinals[position] - self.ordinals[start];
            if place > chain || (distance == self.reach && !self.is_head(start - context, place, ahead)) {
                break;
            }
            if length > best.length {
                best = Best { start, length };
                if length >= nice {
                    break;
                }
            }
        }
        best
    }

    /// Whether a string at exactly the greatest distance is found: as the head of its chain, unless it has just come to stand at the front
    /// of the buffer, as what lies a window's length further back was dropped to make room to look ahead (`fill_window`).
    fn is_head(&self, place_in_context: usize, place_in_chain: u32, ahead: usize) -> bool {
        place_in_chain == 1 && (!place_in_context.is_multiple_of(self.window) || ahead >= LOOKAHEAD_MIN)
    }
}
