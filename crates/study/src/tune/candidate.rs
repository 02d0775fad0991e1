//! What is known of one setting in one direction, and by which figures are settings compared?

use super::memory::{Compressors, Contexts, Holder};
use super::timing::Timed;
use crate::statistics::quantile;
use lastmile_payload::message_codec::{Deflate, MessageCodec, Policy, Strategy, WindowBits};
use lastmile_report::number::percent;
use lastmile_units::Bytes;
use std::time::Duration;

/// A setting with its figures.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) codec: MessageCodec,
    /// What both sides know beforehand, in words.
    pub(super) dictionary: Option<String>,
    pub(super) policy: Policy,
    /// How many of its contexts to compress with are there at a time: one where a message to many is compressed once, of whose computing
    /// each receiver's share is told.
    pub(super) compressors: Compressors,
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
            policy: Policy::default(),
            compressors: Compressors::All,
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
        let mut name = self.codec.to_string();
        if let Some(known) = &self.dictionary {
            name += &format!(" with {known}");
        }
        if let Some(policy) = self.policy_in_words() {
            name += &format!(", {policy}");
        }
        name
    }

    /// What it leaves: `34.3 %`, and where that is an estimate, between what, if that is to be seen in so few digits.
    pub(super) fn leaves(&self) -> String {
        match self.ratio_ci95.map(|ends| ends.map(percent)) {
            Some([low, high]) if low != high => format!("{} ({low} to {high})", percent(self.ratio)),
            _ => percent(self.ratio),
        }
    }

    /// By which part of what it leaves that may be off, either way.
    pub(super) fn uncertainty(&self) -> f64 {
        self.ratio_ci95
            .map_or(0.0, |[low, high]| (high - low) / 2.0 / self.ratio)
    }

    /// What the sender decides by beside the setting; none where it compresses every message, whole, for its one receiver.
    pub(super) fn policy_in_words(&self) -> Option<String> {
        let policy = (self.policy != Policy::default()).then(|| self.policy.to_string());
        let once = (self.compressors == Compressors::One).then(|| ONCE.to_owned());
        let said: Vec<String> = policy.into_iter().chain(once).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }

    /// The same for what goes to so many receivers a message, on average: it is compressed once.
    pub(super) fn once(&self, receivers: f64) -> Self {
        Self {
            compressors: Compressors::One,
            timed: self.timed.compressing_in_proportion(1.0 / receivers),
            ..self.clone()
        }
    }

    /// What this is where what is `part` to it is `all`: what was found on some messages, taken to be alike on all of them.
    pub(super) fn in_proportion(&self, all: &Self, part: &Self) -> Self {
        let scale = all.ratio / part.ratio;
        Self {
            ratio: self.ratio * scale,
            ratio_ci95: all.ratio_ci95.map(|ends| ends.map(|end| end * self.ratio / part.ratio)),
            timed: self.timed.in_proportion(&all.timed, &part.timed),
            ..self.clone()
        }
    }

    /// Whether nothing is told of it but its setting.
    pub(super) fn is_plain(&self) -> bool {
        self.dictionary.is_none() && self.policy_in_words().is_none()
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

    /// What the contexts of all connections take.
    pub(super) fn memory(&self, holder: Holder) -> Bytes {
        self.contexts.total(holder, self.compressors)
    }

    /// Ratio, computing, and the memory of all connections: what no other may beat.
    pub(super) fn objectives(&self, holder: Holder) -> [f64; 3] {
        [self.ratio, self.computing(), self.memory(holder).as_f64()]
    }

    /// Whether this is `deflate`, by stock zlib, and nothing besides.
    pub(super) fn is(&self, deflate: Deflate) -> bool {
        self.codec == MessageCodec::Deflate(deflate) && self.is_plain()
    }
}

/// What a policy is called under which a message to many is compressed once.
const ONCE: &str = "once for a broadcast";

/// What zlib and most libraries do unless told otherwise, with takeover.
pub(super) const USUAL: Deflate = Deflate {
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
        assert_eq!(leaving(0.343, None).leaves(), "34.3 %");
        let wide = leaving(0.343, Some([0.289, 0.397]));
        assert_eq!(wide.leaves(), "34.3 % (28.9 % to 39.7 %)");
        assert!((wide.uncertainty() - 0.054 / 0.343).abs() < 1e-12);
        let narrow = leaving(0.343, Some([0.34299, 0.34301]));
        assert_eq!(narrow.leaves(), "34.3 %");
    }
}
