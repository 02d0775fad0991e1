//! Positions of strings in zlib's hash chains, for all mem levels at once in one word.
//!
//! A chain links strings of equal hash, and the mem level determines the hash. So an earlier string has one chain position per mem level,
//! and is otherwise the same for all of them. Every level follows chains for a number of strings that is a power of two (deflate.c,
//! `configuration_table`), so it is enough to know a position's power of two, rounded up. The exponents of nine mem levels fit into one
//! word, and are compared in one step.

/// The mem levels (zlib.h, `deflateInit2`).
pub(super) const MEM_LEVELS: usize = 9;

/// The bits of a field: one more than an exponent needs, which stays free as the guard bit of a comparison.
const FIELD: u32 = 6;
/// One in each field.
const ONES: u64 = {
    let (mut ones, mut field) = (0, 0);
    while field < MEM_LEVELS as u32 {
        ones |= 1 << (FIELD * field);
        field += 1;
    }
    ones
};
/// The highest bit of each field.
const GUARDS: u64 = ONES << (FIELD - 1);

/// A set of mem levels: the highest bit of the field of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemLevels(u64);

impl MemLevels {
    /// None of them.
    pub(super) const NONE: Self = Self(0);

    /// The set of these mem levels, each from 1 to 9.
    pub(super) fn from_levels(mem_levels: impl IntoIterator<Item = u8>) -> Self {
        let bit = |mem_level: u8| 1 << (FIELD * u32::from(mem_level) - 1);
        Self(mem_levels.into_iter().map(bit).fold(0, |all, one: u64| all | one))
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The members that are not in `others`.
    pub(super) const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// The highest first.
    pub(super) fn descending(self) -> impl Iterator<Item = u8> {
        (1..=MEM_LEVELS as u8)
            .rev()
            .filter(move |mem_level| self.and(Self::from_levels([*mem_level])) != Self::NONE)
    }
}

/// The positions of a string in the chains of a later one: in each field the exponent of the power of two, rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChainPositions(u64);

impl ChainPositions {
    /// From positions that count from 1, for mem levels from 1 on.
    pub(super) fn from_positions(positions: impl IntoIterator<Item = u32>) -> Self {
        let field = |(number, position): (usize, u32)| u64::from(power_of_two(position)) << (FIELD * number as u32);
        Self(positions.into_iter().enumerate().map(field).sum())
    }

    /// The mem levels at which a chain that is followed for `2^chain_log` strings reaches the string.
    pub(super) const fn within(self, chain_log: u32) -> MemLevels {
        MemLevels(((GUARDS | (ONES * chain_log as u64)) - self.0) & GUARDS)
    }
}

/// The exponent of the next power of two, limited to what a field holds.
const fn power_of_two(position: u32) -> u32 {
    let exponent = u32::BITS - position.saturating_sub(1).leading_zeros();
    if exponent < 1 << (FIELD - 1) {
        exponent
    } else {
        (1 << (FIELD - 1)) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_within_a_chain_that_is_no_shorter_than_its_place_at_each_mem_level_on_its_own() {
        let positions = [1, 2, 3, 4, 5, 16, 17, 4096, 4097];
        for chain_log in 0..=12 {
            let within = ChainPositions::from_positions(positions).within(chain_log);
            let expected = (1..=9).filter(|mem_level| positions[usize::from(*mem_level) - 1] <= 1 << chain_log);
            assert_eq!(within, MemLevels::from_levels(expected), "{chain_log}");
        }
    }

    #[test]
    fn mem_levels_come_with_the_highest_first_and_can_be_taken_away() {
        let some = MemLevels::from_levels([1, 4, 9]);
        assert_eq!(some.descending().collect::<Vec<_>>(), [9, 4, 1]);
        assert_eq!(
            some.without(MemLevels::from_levels([4, 5])),
            MemLevels::from_levels([1, 9])
        );
        assert_eq!(some.and(MemLevels::from_levels([2])), MemLevels::NONE);
    }
}
