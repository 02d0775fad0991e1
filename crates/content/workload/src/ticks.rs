//! Ticks: prices of one instrument, each a number and a price, as a feed sends them one by one.

use lastmile_units::Seed;
use lastmile_units::random::below;
use serde::{Deserialize, Serialize};

/// One price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// Counts up by one.
    pub id: i32,
    /// In cents.
    pub value: i16,
}

/// The first `count` ticks; the same for the same seed. The price walks by at most three cents a tick.
pub fn ticks(count: usize, seed: Seed) -> Vec<Tick> {
    let mut rng = seed.derive("ticks").rng();
    let mut value = 2_500_i16;
    (0..count)
        .map(|index| {
            let step = below(&mut rng, 7) as i16 - 3;
            value = (value + step).clamp(1, i16::MAX - 1);
            Tick {
                id: 1_000_i32.wrapping_add(index as i32),
                value,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_feed_begins_as_a_shorter_one_and_another_seed_gives_other_prices() {
        let short = ticks(50, Seed::new(1));
        assert_eq!(ticks(100, Seed::new(1))[..50], short);
        assert_ne!(ticks(50, Seed::new(2)), short);
        assert!(short.windows(2).all(|pair| pair[1].id == pair[0].id + 1));
    }
}
