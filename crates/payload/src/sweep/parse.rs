//! Which matches does zlib choose for a message? `deflate_slow` and `longest_match` of zlib 1.3 (deflate.c), levels 4 to 9, on the candidates
//! of [`super::chains`] and without coding anything.
//!
//! A message is parsed at all mem levels together for as long as they choose alike. Where a search comes to a string that some of
//! them do not reach, the others go on, and those come after, from there.
//!
//! Written from what those functions do. Two of their habits show at small windows: a string at exactly the greatest distance
//! is found at the head of its chain alone, and the first octet of the buffer, which also stands for none, never.

use super::chains::{Candidate, Chains, LOOKAHEAD_MIN, MATCH_MIN};
use super::piece::Span;
use super::places::MemLevels;
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
    /// How far a chain is followed: two to the power of this.
    chain_log: u32,
}

const fn effort(good: usize, lazy: usize, nice: usize, chain: u32) -> Effort {
    assert!(chain.is_power_of_two());
    Effort {
        good,
        lazy,
        nice,
        chain_log: chain.trailing_zeros(),
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

/// A match that is chosen: where in the message, how far back and how long, in one word, as it is compared and hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Match(u64);

impl Match {
    const fn new(position: usize, distance: usize, length: usize) -> Self {
        Self((position as u64) << 32 | (distance as u64) << 16 | length as u64)
    }
}

/// A setting, ready to parse messages at any mem level.
pub(super) struct Parser<'a> {
    chains: &'a Chains,
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

/// No match.
const NO_MATCH: usize = MATCH_MIN - 1;

/// How far some mem levels have come through a message.
#[derive(Debug, Clone, Copy)]
struct Way {
    mem_levels: MemLevels,
    position: usize,
    /// What the position before was found to match, and may yet.
    previous: Best,
    /// How many matches are chosen.
    matches: usize,
    /// How many symbols the message is by them.
    symbols: usize,
}

/// Room to parse in.
#[derive(Default)]
pub(super) struct Scratch {
    matches: Vec<Match>,
    left: Vec<Way>,
}

impl<'a> Parser<'a> {
    /// Whatever the setting's mem level is.
    ///
    /// # Panics
    /// At levels below 4.
    pub(super) fn new(chains: &'a Chains, setting: Deflate) -> Self {
        Self {
            chains,
            effort: EFFORTS[usize::from(setting.level - LEVEL_MIN)],
            window: 1 << setting.window_bits.runs_as().get(),
            reach: reach(setting.window_bits),
            takeover: setting.takeover,
            filtered: setting.strategy == Strategy::Filtered,
        }
    }

    /// Tells `found` the matches of a message in their order, and how many symbols they and the literals are, once for all mem levels
    /// that choose them.
    pub(super) fn parse(
        &self,
        span: Span,
        mem_levels: MemLevels,
        scratch: &mut Scratch,
        mut found: impl FnMut(MemLevels, &[Match], usize),
    ) {
        scratch.left.push(Way {
            mem_levels,
            position: span.start,
            previous: Best {
                start: 0,
                length: NO_MATCH,
            },
            matches: 0,
            symbols: span.len(),
        });
        // What is left was left by the one before, so that its matches are the first of those.
        while let Some(way) = scratch.left.pop() {
            scratch.matches.truncate(way.matches);
            let way = self.follow(way, span, scratch);
            found(way.mem_levels, &scratch.matches, way.symbols);
        }
    }

    /// Goes on to the end of the message with those mem levels that come across the most strings wherever they part.
    fn follow(&self, mut way: Way, span: Span, Scratch { matches, left }: &mut Scratch) -> Way {
        let context = if self.takeover { span.connection } else { span.start };
        while way.position < span.end {
            let previous = way.previous;
            let mut best = Best {
                length: NO_MATCH,
                ..previous
            };
            if previous.length < self.effort.lazy && span.end - way.position >= MATCH_MIN {
                let (longest, with) = self.longest(&way, span.end, context);
                if with != way.mem_levels {
                    left.push(Way {
                        mem_levels: way.mem_levels.without(with),
                        matches: matches.len(),
                        ..way
                    });
                    way.mem_levels = with;
                }
                best = longest;
                let distance = way.position - best.start;
                let too_far = best.length == MATCH_MIN && distance > TOO_FAR;
                if best.length < FILTERED_MIN && (self.filtered || too_far) {
                    best.length = NO_MATCH;
                }
            }
            if previous.length >= MATCH_MIN && best.length <= previous.length {
                let at = way.position - 1;
                matches.push(Match::new(at - span.start, at - previous.start, previous.length));
                way.symbols -= previous.length - 1;
                way.position = at + previous.length;
                best.length = NO_MATCH;
            } else {
                way.position += 1;
            }
            way.previous = best;
        }
        way
    }

    /// What a search comes to: a longer match than the previous one, or the same length again; and the mem levels that come to it.
    fn longest(&self, way: &Way, end: usize, context: usize) -> (Best, MemLevels) {
        let Effort { good, nice, .. } = self.effort;
        let mut chain_log = self.effort.chain_log;
        if way.previous.length >= good {
            // A quarter.
            chain_log -= 2;
        }
        let position = way.position;
        let ahead = end - position;
        let nice = nice.min(ahead);
        let (mut best, mut with) = (way.previous, way.mem_levels);
        for &Candidate { start, length, places } in self.chains.candidates(position) {
            let (start, length) = (start as usize, usize::from(length));
            let distance = position - start;
            if start <= context || distance > self.reach {
                break;
            }
            let mut reaching = with.and(places.within(chain_log));
            if distance == self.reach {
                reaching = if self.may_be_head(start - context, ahead) {
                    reaching.and(places.within(0))
                } else {
                    MemLevels::NONE
                };
            }
            if reaching == MemLevels::NONE {
                break;
            }
            if length > best.length {
                with = reaching;
                best = Best { start, length };
                if length >= nice {
                    break;
                }
            }
        }
        (best, with)
    }

    /// Whether a string at exactly the greatest distance is found where it is the head of its chain: unless it has just come to stand at
    /// the front of the buffer, as what lies a window's length further back was dropped to make room to look ahead (`fill_window`).
    fn may_be_head(&self, place_in_context: usize, ahead: usize) -> bool {
        !place_in_context.is_multiple_of(self.window) || ahead >= LOOKAHEAD_MIN
    }
}
