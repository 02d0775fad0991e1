//! What is measured of a direction? Its points, what is tried beyond them, and what both compute.

use super::beyond::{self, Trial};
use super::candidate::{Candidate, USUAL};
use super::kept::Key;
use super::measure::{Measured, RoundTripError, measure};
use super::memory::Contexts;
use super::part::Part;
use super::recording::Stream;
use super::timing::{self, Meanwhile, Subject, Timed};
use super::{Phase, Progress, TuneError, Work, points, shortlist};
use crate::cost::this_machine;
use lastmile_payload::message_codec::{Deflate, MessageCodec};
use lastmile_payload::sweep::{Point, Swept};
use lastmile_units::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A direction, measured.
pub(super) struct Direction<'a> {
    pub(super) stream: Stream<'a>,
    pub(super) points: Vec<Point>,
    /// How much of the stream points rest on, where they do not rest on all of it.
    pub(super) sampled: Option<Bytes>,
    /// How many different streams the points stand for.
    pub(super) distinct_streams: usize,
    pub(super) trials: Vec<(Trial, Measured)>,
    /// Of the points that were timed.
    pub(super) timed: BTreeMap<Deflate, Timed>,
    /// Of each trial.
    pub(super) trials_timed: Vec<Timed>,
    pub(super) meanwhile: Meanwhile,
    /// What the shortlisted points' contexts take, both ways.
    pub(super) contexts: BTreeMap<Deflate, Contexts>,
}

impl Trial {
    fn name(&self) -> String {
        let known = self.dictionary.as_ref().map(|(known, _)| format!(" with {known}"));
        let policy = self.policy.map(|policy| format!(", {policy}"));
        format!(
            "{}{}{}",
            self.codec,
            known.unwrap_or_default(),
            policy.unwrap_or_default()
        )
    }

    fn key(&self, stream: &Stream<'_>) -> Key {
        let parameters = format!("{} on {}", self.name(), self.part.name);
        Key::new(stream.content, &build(&self.codec), parameters)
    }
}

/// What a codec's octets depend on beside its settings.
pub(super) fn build(codec: &MessageCodec) -> String {
    codec.back_end().map_or_else(
        || "identity".to_owned(),
        |back_end| format!("{} {}", back_end.name, back_end.version),
    )
}

impl<'a> Direction<'a> {
    /// Measures everything that is asked for, or finds it where it is kept.
    pub(super) fn measure(stream: Stream<'a>, work: &mut Work<'_>) -> Result<Self, TuneError> {
        let Swept {
            points,
            sampled,
            distinct_streams,
        } = points::points(&stream, work)?;
        let shortlist = shortlist::shortlist(&points, work.options.holder);
        let trials = if work.options.beyond {
            beyond::trials(stream.messages)
        } else {
            Vec::new()
        };
        // The points that are timed are measured again on a part: what decoding takes, and that it gives back the same, is not swept.
        let part = Part::first_octets(stream.messages, CHECKED_MOST);
        let again = shortlist.iter().map(|setting| Trial {
            codec: MessageCodec::Deflate(*setting),
            dictionary: None,
            policy: None,
            part: part.clone(),
        });
        let wanted: Vec<Trial> = again.chain(trials.iter().cloned()).collect();
        let measured = work.measured(&stream, &wanted)?;
        let (timed, meanwhile) = Self::time(&stream, &wanted, &measured, work)?;
        let count = shortlist.len();
        Ok(Self {
            contexts: shortlist
                .iter()
                .zip(&measured)
                .map(|(setting, found)| (*setting, found.contexts))
                .collect(),
            timed: shortlist.iter().copied().zip(timed[..count].iter().cloned()).collect(),
            trials: trials.into_iter().zip(measured[count..].iter().copied()).collect(),
            trials_timed: timed[count..].to_vec(),
            meanwhile,
            stream,
            points,
            sampled,
            distinct_streams,
        })
    }

    fn time(
        stream: &Stream<'_>,
        wanted: &[Trial],
        measured: &[Measured],
        work: &mut Work<'_>,
    ) -> Result<(Vec<Timed>, Meanwhile), TuneError> {
        let options = work.options;
        // What a policy leaves out or parts is not timed: it computes in proportion.
        let timed_places: Vec<usize> = (0..wanted.len())
            .filter(|place| wanted[*place].policy.is_none())
            .collect();
        let names: Vec<String> = timed_places
            .iter()
            .map(|place| format!("{} on {}", wanted[*place].name(), wanted[*place].part.name))
            .collect();
        let parameters = format!(
            "timed with {} connections for {:?}, seed {}: {}",
            options.holder.connections,
            options.timing,
            options.seed,
            names.join(", ")
        );
        let builds: BTreeSet<String> = wanted.iter().map(|trial| build(&trial.codec)).collect();
        let machine = this_machine();
        let build = format!("{}; {machine}", builds.into_iter().collect::<Vec<_>>().join(", "));
        let key = Key::new(stream.content, &build, parameters);
        let (timed, meanwhile): (Vec<Timed>, Meanwhile) = match work.kept.find(&key) {
            Some(kept) => kept,
            None => {
                let subject = |place: &usize| {
                    let (trial, measured) = (&wanted[*place], &measured[*place]);
                    Subject {
                        codec: trial.codec,
                        takeover: trial.codec.takeover(),
                        dictionary: trial.dictionary.as_ref().map(|(_, dictionary)| Arc::clone(dictionary)),
                        context: measured.contexts.compressing,
                        messages: trial.part.messages.clone(),
                    }
                };
                let subjects: Vec<Subject> = timed_places.iter().map(subject).collect();
                let plan = timing::Plan {
                    connections: options.holder.connections.get(),
                    time: options.timing,
                    seed: options.root().derive("timing"),
                    interrupt: &options.interrupt,
                };
                let timed = timing::time(&subjects, stream.messages, &plan, &mut |done, total| {
                    work.tell(Phase::Timing, done as f64 / total as f64);
                })?;
                work.kept.keep(&key, &timed)?;
                timed
            }
        };
        let mut all = vec![Timed::default(); wanted.len()];
        for (place, timed) in timed_places.into_iter().zip(timed) {
            all[place] = timed;
        }
        Ok((all, meanwhile))
    }

    /// What a setting of permessage-deflate can be chosen among: messages as they are, and the points that were timed.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let timed = self.points.iter().filter_map(|point| {
            let (timed, contexts) = (self.timed.get(&point.setting)?, self.contexts.get(&point.setting)?);
            Some(Candidate {
                codec: MessageCodec::Deflate(point.setting),
                dictionary: None,
                ratio: point.ratio,
                ratio_ci95: point.ratio_ci95.map(|interval| [interval.low, interval.high]),
                contexts: *contexts,
                timed: timed.clone(),
            })
        });
        std::iter::once(Candidate::identity()).chain(timed).collect()
    }

    /// What was tried beyond the grid on a part, dictionaries and all; under no policy.
    pub(super) fn tried_on(&self, part: &Part) -> impl Iterator<Item = Candidate> {
        let trials = self.trials.iter().zip(&self.trials_timed);
        trials
            .filter(|((trial, _), _)| trial.part == *part && trial.policy.is_none())
            .map(|((trial, measured), timed)| Candidate {
                codec: trial.codec,
                dictionary: trial.dictionary.as_ref().map(|(known, _)| known.clone()),
                ratio: measured.ratio(),
                ratio_ci95: None,
                contexts: measured.contexts,
                timed: timed.clone(),
            })
    }

    /// What any setting can be chosen among, where both ends are one's own. What was tried on the beginning of the messages alone is
    /// taken to stay in proportion to zlib's usual setting.
    pub(super) fn all_candidates(&self) -> Vec<Candidate> {
        let mut candidates = self.candidates();
        let part = beyond::tried(self.stream.messages);
        let usual = |candidates: &[Candidate]| {
            let usual = candidates.iter().find(|candidate| candidate.is(USUAL));
            usual.map(|candidate| candidate.ratio)
        };
        let tried: Vec<Candidate> = self.tried_on(&part).collect();
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
        candidates
    }
}

/// Settings of the grid are decoded again on so much of the beginning of a stream: our own choice.
const CHECKED_MOST: u64 = 1_000_000;

impl Work<'_> {
    /// Measures settings on parts of a stream, those that are not kept side by side.
    fn measured(&mut self, stream: &Stream<'_>, wanted: &[Trial]) -> Result<Vec<Measured>, TuneError> {
        let keys: Vec<Key> = wanted.iter().map(|trial| trial.key(stream)).collect();
        let missing: Vec<usize> = (0..wanted.len())
            .filter(|place| self.kept.find::<Measured>(&keys[*place]).is_none())
            .collect();
        let one = |place: &usize| {
            let Trial {
                codec,
                dictionary,
                policy,
                part,
            } = &wanted[*place];
            let dictionary = dictionary.as_ref().map(|(_, dictionary)| &**dictionary);
            measure(
                codec,
                dictionary,
                *policy,
                stream.messages,
                &part.connections(stream.messages),
            )
        };
        let progress = &mut *self.progress;
        let mut on_done = |done| {
            progress(Progress {
                phase: Phase::Beyond,
                done: done as f64 / missing.len() as f64,
            });
        };
        let found = self.workers.run(&missing, one, &mut on_done)?;
        for (place, found) in missing.iter().zip(found) {
            let found = found.map_err(|problem: RoundTripError| TuneError::Codec {
                setting: wanted[*place].name(),
                problem: problem.to_string(),
            })?;
            self.kept.keep(&keys[*place], &found)?;
        }
        let all = keys.iter().map(|key| self.kept.find(key).expect("it was just kept"));
        Ok(all.collect())
    }
}
