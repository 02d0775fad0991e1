//! Which compression should these messages have? Sizes, memory and computing of every setting, the one to use, and what it does on links.
//!
//! [`tune()`] takes a transcript, read whole, and gives the record that is published. In between:
//!
//! | question | file |
//! | --- | --- |
//! | what is in the transcript? | `recording` |
//! | what was measured before? | `kept` |
//! | how small, and in how much memory, at every setting of the grid? | `payload::sweep`, asked by `points` |
//! | and beyond it: other codecs, dictionaries, policies? | `beyond` on a `part`, by `measure`; `policies` |
//! | which are worth timing, and what do they compute? | `shortlist`, `timing` by the `clock` |
//! | how much memory do all connections take? | `memory` |
//! | which does no other beat, and which is chosen? | `frontier`, `choose`, by each `candidate`'s figures |
//! | when are messages there, over a link? | `delivery` |
//! | how is that told? | `answer`, `words`, `doubts`, `snippets` |
//!
//! Sizes and memory are counted and are the same on every machine; only computing is timed.

mod answer;
mod beyond;
mod candidate;
mod choose;
mod clock;
mod delivery;
mod doubts;
mod frontier;
mod kept;
mod measure;
mod memory;
mod part;
mod points;
mod recording;
mod shortlist;
mod snippets;
mod timing;
mod words;

pub use kept::{JOURNAL, Kept};
pub use memory::Holder;
pub use recording::{End, Recording};

use crate::advise::parallel::{self, Workers};
use crate::journal::JournalError;
use beyond::Trial;
use candidate::Candidate;
use choose::Limits;
use kept::Key;
use lastmile_link::LinkSpec;
use lastmile_payload::message_codec::{Deflate, MessageCodec};
use lastmile_payload::sweep::{Grid, Point};
use lastmile_report::tune::{Sampling, Tuning};
use lastmile_units::{Bytes, Seed};
use measure::{Measured, RoundTripError};
use part::Part;
use recording::Stream;
use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroU64, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use timing::{Meanwhile, Subject, Timed};

/// How a transcript is tuned for.
#[derive(Debug, Clone)]
pub struct Options {
    /// What memory is multiplied by, and how many contexts computing is timed with in turns.
    pub holder: Holder,
    /// What all connections may take together; none: as much as they like.
    pub memory: Option<Bytes>,
    /// The settings of permessage-deflate.
    pub grid: Grid,
    /// Whether every octet is compressed at every point, however many there are.
    pub sampling: Sampling,
    /// Whether other codecs and dictionaries are tried too.
    pub beyond: bool,
    /// How long computing is timed for each direction, by the wall; a least number of rounds is finished. Zero: as short as that.
    pub timing: Duration,
    /// The links, with the names they were asked for by.
    pub links: Vec<(String, LinkSpec)>,
    /// When messages are sent over links.
    pub pace: Pace,
    /// How often each stream is delivered over a link that has chance in it.
    pub repeats: NonZeroU64,
    /// How many times slower than this machine the client computes.
    pub slow_client: f64,
    /// The root of every random choice.
    pub seed: u64,
    /// How many threads work, where nothing is timed.
    pub threads: NonZeroUsize,
    /// Set by someone else, stops the work with [`TuneError::Interrupted`].
    pub interrupt: Arc<AtomicBool>,
}

/// When messages are sent over a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// As recorded; where the transcript gives no times, as [`Pace::OneByOne`].
    Recorded,
    /// So many a second, evenly.
    Rate(f64),
    /// Each once the one before has been decoded.
    OneByOne,
}

impl Default for Options {
    /// One connection of a server with 4 cores, no bound on memory, the whole grid and what lies beyond it, 8 s of timing, no links; the
    /// client is as in [`crate::advise`], 4 times slower. Numbers are our own choice.
    fn default() -> Self {
        Self {
            holder: Holder {
                connections: NonZeroU64::MIN,
                cores: const { NonZeroU16::new(4).unwrap() },
            },
            memory: None,
            grid: Grid::default(),
            sampling: Sampling::Auto,
            beyond: true,
            timing: Duration::from_secs(8),
            links: Vec::new(),
            pace: Pace::Recorded,
            repeats: const { NonZeroU64::new(5).unwrap() },
            slow_client: 4.0,
            seed: 1,
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            interrupt: Arc::default(),
        }
    }
}

/// How far the work is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// How much of that is done, from 0 to 1.
    pub done: f64,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Messages are compressed at every setting of the grid.
    Sweeping,
    /// They are compressed by other codecs, with dictionaries, under policies.
    Beyond,
    /// Computing is timed.
    Timing,
    /// Messages are delivered over links.
    Delivering,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// An option is out of its range.
    #[error("{option} is {found}, which cannot be tuned for; {remedy}")]
    Option {
        /// Which.
        option: &'static str,
        /// What it was.
        found: String,
        /// What it can be.
        remedy: &'static str,
    },
    /// No message has payload.
    #[error(
        "{transcript}: none of {messages} messages has payload, so that there is nothing to compress; record some that have"
    )]
    Empty {
        /// Where it was read from.
        transcript: String,
        /// How many there were.
        messages: usize,
    },
    /// A codec does not give back what it was given, or cannot be had.
    #[error("{setting}: {problem}; leave it out, and report this")]
    Codec {
        /// The setting.
        setting: String,
        /// What happened.
        problem: String,
    },
    /// Messages do not arrive over a link.
    #[error("over link {link} messages do not arrive: {why}; try a link that loses less")]
    Link {
        /// The link's name.
        link: String,
        /// What happened.
        why: String,
    },
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Someone asked to stop. What was done is in the journal.
    #[error("interrupted: what was done is kept, and a tune that resumes goes on from there")]
    Interrupted,
}

impl From<parallel::Interrupted> for TuneError {
    fn from(_: parallel::Interrupted) -> Self {
        Self::Interrupted
    }
}

/// A direction, measured.
struct Direction<'a> {
    stream: Stream<'a>,
    points: Vec<Point>,
    trials: Vec<(Trial, Measured)>,
    /// Of the points that were timed.
    timed: BTreeMap<Deflate, Timed>,
    /// Of each trial.
    trials_timed: Vec<Timed>,
    meanwhile: Meanwhile,
    /// What the shortlisted points' contexts take, both ways.
    contexts: BTreeMap<Deflate, memory::Contexts>,
}

/// What pieces of work share.
struct Work<'a> {
    options: &'a Options,
    kept: &'a mut Kept,
    progress: &'a mut dyn FnMut(Progress),
    workers: Workers<'a>,
}

/// Measures every setting of `options` on what was recorded, and says what to use. What is in `kept` already is not measured again, and what
/// is measured is kept there.
///
/// # Errors
/// When an option is out of range, there is nothing to compress, a codec fails, messages do not arrive, the journal cannot be written, or
/// someone interrupts.
pub fn tune(
    recording: &Recording,
    options: &Options,
    kept: &mut Kept,
    progress: &mut dyn FnMut(Progress),
) -> Result<Tuning, TuneError> {
    options.check()?;
    let streams = recording.streams();
    if streams.is_empty() {
        return Err(TuneError::Empty {
            transcript: recording.source.clone(),
            messages: recording.count(),
        });
    }
    let mut work = Work {
        options,
        kept,
        progress,
        workers: Workers {
            threads: options.threads,
            interrupt: &options.interrupt,
        },
    };
    let directions: Vec<Direction<'_>> = streams
        .into_iter()
        .map(|stream| Direction::measure(stream, &mut work))
        .collect::<Result<_, _>>()?;
    let links = delivery::deliver(recording, &directions, &mut work)?;
    Ok(answer::tuning(recording, options, &directions, links))
}

impl Options {
    fn check(&self) -> Result<(), TuneError> {
        let refuse = |option, found: String, remedy| Err(TuneError::Option { option, found, remedy });
        if self.grid.settings().is_empty() {
            return refuse("the grid", "empty".to_owned(), "give each axis at least one value");
        }
        if !(self.slow_client > 0.0 && self.slow_client <= 1e6) {
            return refuse(
                "the client's slow-down",
                self.slow_client.to_string(),
                "give a factor above 0, like 4",
            );
        }
        match self.pace {
            Pace::Rate(rate) if !(rate > 0.0 && rate <= 1e9) => refuse(
                "the rate of messages",
                format!("{rate} a second"),
                "give a number above 0, like 10",
            ),
            _ => Ok(()),
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            holder: self.holder,
            memory: self.memory,
        }
    }

    fn root(&self) -> Seed {
        Seed::new(self.seed).derive("tune")
    }
}

impl Work<'_> {
    fn tell(&mut self, phase: Phase, done: f64) {
        (self.progress)(Progress { phase, done });
    }

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
                part,
            } = &wanted[*place];
            let dictionary = dictionary.as_ref().map(|(_, dictionary)| &**dictionary);
            measure::measure(codec, dictionary, stream.messages, &part.connections(stream.messages))
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

impl Trial {
    fn name(&self) -> String {
        let known = self.dictionary.as_ref().map(|(known, _)| format!(" with {known}"));
        format!("{}{}", self.codec, known.unwrap_or_default())
    }

    fn key(&self, stream: &Stream<'_>) -> Key {
        let parameters = format!("{} on {}", self.name(), self.part.name);
        Key::new(stream.content, &build(&self.codec), parameters)
    }
}

/// What a codec's octets depend on beside its settings.
fn build(codec: &MessageCodec) -> String {
    codec.back_end().map_or_else(
        || "identity".to_owned(),
        |back_end| format!("{} {}", back_end.name, back_end.version),
    )
}

impl<'a> Direction<'a> {
    fn measure(stream: Stream<'a>, work: &mut Work<'_>) -> Result<Self, TuneError> {
        let points = points::points(&stream, work)?;
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
        })
    }

    fn time(
        stream: &Stream<'_>,
        wanted: &[Trial],
        measured: &[Measured],
        work: &mut Work<'_>,
    ) -> Result<(Vec<Timed>, Meanwhile), TuneError> {
        let options = work.options;
        let names: Vec<String> = wanted
            .iter()
            .map(|trial| format!("{} on {}", trial.name(), trial.part.name))
            .collect();
        let parameters = format!(
            "timed with {} connections for {:?}, seed {}: {}",
            options.holder.connections,
            options.timing,
            options.seed,
            names.join(", ")
        );
        let builds: std::collections::BTreeSet<String> = wanted.iter().map(|trial| build(&trial.codec)).collect();
        let machine = crate::cost::this_machine();
        let build = format!("{}; {machine}", builds.into_iter().collect::<Vec<_>>().join(", "));
        let key = Key::new(stream.content, &build, parameters);
        if let Some(kept) = work.kept.find(&key) {
            return Ok(kept);
        }
        let subjects: Vec<Subject> = wanted
            .iter()
            .zip(measured)
            .map(|(trial, measured)| Subject {
                codec: trial.codec,
                takeover: trial.codec.takeover(),
                dictionary: trial.dictionary.as_ref().map(|(_, dictionary)| Arc::clone(dictionary)),
                context: measured.contexts.compressing,
                messages: trial.part.messages.clone(),
            })
            .collect();
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
        Ok(timed)
    }

    /// What a setting of permessage-deflate can be chosen among: messages as they are, and the points that were timed.
    fn candidates(&self) -> Vec<Candidate> {
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

    /// What was tried beyond the grid on a part, dictionaries and all.
    fn tried_on(&self, part: &Part) -> impl Iterator<Item = Candidate> {
        let trials = self.trials.iter().zip(&self.trials_timed);
        trials
            .filter(|((trial, _), _)| trial.part == *part)
            .map(|((trial, measured), timed)| Candidate {
                codec: trial.codec,
                dictionary: trial.dictionary.as_ref().map(|(known, _)| known.clone()),
                ratio: measured.ratio(),
                ratio_ci95: None,
                contexts: measured.contexts,
                timed: timed.clone(),
            })
    }

    /// What any setting can be chosen among, where both ends are one's own: what was measured on all messages.
    fn all_candidates(&self) -> Vec<Candidate> {
        let mut candidates = self.candidates();
        candidates.extend(self.tried_on(&Part::all(self.stream.messages)));
        candidates
    }
}

/// Settings of the grid are decoded again on so much of the beginning of a stream: our own choice.
const CHECKED_MOST: u64 = 1_000_000;

#[cfg(test)]
mod tests;
