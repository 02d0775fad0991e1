//! What can a setting be chosen among? Whatever was timed, made comparable: told of all messages, whichever it was tried on.

use super::beyond;
use super::candidate::{Candidate, USUAL};
use super::direction::Direction;
use super::part::Part;
use super::tried::Tried;
use lastmile_payload::message_codec::MessageCodec;

impl Direction<'_> {
    /// Messages as they are, and the points that were timed.
    pub(super) fn timed_points(&self) -> Vec<Candidate> {
        let timed = self.points.iter().filter_map(|point| {
            let (timed, contexts) = (self.timed.get(&point.setting)?, self.contexts.get(&point.setting)?);
            Some(Candidate {
                codec: MessageCodec::Deflate(point.setting),
                ratio: point.ratio,
                ratio_ci95: point.ratio_ci95.map(|interval| [interval.low, interval.high]),
                contexts: *contexts,
                timed: timed.clone(),
                ..Candidate::identity()
            })
        });
        std::iter::once(Candidate::identity()).chain(timed).collect()
    }

    /// What a setting of permessage-deflate can be chosen among: the points that were timed, those under policies, and those that a message
    /// to many is compressed once by.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        self.with_what_a_sender_decides(self.timed_points())
    }

    /// What any setting can be chosen among, where both ends are one's own. What was tried on the beginning of the messages alone is
    /// taken to stay in proportion to zlib's usual setting, and what a dictionary gains on other messages than it was learnt from to be
    /// gained on all.
    pub(super) fn all_candidates(&self) -> Vec<Candidate> {
        let mut candidates = self.timed_points();
        let part = beyond::tried(self.stream.messages);
        let usual = |candidates: &[Candidate]| {
            let usual = candidates.iter().find(|candidate| candidate.is(USUAL));
            usual.map(|candidate| candidate.ratio)
        };
        let tried: Vec<Candidate> = self.tried_on(&part).filter(Candidate::is_plain).collect();
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
        self.with_what_a_sender_decides(candidates)
    }

    /// Each codec with each dictionary that it was tried with, in proportion to itself without on the same part.
    fn with_dictionaries(&self, candidates: &[Candidate]) -> Vec<Candidate> {
        let with = self.tried.iter().filter(|tried| tried.trial.dictionary.is_some());
        with.filter_map(|with| {
            let without = self.without_dictionary(with)?.candidate(&self.stream);
            // A part may have no payload.
            if without.ratio.is_nan() {
                return None;
            }
            let own = candidates
                .iter()
                .find(|candidate| candidate.codec == with.trial.codec)?;
            Some(with.candidate(&self.stream).in_proportion(own, &without))
        })
        .collect()
    }

    /// The same codec on the same part, where nothing is known beforehand.
    pub(super) fn without_dictionary(&self, with: &Tried) -> Option<&Tried> {
        self.tried.iter().find(|tried| {
            let (own, trial) = (&with.trial, &tried.trial);
            trial.dictionary.is_none() && trial.codec == own.codec && trial.part == own.part
        })
    }

    /// These, those of them that were tried under policies, and each that can be shared by the receivers of a message.
    fn with_what_a_sender_decides(&self, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
        let mut under = Vec::new();
        for group in &self.under_policies {
            let base = group[0].candidate(&self.stream);
            let own = candidates.iter().find(|candidate| group[0].is(candidate));
            under.extend(own.into_iter().flat_map(|own| {
                let policies = group[1..].iter();
                policies.map(|tried| Candidate {
                    // In proportion already, and to the last digit as it is published.
                    timed: tried.timed.clone(),
                    ..tried.candidate(&self.stream).in_proportion(own, &base)
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
                .map(|candidate| candidate.once(receivers))
                .collect();
            candidates.extend(once);
        }
        candidates
    }

    /// Whatever was tried, as it was: beyond the grid, and under policies.
    pub(super) fn all_tried(&self) -> impl Iterator<Item = &Tried> {
        let policies = self.under_policies.iter().flat_map(|group| &group[1..]);
        self.tried.iter().chain(policies)
    }

    /// What of that was tried on a part.
    pub(super) fn tried_on(&self, part: &Part) -> impl Iterator<Item = Candidate> {
        let on_part = self.all_tried().filter(|tried| tried.trial.part == *part);
        on_part.map(|tried| tried.candidate(&self.stream))
    }
}
