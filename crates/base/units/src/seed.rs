//! Seeds: every random choice derives from one number, by name.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

/// The generator that every random choice uses: ChaCha8, the same on every machine.
pub type Rng = ChaCha8Rng;

/// The root of random choices. Each part derives its own seed by name, so that adding a part does not move the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(u64);

impl Seed {
    /// The seed a user gave.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A separate seed for the part called `name`.
    #[must_use]
    pub fn derive(self, name: &str) -> Self {
        // FNV-1a over the name (Fowler, Noll and Vo), started from the parent, then one SplitMix64 step (Steele et al.,
        // OOPSLA 2014) so that near names give distant seeds.
        let mut hash = self.0 ^ 0xcbf2_9ce4_8422_2325;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self(split_mix(hash))
    }

    /// A separate seed for the `index`th of many similar parts.
    #[must_use]
    pub const fn derive_index(self, index: u64) -> Self {
        Self(split_mix(self.0 ^ split_mix(index)))
    }

    /// A generator that starts from this seed.
    pub fn rng(self) -> Rng {
        Rng::seed_from_u64(self.0)
    }

    /// The seed, as a number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

const fn split_mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::Rng as _;

    #[test]
    fn a_name_gives_the_same_choices_every_time_and_another_name_gives_others() {
        let first = |name| Seed::new(1).derive(name).rng().next_u64();
        assert_eq!(first("loss"), first("loss"));
        assert_ne!(first("loss"), first("jitter"));
        assert_ne!(Seed::new(1).derive_index(0), Seed::new(1).derive_index(1));
    }
}
