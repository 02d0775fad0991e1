//! What if messages are long? Texts of a size, each a message: articles, books.
//!
//! Pseudo-words by Zipf's law, in sentences and paragraphs, so that what a window of some size finds again in them is about what it
//! would in prose. The last sentence is cut where the size is reached.

use super::{Timeline, sent};
use crate::transcript::{Kind, Message};
use crate::workload::draw::between;
use crate::workload::words::Words;
use crate::workload::{LARGEST_STREAM, WorkloadError};
use lastmile_units::{Bytes, Seed};
use std::num::NonZeroU32;
use std::time::Duration;

/// Long texts: `{ kind = "documents", messages = 1, size = "200 kB" }`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Documents {
    /// How many.
    pub messages: NonZeroU32,
    /// The size of each, 1 B at least.
    pub size: Bytes,
}

/// One a second: our own choice.
const PERIOD: Duration = Duration::from_secs(1);

impl Documents {
    pub(in crate::workload) fn generate(&self, seed: Seed) -> Result<Vec<Message>, WorkloadError> {
        let total = u64::from(self.messages.get()).saturating_mul(self.size.get());
        if self.size == Bytes::ZERO || Bytes::new(total) > LARGEST_STREAM {
            let problem = format!(
                "messages is {} and size {}; a size is 1 B at least, and all together are {LARGEST_STREAM} at most",
                self.messages, self.size
            );
            return Err(WorkloadError::Spec {
                kind: "documents",
                problem,
            });
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
            // The words are ASCII, so that any octet ends a character.
            text.truncate(size);
            sent(clock, Kind::Text, text.into_bytes())
        };
        Ok((0..self.messages.get()).map(document).collect())
    }
}
