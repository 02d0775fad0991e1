//! What is known of one setting in one direction, and by which figures are settings compared?

use super::memory::{Contexts, Holder};
use super::timing::Timed;
use crate::statistics::quantile;
use lastmile_payload::message_codec::{Deflate, MessageCodec, Strategy, WindowBits};
use lastmile_units::Bytes;
use std::time::Duration;

/// A setting with its figures.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) codec: MessageCodec,
    /// What both sides know beforehand, in words.
    pub(super) dictionary: Option<String>,
    /// Coded over plain octets.
    pub(super) ratio: f64,
    /// 95 % interval of that; none where it is exact.
    pub(super) ratio_ci95: Option<[f64; 2]>,
    pub(super) contexts: Contexts,
    pub(super) timed: Timed,
}

impl Candidate {
    /// Messages as they are.
    pub(super) fn identity() -> Self {
        Self {
            codec: MessageCodec::Identity,
            dictionary: None,
            ratio: 1.0,
            ratio_ci95: None,
            contexts: Contexts {
                takeover: false,
                compressing: Bytes::ZERO,
                decompressing: Bytes::ZERO,
            },
            timed: Timed::default(),
        }
    }

    /// As it is told.
    pub(super) fn name(&self) -> String {
        let codec = self.codec;
        self.dictionary
            .as_ref()
            .map_or_else(|| codec.to_string(), |known| format!("{codec} with {known}"))
    }

    /// What it computes to compress a message, in seconds: the median of the rounds; nothing for identity.
    pub(super) fn computing(&self) -> f64 {
        quantile(&self.timed.compressing, 0.5).unwrap_or_default()
    }

    /// The same to decompress one.
    pub(super) fn decompressing(&self) -> f64 {
        quantile(&self.timed.decompressing, 0.5).unwrap_or_default()
    }

    /// [`Candidate::computing`], on a clock.
    pub(super) fn computing_time(&self) -> Duration {
        Duration::from_secs_f64(self.computing())
    }

    /// [`Candidate::decompressing`], on a clock.
    pub(super) fn decompressing_time(&self) -> Duration {
        Duration::from_secs_f64(self.decompressing())
    }

    /// Ratio, computing, and the memory of all connections: what no other may beat.
    pub(super) fn objectives(&self, holder: Holder) -> [f64; 3] {
        [self.ratio, self.computing(), self.contexts.total(holder).as_f64()]
    }

    /// Whether this is `deflate`, by stock zlib and without a dictionary.
    pub(super) fn is(&self, deflate: Deflate) -> bool {
        self.codec == MessageCodec::Deflate(deflate) && self.dictionary.is_none()
    }
}

/// What zlib and most libraries do unless told otherwise, with takeover.
pub(super) const USUAL: Deflate = Deflate {
    takeover: true,
    window_bits: WindowBits::MAX,
    level: 6,
    mem_level: 8,
    strategy: Strategy::Default,
};
