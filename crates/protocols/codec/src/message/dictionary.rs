//! Dictionaries: data that both ends of a connection know before its first message.

use lastmile_units::ByteCount;
use std::sync::Arc;

/// Bytes that a codec treats as if they preceded the first message; without takeover, every message.
///
/// Cheap to clone. Deflate uses at most the last 2^15 bytes of it, LZ4 the last 2^16, brotli as much as its window holds, and only
/// at qualities from 2 on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dictionary {
    content: Arc<[u8]>,
    trained: bool,
}

impl Dictionary {
    /// Messages as they are, concatenated. The messages most like future ones should be last, where they are nearest.
    pub fn raw(history: impl Into<Arc<[u8]>>) -> Self {
        Self {
            content: history.into(),
            trained: false,
        }
    }

    /// A dictionary of at most `size`, trained on `samples` by zstd (`ZDICT_trainFromBuffer`). zstd also uses the tables at its start;
    /// the other codecs use all of it as raw history, in which the tables lie farthest back.
    ///
    /// # Errors
    /// When the samples are too few or too short; hundreds of messages are usually enough.
    pub fn train<S: AsRef<[u8]>>(samples: &[S], size: ByteCount) -> Result<Self, TrainError> {
        let total = samples.iter().map(|sample| sample.as_ref().len()).sum();
        // A dictionary is never larger than its samples.
        let length = usize::try_from(size.get()).unwrap_or(usize::MAX).min(total);
        let error = |problem: String| TrainError {
            samples: samples.len(),
            total: ByteCount::from(total),
            size,
            problem,
        };
        // libzstd's own text does not say so.
        if length < SIZE_MIN {
            return Err(error(format!("a trained dictionary has at least {SIZE_MIN} B")));
        }
        let content = zstd::dict::from_samples(samples, length).map_err(|problem| error(problem.to_string()))?;
        Ok(Self {
            content: content.into(),
            trained: true,
        })
    }

    /// The bytes.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// Whether it was trained, and starts with zstd's tables.
    pub fn is_trained(&self) -> bool {
        self.trained
    }
}

/// `ZDICT_DICTSIZE_MIN`.
const SIZE_MIN: usize = 256;

/// No dictionary could be trained on these samples.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no dictionary of {size} can be trained on {samples} messages of {total} in all: {problem}; give more messages, or use raw history"
)]
pub struct TrainError {
    samples: usize,
    total: ByteCount,
    size: ByteCount,
    problem: String,
}
