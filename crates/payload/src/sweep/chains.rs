//! Which earlier strings does zlib come across when it looks for a match? Hash chains, as `deflate_slow` keeps them.
//!
//! At levels 4 to 9 every string of three octets is entered into its chain, in order, before a later one is looked for: those at the end
//! of a message once the next one has come (`fill_window`, by `insert`). A chain links strings of equal hash, the nearest first, so
//! the place of a string in the chain of another is the number of strings of that hash between them. It is had from two *ordinals*
//! for each hash; and since nothing but a longer match ever replaces a match, of all strings that begin with the same three
//! octets only those count that match in more octets than any nearer one. These, the *candidates*, are the same for all settings.

use super::piece::{Piece, Span};
use super::places::{MEM_LEVELS, Places};

/// The shortest match (RFC 1951 section 3.2.5).
pub(super) const MATCH_MIN: usize = 3;
/// The longest match (RFC 1951 section 3.2.5).
pub(super) const MATCH_MAX: usize = 258;
/// How near the end of its window zlib will not refer to (deflate.h, `MIN_LOOKAHEAD`).
pub(super) const LOOKAHEAD_MIN: usize = MATCH_MAX + MATCH_MIN + 1;

/// The longest chain that any level follows (deflate.c, `configuration_table`).
const CHAIN_MAX: usize = 4096;
/// The furthest any window reaches.
const REACH_MAX: usize = (1 << 15) - LOOKAHEAD_MIN;

/// Stands for no string.
const NONE: u32 = u32::MAX;

/// An earlier string that begins as a later one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) start: u32,
    /// In how many octets they agree, up to the end of the later one's message and to the longest match.
    pub(super) length: u16,
    /// Where in the chain of the later one it is.
    pub(super) places: Places,
}

/// The chains of a piece.
#[derive(Default)]
pub(super) struct Chains {
    /// Where the candidates of each position begin, and where the last one's end.
    first: Vec<u32>,
    candidates: Vec<Candidate>,
    /// The ordinal of the string at each position among those of its hash, at each mem level.
    ordinals: Vec<[u32; MEM_LEVELS]>,
    /// The ordinal of the string at each position among those of the same octets.
    exact: Vec<u32>,
    /// Where in its message the first string of the same octets as at each position is.
    first_same: Vec<u32>,
}

impl Chains {
    /// Of all messages of a piece that are its own.
    pub(super) fn of(piece: &Piece) -> Self {
        let octets = &piece.octets;
        let (nearest, exact) = strings(octets);
        let mut chains = Self {
            first: vec![0; octets.len() + 1],
            candidates: Vec::new(),
            ordinals: ordinals(octets),
            exact,
            first_same: vec![0; octets.len()],
        };
        let mut next = 0;
        for &span in &piece.messages {
            chains.first[next..span.start].fill(chains.candidates.len() as u32);
            for position in span.start..span.end {
                chains.first[position] = chains.candidates.len() as u32;
                chains.find(octets, &nearest, span, position);
            }
            first_same(&nearest, span, &mut chains.first_same);
            next = span.end;
        }
        chains.first[next..].fill(chains.candidates.len() as u32);
        chains
    }

    /// Appends the candidates of one position.
    fn find(&mut self, octets: &[u8], nearest: &[u32], span: Span, position: usize) {
        let longest = MATCH_MAX.min(span.end - position);
        if longest < MATCH_MIN {
            return;
        }
        let (wanted, mut best) = (&octets[position..position + longest], MATCH_MIN - 1);
        let mut start = nearest[position];
        for _ in 0..CHAIN_MAX {
            // The first string of a connection stands at place 0 of zlib's buffer, which also stands for none.
            if start == NONE || start as usize <= span.connection || position - start as usize > REACH_MAX {
                return;
            }
            let found = &octets[start as usize..start as usize + longest];
            if found[best] == wanted[best] {
                let length = agreement(found, wanted);
                if length > best {
                    let (own, its) = (&self.ordinals[position], &self.ordinals[start as usize]);
                    self.candidates.push(Candidate {
                        start,
                        length: length as u16,
                        places: Places::of(own.iter().zip(its).map(|(own, its)| own - its)),
                    });
                    if length == longest {
                        return;
                    }
                    best = length;
                }
            }
            start = nearest[start as usize];
        }
    }

    /// The candidates of a position, the nearest and shortest first.
    pub(super) fn candidates(&self, position: usize) -> &[Candidate] {
        &self.candidates[self.first[position] as usize..self.first[position + 1] as usize]
    }

    /// Within a message that stands alone, the length of chain that has to be followed so that no string of other octets with the
    /// same hash keeps zlib from one of the same octets, whatever strings are left out of the chain.
    ///
    /// Where a chain holds none of other octets before the last of the same, none can stand in the way.
    pub(super) fn chain_needed(&self, span: Span, mem_level: u8) -> u32 {
        let ordinal = |position: usize| self.ordinals[position][usize::from(mem_level) - 1];
        let needed = |position: usize| {
            let first = self.first_same[position] as usize;
            let place = ordinal(position) - ordinal(first);
            if place == self.exact[position] - self.exact[first] {
                0
            } else {
                place
            }
        };
        let strings = span.start..span.end.saturating_sub(MATCH_MIN - 1).max(span.start);
        strings.map(needed).max().unwrap_or(0)
    }
}

/// For each position, how many strings before it have its hash at each mem level (deflate.c, `UPDATE_HASH`).
fn ordinals(octets: &[u8]) -> Vec<[u32; MEM_LEVELS]> {
    let mut ordinals = vec![[0; MEM_LEVELS]; octets.len()];
    for place in 0..MEM_LEVELS {
        let bits = place as u32 + 8;
        let (shift, mask) = (bits.div_ceil(MATCH_MIN as u32), (1 << bits) - 1);
        let mut seen = vec![0; 1 << bits];
        for (string, ordinals) in octets.windows(MATCH_MIN).zip(&mut ordinals) {
            let [first, second, third] = [string[0], string[1], string[2]].map(u32::from);
            let hash = ((first << (2 * shift)) ^ (second << shift) ^ third) & mask;
            let count: &mut u32 = &mut seen[hash as usize];
            ordinals[place] = *count;
            *count += 1;
        }
    }
    ordinals
}

/// For each position, where the nearest string before it of the same three octets is, and how many such there are.
fn strings(octets: &[u8]) -> (Vec<u32>, Vec<u32>) {
    let (mut nearest, mut counts) = (vec![NONE; octets.len()], vec![0; octets.len()]);
    // Open addressing, half empty; multiplied by 2^32 / golden ratio (Knuth, The Art of Computer Programming, volume 3, 6.4).
    let bits = (octets.len() * 2).next_power_of_two().trailing_zeros().clamp(8, 31);
    let mask = (1_usize << bits) - 1;
    let mut last = vec![NONE; mask + 1];
    for (position, string) in octets.windows(MATCH_MIN).enumerate() {
        let key = u32::from_le_bytes([string[0], string[1], string[2], 0]);
        let mut slot = (key.wrapping_mul(0x9e37_79b9) >> (32 - bits)) as usize;
        loop {
            let found = last[slot] as usize;
            if last[slot] == NONE {
                break;
            }
            if octets[found..found + MATCH_MIN] == *string {
                nearest[position] = found as u32;
                counts[position] = counts[found] + 1;
                break;
            }
            slot = (slot + 1) & mask;
        }
        last[slot] = position as u32;
    }
    (nearest, counts)
}

/// In how many octets two strings of the same length agree from their beginning.
fn agreement(one: &[u8], other: &[u8]) -> usize {
    let (mut ones, mut others) = (one.chunks_exact(8), other.chunks_exact(8));
    let mut agreed = 0;
    for (one, other) in ones.by_ref().zip(others.by_ref()) {
        let word = |octets: &[u8]| u64::from_le_bytes(octets.try_into().expect("chunks of eight"));
        let difference = word(one) ^ word(other);
        if difference != 0 {
            return agreed + difference.trailing_zeros() as usize / 8;
        }
        agreed += 8;
    }
    let rest = ones.remainder().iter().zip(others.remainder());
    agreed + rest.take_while(|(one, other)| one == other).count()
}

/// For each position of a message, where in the message the first string of the same three octets is.
fn first_same(nearest: &[u32], span: Span, first: &mut [u32]) {
    for position in span.start..span.end {
        let before = nearest[position];
        let same = before != NONE && before as usize >= span.start;
        first[position] = if same { first[before as usize] } else { position as u32 };
    }
}
