//! Hash chains as `deflate_slow` keeps them: the earlier strings that zlib meets when it searches for a match.
//!
//! At levels 4 to 9 every string of three bytes is entered into its chain, in order, before a later one is searched for; those at the end
//! of a message are entered once the next message arrives (`fill_window`, by `insert`). A chain links strings of equal hash, the nearest
//! first, so the position of a string in the chain of another is the number of strings of that hash between them: the difference of
//! their *ordinals* for that hash. Only a longer match ever replaces a match, so of all strings that begin with the same three bytes
//! only those matter that match in more bytes than any nearer one. These *candidates* are the same for all settings.

use super::chain_positions::{ChainPositions, MEM_LEVELS};
use super::work_unit::{Piece, Span};

/// The shortest match (RFC 1951 section 3.2.5).
pub(super) const MATCH_MIN: usize = 3;
/// The longest match (RFC 1951 section 3.2.5).
pub(super) const MATCH_MAX: usize = 258;
/// The far end of its window that zlib does not refer to (deflate.h, `MIN_LOOKAHEAD`).
pub(super) const LOOKAHEAD_MIN: usize = MATCH_MAX + MATCH_MIN + 1;

/// The longest chain that any level follows (deflate.c, `configuration_table`).
const CHAIN_MAX: usize = 4096;
/// The farthest that any window reaches.
const REACH_MAX: usize = (1 << 15) - LOOKAHEAD_MIN;

/// Stands for no string.
const NONE: u32 = u32::MAX;

/// An earlier string that begins like a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) start: u32,
    /// The number of leading bytes in which they agree, limited by the end of the later one's message and by the longest match.
    pub(super) length: u16,
    /// Its positions in the chains of the later one.
    pub(super) positions: ChainPositions,
}

/// The chains of a piece.
#[derive(Default)]
pub(super) struct Chains {
    /// The index of each position's first candidate, and the end of the last one's candidates.
    first: Vec<u32>,
    candidates: Vec<Candidate>,
    /// The ordinal of the string at each position among strings with the same hash, at each mem level.
    ordinals: Vec<[u32; MEM_LEVELS]>,
    /// The ordinal of the string at each position among strings with the same bytes.
    exact: Vec<u32>,
    /// For each position, the first position in its message of a string with the same bytes.
    first_same: Vec<u32>,
}

impl Chains {
    /// The chains of all of a piece's own messages.
    pub(super) fn new(piece: &Piece) -> Self {
        let bytes = &piece.bytes;
        let (nearest, exact) = strings(bytes);
        let mut chains = Self {
            first: vec![0; bytes.len() + 1],
            candidates: Vec::new(),
            ordinals: ordinals(bytes),
            exact,
            first_same: vec![0; bytes.len()],
        };
        let mut next = 0;
        for &span in &piece.messages {
            chains.first[next..span.start].fill(chains.candidates.len() as u32);
            for position in span.start..span.end {
                chains.first[position] = chains.candidates.len() as u32;
                chains.find(bytes, &nearest, span, position);
            }
            first_same(&nearest, span, &mut chains.first_same);
            next = span.end;
        }
        chains.first[next..].fill(chains.candidates.len() as u32);
        chains
    }

    /// Appends the candidates of one position.
    fn find(&mut self, bytes: &[u8], nearest: &[u32], span: Span, position: usize) {
        let longest = MATCH_MAX.min(span.end - position);
        if longest < MATCH_MIN {
            return;
        }
        let (wanted, mut best) = (&bytes[position..position + longest], MATCH_MIN - 1);
        let mut start = nearest[position];
        for _ in 0..CHAIN_MAX {
            // The first string of a connection is at index 0 of zlib's buffer, which also means none.
            if start == NONE || start as usize <= span.connection || position - start as usize > REACH_MAX {
                return;
            }
            let found = &bytes[start as usize..start as usize + longest];
            if found[best] == wanted[best] {
                let length = common_prefix(found, wanted);
                if length > best {
                    let (own, its) = (&self.ordinals[position], &self.ordinals[start as usize]);
                    self.candidates.push(Candidate {
                        start,
                        length: length as u16,
                        positions: ChainPositions::from_positions(own.iter().zip(its).map(|(own, its)| own - its)),
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

    /// Within a message without history, the chain length that has to be followed so that no string of other bytes with the same hash
    /// keeps zlib from finding one of the same bytes, whatever strings are left out of the chain.
    ///
    /// Where a chain has no string of other bytes before the last one of the same bytes, none can get in the way.
    pub(super) fn chain_needed(&self, span: Span, mem_level: u8) -> u32 {
        let ordinal = |position: usize| self.ordinals[position][usize::from(mem_level) - 1];
        let needed = |position: usize| {
            let first = self.first_same[position] as usize;
            let distance = ordinal(position) - ordinal(first);
            if distance == self.exact[position] - self.exact[first] {
                0
            } else {
                distance
            }
        };
        let strings = span.start..span.end.saturating_sub(MATCH_MIN - 1).max(span.start);
        strings.map(needed).max().unwrap_or(0)
    }
}

/// For each position, how many strings before it have its hash at each mem level (deflate.c, `UPDATE_HASH`).
fn ordinals(bytes: &[u8]) -> Vec<[u32; MEM_LEVELS]> {
    let mut ordinals = vec![[0; MEM_LEVELS]; bytes.len()];
    for mem_level in 0..MEM_LEVELS {
        let bits = mem_level as u32 + 8;
        let (shift, mask) = (bits.div_ceil(MATCH_MIN as u32), (1 << bits) - 1);
        let mut seen = vec![0; 1 << bits];
        for (string, ordinals) in bytes.windows(MATCH_MIN).zip(&mut ordinals) {
            let [first, second, third] = [string[0], string[1], string[2]].map(u32::from);
            let hash = ((first << (2 * shift)) ^ (second << shift) ^ third) & mask;
            let count: &mut u32 = &mut seen[hash as usize];
            ordinals[mem_level] = *count;
            *count += 1;
        }
    }
    ordinals
}

/// For each position, the nearest earlier string with the same three bytes, and the number of such earlier strings.
fn strings(bytes: &[u8]) -> (Vec<u32>, Vec<u32>) {
    let (mut nearest, mut counts) = (vec![NONE; bytes.len()], vec![0; bytes.len()]);
    // Open addressing at half load; the hash multiplies by 2^32 / golden ratio (Knuth, The Art of Computer Programming, volume 3, 6.4).
    let bits = (bytes.len() * 2).next_power_of_two().trailing_zeros().clamp(8, 31);
    let mask = (1_usize << bits) - 1;
    let mut last = vec![NONE; mask + 1];
    for (position, string) in bytes.windows(MATCH_MIN).enumerate() {
        let key = u32::from_le_bytes([string[0], string[1], string[2], 0]);
        let mut slot = (key.wrapping_mul(0x9e37_79b9) >> (32 - bits)) as usize;
        loop {
            let found = last[slot] as usize;
            if last[slot] == NONE {
                break;
            }
            if bytes[found..found + MATCH_MIN] == *string {
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

/// The number of leading bytes in which two strings of the same length agree.
fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let (mut ones, mut others) = (one.chunks_exact(8), other.chunks_exact(8));
    let mut agreed = 0;
    for (one, other) in ones.by_ref().zip(others.by_ref()) {
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("chunks of eight"));
        let difference = word(one) ^ word(other);
        if difference != 0 {
            return agreed + difference.trailing_zeros() as usize / 8;
        }
        agreed += 8;
    }
    let rest = ones.remainder().iter().zip(others.remainder());
    agreed + rest.take_while(|(one, other)| one == other).count()
}

/// For each position of a message, the first position in the message of a string with the same three bytes.
fn first_same(nearest: &[u32], span: Span, first: &mut [u32]) {
    for position in span.start..span.end {
        let before = nearest[position];
        let same = before != NONE && before as usize >= span.start;
        first[position] = if same { first[before as usize] } else { position as u32 };
    }
}
