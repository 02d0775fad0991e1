//! The candidate settings. Figures measured on part of the messages are scaled to all of them, so that candidates can be compared.

use super::alternative_codecs;
use super::candidate::{Candidate, ZLIB_DEFAULT};
use super::measure_direction::Direction;
use super::message_range::MessageRange;
use super::trial_results::TrialResult;
use lastmile_codec::message::MessageCodec;

impl Direction<'_> {
    /// Uncompressed messages, and the points that were timed.
    pub(super) fn timed_points(&self) -> Vec<Candidate> {
        let timed = self.points.iter().filter_map(|point| {
            let (timed, contexts) = (self.timed.get(&point.setting)?, self.contexts.get(&point.setting)?);
            Some(Candidate {
                codec: MessageCodec::Deflate(point.setting),
                ratio: point.ratio,
                ratio_ci95: point.ratio_ci95,
                contexts: *contexts,
                timed: timed.clone(),
                ..Candidate::identity()
            })
        });
        std::iter::once(Candidate::identity()).chain(timed).collect()
    }

    /// The candidates of permessage-deflate: the points that were timed, the same under policies, and those that compress a message to many
    /// once.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        self.with_sender_policies(self.timed_points())
    }

    /// The candidates of all codecs, for a user who controls both ends. Assumes that codecs tried only on the beginning of the messages keep
    /// their ratio relative to zlib's default, and that a dictionary gains as much on all messages as on those it was not made from.
    pub(super) fn all_candidates(&self) -> Vec<Candidate> {
        let mut candidates = self.timed_points();
        let part = alternative_codecs::trial_part(self.stream.messages);
        let usual = |candidates: &[Candidate]| {
            let usual = candidates.iter().find(|candidate| candidate.same_as(ZLIB_DEFAULT));
            usual.map(|candidate| candidate.ratio)
        };
        let tried: Vec<Candidate> = self.results_on(&part).filter(Candidate::is_plain).collect();
        let scale = match (usual(&candidates), usual(&tried)) {
            (Some(of_all), Some(of_part)) => of_all / of_part,
            _ => 1.0,
        };
        let beyond = tried
            .into_iter()
            .filter(|candidate| !matches!(candidate.codec, MessageCodec::Deflate(_)));
        candidates.extend(beyond.map(|candidate| Candidate {
            ratio: candidate.ratio * scale,
            ..candidate
        }));
        candidates.extend(self.with_dictionaries(&candidates));
        self.with_sender_policies(candidates)
    }

    /// Each codec with each dictionary that it was tried with, scaled by the same codec without dictionary on the same part.
    fn with_dictionaries(&self, candidates: &[Candidate]) -> Vec<Candidate> {
        let with = self.results.iter().filter(|tried| tried.trial.dictionary.is_some());
        with.filter_map(|with| {
            let without = self.without_dictionary(with)?.candidate(&self.stream);
            // A part may have no payload.
            if without.ratio.is_nan() {
                return None;
            }
            let own = candidates
                .iter()
                .find(|candidate| candidate.codec == with.trial.codec)?;
            Some(with.candidate(&self.stream).rescaled(own, &without))
        })
        .collect()
    }

    /// The same codec on the same part, without a dictionary.
    pub(super) fn without_dictionary(&self, with: &TrialResult) -> Option<&TrialResult> {
        self.results.iter().find(|tried| {
            let (own, trial) = (&with.trial, &tried.trial);
            trial.dictionary.is_none() && trial.codec == own.codec && trial.part == own.part
        })
    }

    /// Adds those tried under policies, and shared compression for each candidate that allows it.
    fn with_sender_policies(&self, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
        let mut under = Vec::new();
        for group in &self.under_policies {
            let base = group[0].candidate(&self.stream);
            let own = candidates.iter().find(|candidate| group[0].same_as(candidate));
            under.extend(own.into_iter().flat_map(|own| {
                let policies = group[1..].iter();
                policies.map(|tried| Candidate {
                    // Scaled already, and equal to the last digit to the published figure.
                    timed: tried.timed.clone(),
                    ..tried.candidate(&self.stream).rescaled(own, &base)
                })
            }));
        }
        candidates.extend(under);
        if let Some(broadcast) = &self.broadcast {
            let shareable =
                |candidate: &&Candidate| candidate.codec != MessageCodec::Identity && candidate.codec.is_shareable();
            let receivers = broadcast.receivers();
            let once: Vec<Candidate> = candidates
                .iter()
                .filter(shareable)
                .map(|candidate| candidate.compressed_once_for(receivers))
                .collect();
            candidates.extend(once);
        }
        candidates
    }

    /// All trial results as measured: beyond the grid, and under policies.
    pub(super) fn all_results(&self) -> impl Iterator<Item = &TrialResult> {
        let policies = self.under_policies.iter().flat_map(|group| &group[1..]);
        self.results.iter().chain(policies)
    }

    /// The results on a part, as candidates.
    pub(super) fn results_on(&self, part: &MessageRange) -> impl Iterator<Item = Candidate> {
        let on_part = self.all_results().filter(|tried| tried.trial.part == *part);
        on_part.map(|tried| tried.candidate(&self.stream))
    }
}
