//! What is sent that is compressed already? Pictures and the like: chance, to whoever would compress it again.

use super::{Timeline, sent};
use crate::transcript::{Kind, Message};
use crate::workload::draw::below;
use crate::workload::{LARGEST_STREAM, WorkloadError};
use lastmile_units::{Bytes, Rng, Seed};
use rand_core::Rng as _;
use std::num::NonZeroU32;
use std::time::Duration;

/// What is compressed already, each a message: `{ kind = "media", messages = 20, smallest = "1 kB", largest = "64 kB" }`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Media {
    /// How many.
    pub messages: NonZeroU32,
    /// The size of the smallest, 1 B at least. Sizes spread so that each doubling is as likely as any other.
    pub smallest: Bytes,
    /// The size of the largest.
    pub largest: Bytes,
}

/// What JPEG files begin with (ITU-T T.81 Annex B; T.871 section 10.1).
const JPEG: &[u8] = b"\xff\xd8\xff\xe0\0\x10JFIF\0";

/// One a second: our own choice.
const PERIOD: Duration = Duration::from_secs(1);

impl Media {
    pub(in crate::workload) fn generate(&self, seed: Seed) -> Result<Vec<Message>, WorkloadError> {
        if self.smallest == Bytes::ZERO || self.smallest > self.largest || self.largest > LARGEST_STREAM {
            let problem = format!(
                "smallest is {} and largest {}; they go from 1 B to {LARGEST_STREAM}, and largest is no less than smallest",
                self.smallest, self.largest
            );
            return Err(WorkloadError::Spec { kind: "media", problem });
        }
        let mut rng = seed.derive("media").rng();
        let mut clock = Timeline::default();
        let picture = |_| {
            clock.advance(PERIOD);
            let mut octets = vec![0; self.size(&mut rng)];
            rng.fill_bytes(&mut octets);
            let start = JPEG.len().min(octets.len());
            octets[..start].copy_from_slice(&JPEG[..start]);
            sent(clock, Kind::Binary, octets)
        };
        Ok((0..self.messages.get()).map(picture).collect())
    }

    fn size(&self, rng: &mut Rng) -> usize {
        let (smallest, largest) = (self.smallest.as_f64(), self.largest.as_f64());
        let share = below(rng, 1 << 32) as f64 / (1_u64 << 32) as f64;
        let size = smallest * libm::exp(share * libm::log(largest / smallest));
        libm::round(size).clamp(smallest, largest) as usize
    }
}
