//! How far does zlib follow a chain until it comes across a string, at each mem level at once?
//!
//! A chain links strings of equal hash, and the mem level decides on the hash. So an earlier string has a place in as many chains as
//! there are mem levels, while all else about it is the same for all of them. Every level follows chains for a power of two of strings
//! (deflate.c, `configuration_table`), so that of a place no more than its power of two has to be known, rounded up. Those of nine mem
//! levels fit into one word, and are compared in one step.

/// The mem levels (zlib.h, `deflateInit2`).
pub(super) const MEM_LEVELS: usize = 9;

/// A field has as many bits: one more than a power of two takes, which stays free for a comparison to end in.
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

/// Some of the mem levels: the highest bit of the field of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemLevels(u64);

impl MemLevels {
    /// None of them.
    pub(super) const NONE: Self = Self(0);

    /// Those that are given, each from 1 to 9.
    pub(super) fn of(mem_levels: impl IntoIterator<Item = u8>) -> Self {
        let bit = |mem_level: u8| 1 << (FIELD * u32::from(mem_level) - 1);
        Self(mem_levels.into_iter().map(bit).fold(0, |all, one: u64| all | one))
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those that are not among the others.
    pub(super) const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// The highest first.
    pub(super) fn descending(self) -> impl Iterator<Item = u8> {
        (1..=MEM_LEVELS as u8)
            .rev()
            .filter(move |mem_level| self.and(Self::of([*mem_level])) != Self::NONE)
    }
}

/// The places of a string in the chain of a later one: in each field the power of two, rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Places(u64);

impl Places {
    /// Of places that are counted from 1, by mem level from 1 on.
    pub(super) fn of(places: impl IntoIterator<Item = u32>) -> Self {
        let field = |(number, place): (usize, u32)| u64::from(power_of_two(place)) << (FIELD * number as u32);
        Self(places.into_iter().enumerate().map(field).sum())
    }

    /// The mem levels at which a chain that is followed for two to the power of `chain_log` reaches the string.
    pub(super) const fn within(self, chain_log: u32) -> MemLevels {
        MemLevels(((GUARDS | (ONES * chain_log as u64)) - self.0) & GUARDS)
    }
}

/// Of the least power of two that is no less, the exponent; no more than a field holds.
const fn power_of_two(place: u32) -> u32 {
    let exponent = u32::BITS - place.saturating_sub(1).leading_zeros();
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
        let places = [1, 2, 3, 4, 5, 16, 17, 4096, 4097];
        for chain_log in 0..=12 {
            let within = Places::of(places).within(chain_log);
            let expected = (1..=9).filter(|mem_level| places[usize::from(*mem_level) - 1] <= 1 << chain_log);
            assert_eq!(within, MemLevels::of(expected), "{chain_log}");
        }
    }

    #[test]
    fn mem_levels_come_with_the_highest_first_and_can_be_taken_away() {
        let some = MemLevels::of([1, 4, 9]);
        assert_eq!(some.descending().collect::<Vec<_>>(), [9, 4, 1]);
        assert_eq!(some.without(MemLevels::of([4, 5])), MemLevels::of([1, 9]));
        assert_eq!(some.and(MemLevels::of([2])), MemLevels::NONE);
    }
}
