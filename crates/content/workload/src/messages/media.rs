//! Messages that are compressed already, such as pictures: random bytes to a second compressor.

use super::{Timeline, sent};
use crate::{STREAM_BYTES_MAX, WorkloadError};
use lastmile_codec::message::Kind;
use lastmile_traffic::messages::Message;
use lastmile_units::random::below;
use lastmile_units::{ByteCount, Rng, Seed};
use rand_core::Rng as _;
use std::num::NonZeroU32;
use std::time::Duration;

/// Messages that are compressed already: `{ kind = "media", messages = 20, smallest = "1 kB", largest = "64 kB" }`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Media {
    /// The number of messages.
    pub messages: NonZeroU32,
    /// The size of the smallest, at least 1 B. Sizes are log-uniform: each doubling is as likely as any other.
    pub smallest: ByteCount,
    /// The size of the largest.
    pub largest: ByteCount,
}

/// The first bytes of JPEG files (ITU-T T.81 Annex B; T.871 section 10.1).
const JPEG: &[u8] = b"\xff\xd8\xff\xe0\0\x10JFIF\0";

/// One message per second: our own choice.
const PERIOD: Duration = Duration::from_secs(1);

impl Media {
    pub(crate) fn generate(&self, seed: Seed) -> Result<Vec<Message>, WorkloadError> {
        if self.smallest == ByteCount::ZERO || self.smallest > self.largest || self.largest > STREAM_BYTES_MAX {
            let problem = format!(
                "smallest is {} and largest {}; both must be from 1 B to {STREAM_BYTES_MAX}, and largest at least smallest",
                self.smallest, self.largest
            );
            return Err(WorkloadError::Spec { kind: "media", problem });
        }
        let mut rng = seed.derive("media").rng();
        let mut clock = Timeline::default();
        let picture = |_| {
            clock.advance(PERIOD);
            let mut bytes = vec![0; self.size(&mut rng)];
            rng.fill_bytes(&mut bytes);
            let start = JPEG.len().min(bytes.len());
            bytes[..start].copy_from_slice(&JPEG[..start]);
            sent(clock, Kind::Binary, bytes)
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
