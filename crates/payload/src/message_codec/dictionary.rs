//! What may both ends of a connection know before its first message?

use lastmile_units::Bytes;
use std::sync::Arc;

/// Octets that a codec treats as if they had gone before the first message; without takeover, before every message.
///
/// Cheap to clone. Deflate uses the last 2^15 octets of it at most, LZ4 the last 2^16, brotli as much as its window
/// holds and at qualities from 2 on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dictionary {
    content: Arc<[u8]>,
    trained: bool,
}

impl Dictionary {
    /// Messages as they are, one after the other; those most like what is to come had best be last, as the nearest.
    pub fn raw(history: impl Into<Arc<[u8]>>) -> Self {
        Self {
            content: history.into(),
            trained: false,
        }
    }

    /// What zstd's trainer makes of `samples` (`ZDICT_trainFromBuffer`), at most `size` large. zstd gets it with the tables it starts
    /// with; the others get it as raw history, in which the tables lie farthest back.
    ///
    /// # Errors
    /// When there are too few samples to learn from, or they are too short; hundreds of messages usually are enough.
    pub fn train<S: AsRef<[u8]>>(samples: &[S], size: Bytes) -> Result<Self, TrainError> {
        let total = samples.iter().map(|sample| sample.as_ref().len()).sum();
        // A dictionary is never larger than what it was learned from.
        let length = usize::try_from(size.get()).unwrap_or(usize::MAX).min(total);
        let error = |problem: String| TrainError {
            samples: samples.len(),
            total: Bytes::from(total),
            size,
            problem,
        };
        // libzstd's own text does not say so.
        if length < SIZE_MIN {
            return Err(error(format!("a trained dictionary takes {SIZE_MIN} B at least")));
        }
        let content = zstd::dict::from_samples(samples, length).map_err(|problem| error(problem.to_string()))?;
        Ok(Self {
            content: content.into(),
            trained: true,
        })
    }

    /// The octets.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// Whether it was trained, and has zstd's tables with it.
    pub fn is_trained(&self) -> bool {
        self.trained
    }
}

/// `ZDICT_DICTSIZE_MIN`.
const SIZE_MIN: usize = 256;

/// No dictionary could be made of these samples.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no dictionary of {size} can be trained on {samples} messages of {total} in all: {problem}; give more of them, or take raw history"
)]
pub struct TrainError {
    samples: usize,
    total: Bytes,
    size: Bytes,
    problem: String,
}
