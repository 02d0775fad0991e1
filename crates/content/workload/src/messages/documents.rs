//! Long messages: one text of a given size per message, such as an article or a book.
//!
//! Pseudo-words by Zipf's law, in sentences and paragraphs, so that a window of some size finds about as many repetitions in them as in
//! prose. The last sentence is cut where the size is reached.

use super::{Timeline, sent};
use crate::vocabulary::Words;
use crate::{STREAM_BYTES_MAX, WorkloadError};
use lastmile_codec::message::Kind;
use lastmile_traffic::messages::Message;
use lastmile_units::random::between;
use lastmile_units::{ByteCount, Seed};
use std::num::NonZeroU32;
use std::time::Duration;

/// Long texts: `{ kind = "documents", messages = 1, size = "200 kB" }`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Documents {
    /// The number of texts.
    pub messages: NonZeroU32,
    /// The size of each, at least 1 B.
    pub size: ByteCount,
}

/// One message per second: our own choice.
const PERIOD: Duration = Duration::from_secs(1);

impl Documents {
    pub(crate) fn generate(&self, seed: Seed) -> Result<Vec<Message>, WorkloadError> {
        let total = u64::from(self.messages.get()).saturating_mul(self.size.get());
        if self.size == ByteCount::ZERO || ByteCount::new(total) > STREAM_BYTES_MAX {
            let problem = format!(
                "messages is {} and size {}; size must be at least 1 B, and all messages together at most {STREAM_BYTES_MAX}",
                self.messages, self.size
            );
            return Err(WorkloadError::spec("documents", problem));
        }
        let mut rng = seed.derive("documents").rng();
        let words = Words::new(&mut rng);
        let mut clock = Timeline::default();
        let size = self.size.get() as usize;
        let document = |_| {
            clock.advance(PERIOD);
            let mut text = String::new();
            while text.len() < size {
                let sentences = between(&mut rng, 3, 9);
                text += &words.sentences(sentences, &mut rng);
                text += "\n\n";
            }
            // The words are ASCII, so the text can be cut at any byte.
            text.truncate(size);
            sent(clock, Kind::Text, text.into_bytes())
        };
        Ok((0..self.messages.get()).map(document).collect())
    }
}
