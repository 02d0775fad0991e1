//! The results of trials: measured on their part and timed, or read from the journal.

use super::alternative_codecs::Trial;
use super::candidate::Candidate;
use super::context_memory::CompressorCount;
use super::measure::{Measured, RoundTripError, measure};
use super::recording::Stream;
use super::result_cache::{Key, build};
use super::timing::{self, Interference, Timed, TimedCodec};
use super::{Progress, TuneContext, TuneError, policy};
use lastmile_testbed::cpu_cost_model::this_machine;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// A trial and its results.
#[derive(Debug, Clone)]
pub(super) struct TrialResult {
    pub(super) trial: Trial,
    pub(super) measured: Measured,
    pub(super) timed: Timed,
}

impl Trial {
    fn key(&self, stream: &Stream<'_>) -> Key {
        Key::new(stream.content, &build(&self.codec), self.label())
    }

    /// The trial as text, with its messages.
    fn label(&self) -> String {
        format!("{} on {}", self.name(), self.part.name)
    }
}

impl TrialResult {
    /// The figures as measured on its part.
    pub(super) fn candidate(&self, stream: &Stream<'_>) -> Candidate {
        let Trial {
            codec,
            dictionary,
            policy,
            part,
        } = &self.trial;
        let time_kept = || policy::context_alive_share(policy, stream.messages, &part.messages);
        Candidate {
            codec: *codec,
            dictionary: dictionary.as_ref().map(|(known, _)| known.clone()),
            policy: *policy,
            compressors: match policy.reset_after_idle.and_then(|_| time_kept()) {
                Some(share) => CompressorCount::Fraction(share),
                None => CompressorCount::PerConnection,
            },
            ratio: self.measured.ratio(),
            ratio_ci95: None,
            contexts: self.measured.contexts,
            timed: self.timed.clone(),
        }
    }

    /// Whether this is the trial of that candidate.
    pub(super) fn same_as(&self, other: &Candidate) -> bool {
        let known = self.trial.dictionary.as_ref().map(|(known, _)| known);
        self.trial.codec == other.codec && known == other.dictionary.as_ref() && self.trial.policy == other.policy
    }
}

impl TuneContext<'_> {
    /// Measures settings on parts of a stream. Those that are not stored are measured in parallel.
    pub(super) fn measured(
        &mut self,
        stream: &Stream<'_>,
        wanted: &[Trial],
        phase: &'static str,
    ) -> Result<Vec<Measured>, TuneError> {
        let keys: Vec<Key> = wanted.iter().map(|trial| trial.key(stream)).collect();
        let missing: Vec<usize> = (0..wanted.len())
            .filter(|index| self.kept.find::<Measured>(&keys[*index]).is_none())
            .collect();
        let one = |index: &usize| {
            let Trial {
                codec,
                dictionary,
                policy,
                part,
            } = &wanted[*index];
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
                phase,
                done: done as f64 / missing.len() as f64,
            });
        };
        let found = self.workers.run(&missing, one, &mut on_done)?;
        for (index, found) in missing.iter().zip(found) {
            let found = found.map_err(|problem: RoundTripError| TuneError::Codec {
                setting: wanted[*index].name(),
                problem: problem.to_string(),
            })?;
            self.kept.store(&keys[*index], &found)?;
        }
        let all = keys.iter().map(|key| self.kept.find(key).expect("it was just kept"));
        Ok(all.collect())
    }

    /// Times measured settings in turns, for this much wall-clock time.
    pub(super) fn timed(
        &mut self,
        stream: &Stream<'_>,
        wanted: Vec<Trial>,
        measured: Vec<Measured>,
        time: Duration,
        phase: &'static str,
    ) -> Result<(Vec<TrialResult>, Interference), TuneError> {
        let options = self.options;
        let names: Vec<String> = wanted.iter().map(Trial::label).collect();
        let parameters = format!(
            "timed with {} connections for {time:?}, seed {}: {}",
            options.server.connections,
            options.seed,
            names.join(", ")
        );
        let builds: BTreeSet<String> = wanted.iter().map(|trial| build(&trial.codec)).collect();
        let machine = this_machine();
        let build = format!("{}; {machine}", builds.into_iter().collect::<Vec<_>>().join(", "));
        let key = Key::new(stream.content, &build, parameters);
        let (timed, meanwhile): (Vec<Timed>, Interference) = match self.kept.find(&key) {
            Some(kept) => kept,
            None => {
                let subject = |(trial, measured): (&Trial, &Measured)| TimedCodec {
                    codec: trial.codec,
                    dictionary: trial.dictionary.as_ref().map(|(_, dictionary)| Arc::clone(dictionary)),
                    policy: trial.policy,
                    context: measured.contexts.compressing,
                    messages: trial.part.messages.clone(),
                };
                let subjects: Vec<TimedCodec> = wanted.iter().zip(&measured).map(subject).collect();
                let plan = timing::Plan {
                    connections: options.server.connections.get(),
                    time,
                    seed: options.root().derive("timing"),
                    interrupt: &options.interrupt,
                };
                let timed = timing::time(&subjects, stream.messages, &plan, &mut |done, total| {
                    self.report_progress(phase, done as f64 / total as f64);
                })?;
                self.kept.store(&key, &timed)?;
                timed
            }
        };
        let tried = wanted
            .into_iter()
            .zip(measured)
            .zip(timed)
            .map(|((trial, measured), timed)| TrialResult { trial, measured, timed });
        Ok((tried.collect(), meanwhile))
    }
}
