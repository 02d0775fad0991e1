//! A model of zlib's match finder: `deflate_slow` and `longest_match` of zlib 1.3 (deflate.c), levels 4 to 9, on the candidates of
//! [`super::hash_chains`] and without compressing anything.
//!
//! A message is parsed at all mem levels together for as long as they choose the same matches. Where a search meets a string that some
//! mem levels do not reach, the others go on, and those follow later from that position.
//!
//! Written from the behaviour of those functions. Two of their peculiarities matter at small windows: a string at exactly the greatest
//! distance is found only at the head of its chain, and a string at the first byte of the buffer, whose index also means none, never.

use super::chain_positions::MemLevels;
use super::hash_chains::{Candidate, Chains, LOOKAHEAD_MIN, MATCH_MIN};
use super::work_unit::Span;
use lastmile_codec::message::{Deflate, Strategy, WindowBits};

/// Matches of the least length are not used at a greater distance (deflate.c, `TOO_FAR`).
const TOO_FAR: usize = 4096;
/// The filtered strategy does not use shorter matches (deflate.c, `deflate_slow`).
const FILTERED_MIN: usize = 6;

/// A level's search parameters (deflate.c, `configuration_table`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LevelConfig {
    /// If the previous match is at least this long, only a quarter of the chain is searched for a better one.
    good: usize,
    /// If the previous match is at least this long, no better one is searched for.
    lazy: usize,
    /// A match of at least this length ends the search.
    nice: usize,
    /// How far a chain is followed, as an exponent of 2.
    chain_log: u32,
}

const fn effort(good: usize, lazy: usize, nice: usize, chain: u32) -> LevelConfig {
    assert!(chain.is_power_of_two());
    LevelConfig {
        good,
        lazy,
        nice,
        chain_log: chain.trailing_zeros(),
    }
}

/// Levels 4 to 9.
const LEVEL_CONFIGS: [LevelConfig; 6] = [
    effort(4, 4, 16, 16),
    effort(8, 16, 32, 32),
    effort(8, 16, 128, 128),
    effort(8, 32, 128, 256),
    effort(32, 128, 258, 1024),
    effort(32, 258, 258, 4096),
];

/// The lowest level that this model predicts.
pub(super) const LEVEL_MIN: u8 = 4;

/// How far a window reaches: its size less zlib's lookahead (deflate.h, `MAX_DIST`).
pub(super) fn reach(window_bits: WindowBits) -> usize {
    (1 << window_bits.runs_as().get()) - LOOKAHEAD_MIN
}

/// A chosen match: position in the message, distance and length in one word, which makes it cheap to compare and hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Match(u64);

impl Match {
    const fn new(position: usize, distance: usize, length: usize) -> Self {
        Self((position as u64) << 32 | (distance as u64) << 16 | length as u64)
    }
}

/// Parses messages at a setting, at any mem level.
pub(super) struct Parser<'a> {
    chains: &'a Chains,
    effort: LevelConfig,
    window: usize,
    reach: usize,
    takeover: bool,
    filtered: bool,
}

/// The best match so far.
#[derive(Debug, Clone, Copy)]
struct BestMatch {
    start: usize,
    length: usize,
}

/// No match.
const NO_MATCH: usize = MATCH_MIN - 1;

/// The parse state of some mem levels within a message.
#[derive(Debug, Clone, Copy)]
struct ParseState {
    mem_levels: MemLevels,
    position: usize,
    /// The match found at the position before, not chosen yet.
    previous: BestMatch,
    /// The number of matches chosen so far.
    matches: usize,
    /// The number of symbols of the message with these matches.
    symbols: usize,
}

/// Buffers for parsing.
#[derive(Default)]
pub(super) struct Scratch {
    matches: Vec<Match>,
    left: Vec<ParseState>,
}

impl<'a> Parser<'a> {
    /// A parser for the setting; its mem level is ignored.
    ///
    /// # Panics
    /// At levels below 4.
    pub(super) fn new(chains: &'a Chains, setting: Deflate) -> Self {
        Self {
            chains,
            effort: LEVEL_CONFIGS[usize::from(setting.level - LEVEL_MIN)],
            window: 1 << setting.window_bits.runs_as().get(),
            reach: reach(setting.window_bits),
            takeover: setting.takeover,
            filtered: setting.strategy == Strategy::Filtered,
        }
    }

    /// Calls `found` once per list of matches with the mem levels that choose it, the matches of the message in order, and the number of
    /// symbols, literals included.
    pub(super) fn parse(
        &self,
        span: Span,
        mem_levels: MemLevels,
        scratch: &mut Scratch,
        mut found: impl FnMut(MemLevels, &[Match], usize),
    ) {
        scratch.left.push(ParseState {
            mem_levels,
            position: span.start,
            previous: BestMatch {
                start: 0,
                length: NO_MATCH,
            },
            matches: 0,
            symbols: span.len(),
        });
        // A state on the stack was left by the one before it, so the first matches of the two are the same.
        while let Some(way) = scratch.left.pop() {
            scratch.matches.truncate(way.matches);
            let way = self.parse_to_end(way, span, scratch);
            found(way.mem_levels, &scratch.matches, way.symbols);
        }
    }

    /// Parses to the end of the message with the mem levels that reach the most strings wherever mem levels diverge.
    fn parse_to_end(&self, mut way: ParseState, span: Span, Scratch { matches, left }: &mut Scratch) -> ParseState {
        let context = if self.takeover { span.connection } else { span.start };
        while way.position < span.end {
            let previous = way.previous;
            let mut best = BestMatch {
                length: NO_MATCH,
                ..previous
            };
            if previous.length < self.effort.lazy && span.end - way.position >= MATCH_MIN {
                let (longest, with) = self.longest(&way, span.end, context);
                if with != way.mem_levels {
                    left.push(ParseState {
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

    /// The result of a search: a longer match than the previous one, or the previous one again; and the mem levels that find it.
    fn longest(&self, way: &ParseState, end: usize, context: usize) -> (BestMatch, MemLevels) {
        let LevelConfig { good, nice, .. } = self.effort;
        let mut chain_log = self.effort.chain_log;
        if way.previous.length >= good {
            // A quarter.
            chain_log -= 2;
        }
        let position = way.position;
        let ahead = end - position;
        let nice = nice.min(ahead);
        let (mut best, mut with) = (way.previous, way.mem_levels);
        for &Candidate {
            start,
            length,
            positions,
        } in self.chains.candidates(position)
        {
            let (start, length) = (start as usize, usize::from(length));
            let distance = position - start;
            if start <= context || distance > self.reach {
                break;
            }
            let mut reaching = with.and(positions.within(chain_log));
            if distance == self.reach {
                reaching = if self.may_be_head(start - context, ahead) {
                    reaching.and(positions.within(0))
                } else {
                    MemLevels::NONE
                };
            }
            if reaching == MemLevels::NONE {
                break;
            }
            if length > best.length {
                with = reaching;
                best = BestMatch { start, length };
                if length >= nice {
                    break;
                }
            }
        }
        (best, with)
    }

    /// Whether a string at exactly the greatest distance is found where it is the head of its chain. It is not if it has just moved to the
    /// front of the buffer, because an older window was dropped to make room for the lookahead (`fill_window`).
    fn may_be_head(&self, place_in_context: usize, ahead: usize) -> bool {
        !place_in_context.is_multiple_of(self.window) || ahead >= LOOKAHEAD_MIN
    }
}
