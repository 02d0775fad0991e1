//! A candidate setting: its figures in one direction, and the objectives by which settings are compared.

use super::context_memory::{CompressorCount, ContextMemory, ServerProfile};
use super::timing::Timed;
use crate::record::setting_name;
use lastmile_codec::message::{Deflate, MessageCodec, Policy, Strategy, WindowBits};
use lastmile_report::number::percent;
use lastmile_statistics::quantile;
use lastmile_units::ByteCount;

/// A setting with its figures.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) codec: MessageCodec,
    /// What both sides know beforehand, in words.
    pub(super) dictionary: Option<String>,
    pub(super) policy: Policy,
    /// How many of its compressing contexts exist at a time. One if a message to many is compressed once; its CPU time is then each
    /// receiver's share.
    pub(super) compressors: CompressorCount,
    /// Compressed over raw bytes.
    pub(super) ratio: f64,
    /// 95 % interval of that; none where it is exact.
    pub(super) ratio_ci95: Option<[f64; 2]>,
    pub(super) contexts: ContextMemory,
    pub(super) timed: Timed,
}

impl Candidate {
    /// Uncompressed messages.
    pub(super) fn identity() -> Self {
        Self {
            codec: MessageCodec::Identity,
            dictionary: None,
            policy: Policy::default(),
            compressors: CompressorCount::PerConnection,
            ratio: 1.0,
            ratio_ci95: None,
            contexts: ContextMemory::default(),
            timed: Timed::default(),
        }
    }

    /// The setting as text, with its dictionary and policy.
    pub(super) fn name(&self) -> String {
        setting_name(&self.codec, self.dictionary.as_ref(), self.policy_text().as_ref())
    }

    /// The compression ratio as text: `34.3 %`. An estimate is followed by its confidence interval, unless that rounds to the same digits.
    pub(super) fn ratio_text(&self) -> String {
        match self.ratio_ci95.map(|ends| ends.map(percent)) {
            Some([low, high]) if low != high => format!("{} ({low} to {high})", percent(self.ratio)),
            _ => percent(self.ratio),
        }
    }

    /// The half-width of the ratio's interval, relative to the ratio.
    pub(super) fn uncertainty(&self) -> f64 {
        self.ratio_ci95
            .map_or(0.0, |[low, high]| (high - low) / 2.0 / self.ratio)
    }

    /// The sender's policy as text; none if it compresses every message, unfragmented, for its one receiver.
    pub(super) fn policy_text(&self) -> Option<String> {
        let policy = (self.policy != Policy::default()).then(|| self.policy.to_string());
        let once = (self.compressors == CompressorCount::Shared).then(|| ONCE.to_owned());
        let said: Vec<String> = policy.into_iter().chain(once).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }

    /// The same setting where each message goes to `receivers` receivers on average and is compressed once for all of them.
    pub(super) fn compressed_once_for(&self, receivers: f64) -> Self {
        Self {
            compressors: CompressorCount::Shared,
            timed: self.timed.with_compressing_scaled(1.0 / receivers),
            ..self.clone()
        }
    }

    /// Scales figures measured on part of the messages to all of them, by a reference setting's figures on `all` and on the `part`.
    pub(super) fn rescaled(&self, all: &Self, part: &Self) -> Self {
        let scale = all.ratio / part.ratio;
        Self {
            ratio: self.ratio * scale,
            ratio_ci95: all.ratio_ci95.map(|ends| ends.map(|end| end * self.ratio / part.ratio)),
            timed: self.timed.rescaled(&all.timed, &part.timed),
            ..self.clone()
        }
    }

    /// Whether it has neither a dictionary nor a policy.
    pub(super) fn is_plain(&self) -> bool {
        self.dictionary.is_none() && self.policy_text().is_none()
    }

    /// CPU time to compress a message, in seconds: the median of the rounds; 0 for identity.
    pub(super) fn compress_seconds(&self) -> f64 {
        quantile(&self.timed.compressing, 0.5).unwrap_or_default()
    }

    /// CPU time to decompress a message, likewise.
    pub(super) fn decompress_seconds(&self) -> f64 {
        quantile(&self.timed.decompressing, 0.5).unwrap_or_default()
    }

    /// The memory of all connections' contexts.
    pub(super) fn memory(&self, holder: ServerProfile) -> ByteCount {
        self.contexts.total(holder, self.compressors)
    }

    /// Ratio, CPU time, and the memory of all connections: the objectives of the Pareto front.
    pub(super) fn objectives(&self, holder: ServerProfile) -> [f64; 3] {
        [self.ratio, self.compress_seconds(), self.memory(holder).as_f64()]
    }

    /// Whether this is `deflate`, by stock zlib, without dictionary or policy.
    pub(super) fn same_as(&self, deflate: Deflate) -> bool {
        self.codec == MessageCodec::Deflate(deflate) && self.is_plain()
    }
}

/// The name of the policy under which a message to many is compressed once.
const ONCE: &str = "compressed once per broadcast";

/// The default of zlib and most libraries, with takeover.
pub(super) const ZLIB_DEFAULT: Deflate = Deflate {
    takeover: true,
    window_bits: WindowBits::MAX,
    level: 6,
    mem_level: 8,
    strategy: Strategy::Default,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_estimate_leaves_is_said_with_its_interval_where_so_few_digits_show_one() {
        let leaving = |ratio, ratio_ci95| Candidate {
            ratio,
            ratio_ci95,
            ..Candidate::identity()
        };
        assert_eq!(leaving(0.343, None).ratio_text(), "34.3 %");
        let wide = leaving(0.343, Some([0.289, 0.397]));
        assert_eq!(wide.ratio_text(), "34.3 % (28.9 % to 39.7 %)");
        assert!((wide.uncertainty() - 0.054 / 0.343).abs() < 1e-12);
        let narrow = leaving(0.343, Some([0.34299, 0.34301]));
        assert_eq!(narrow.ratio_text(), "34.3 %");
    }
}
