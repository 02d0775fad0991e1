//! Which compression should these messages have? Sizes, memory and computing of every setting, the one to use, and what it does on links.
//!
//! [`tune()`] takes a transcript, read whole, and gives the record that is published. In between:
//!
//! | question | file |
//! | --- | --- |
//! | what is in the transcript? | `recording` |
//! | what is measured of a direction, in which order? | `direction` |
//! | what was measured before? | `kept` |
//! | how small, and in how much memory, at every setting of the grid? | `payload::sweep`, asked by `points` |
//! | and beyond it: other codecs, dictionaries, policies? | `beyond` on a `part`, by `measure`, as `tried`; `policy` |
//! | which are worth timing, and what do they compute? | `shortlist`, `timing` by the `clock` |
//! | what goes to many connections at once? | `broadcast` |
//! | how much memory do all connections take? | `memory` |
//! | which does no other beat, and which is chosen? | `frontier`; `choose`, `among` all, by each `candidate`'s figures |
//! | when are messages there, over a link? | `delivery` |
//! | how is that told? | `answer`, `words`, `findings`, `doubts`, `snippets` |
//!
//! Sizes and memory are counted and are the same on every machine; only computing is timed.

mod among;
mod answer;
mod beyond;
mod broadcast;
mod candidate;
mod choose;
mod clock;
mod delivery;
mod direction;
mod doubts;
mod findings;
mod frontier;
mod kept;
mod measure;
mod memory;
mod part;
mod points;
mod policy;
mod recording;
mod shortlist;
mod snippets;
mod timing;
mod tried;
mod words;

pub use kept::{JOURNAL, Kept};
pub use memory::Holder;
pub use recording::{End, Recording};
pub use snippets::{Wanted, snippets as configurations};

use crate::advise::parallel::{self, Workers};
use crate::journal::JournalError;
use crate::settings::World;
use choose::Limits;
use direction::Direction;
use lastmile_link::LinkSpec;
use lastmile_payload::sweep::Grid;
use lastmile_report::tune::{Sampling, Tuning};
use lastmile_units::{Bytes, Seed};
use std::num::{NonZeroU16, NonZeroU64, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How a transcript is tuned for.
#[derive(Debug, Clone)]
pub struct Options {
    /// What memory is multiplied by, and how many contexts computing is timed with in turns.
    pub holder: Holder,
    /// What all connections may take together; none: as much as they like.
    pub memory: Option<Bytes>,
    /// How long compressing a message may compute; none: as long as it likes.
    pub computing: Option<Duration>,
    /// How much may be left, compressed over raw: the cheapest setting that leaves no more is chosen. None: about as little as can be.
    pub ratio: Option<f64>,
    /// To how many connections a server's messages go, on average; none: as was recorded.
    pub receivers: Option<NonZeroU64>,
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
    /// The worlds that they are delivered in: the emulated one takes real time, and the right to make network namespaces.
    pub worlds: Vec<World>,
    /// When messages are sent over links.
    pub pace: Pace,
    /// How often each stream is delivered over a link that has chance in it, as the emulated world has over any.
    pub repeats: NonZeroU64,
    /// How many times slower than this machine the client computes, where that is simulated.
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
            computing: None,
            ratio: None,
            receivers: None,
            grid: Grid::default(),
            sampling: Sampling::Auto,
            beyond: true,
            timing: Duration::from_secs(8),
            links: Vec::new(),
            worlds: vec![World::Simulated],
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
    /// Policies are tried on what would be used without them, and timed.
    Policies,
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
    #[error("{transcript}: {}, so that there is nothing to compress; record some that have", without_payload(.messages))]
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
    /// A world cannot be had.
    #[error("the emulated world cannot be had: {0}")]
    World(String),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Someone asked to stop. What was done is in the journal.
    #[error("interrupted: what was done is kept, and a tune that resumes goes on from there")]
    Interrupted,
}

/// Says that no message of these has payload.
fn without_payload(messages: &usize) -> String {
    match messages {
        1 => "its one message has no payload".to_owned(),
        several => format!("none of {several} messages has payload"),
    }
}

impl From<parallel::Interrupted> for TuneError {
    fn from(_: parallel::Interrupted) -> Self {
        Self::Interrupted
    }
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

/// As it was given, or near enough: 1e300 has 301 digits.
fn in_few_digits(value: f64) -> String {
    if value.abs() < 1e9 {
        value.to_string()
    } else {
        format!("{value:e}")
    }
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
                in_few_digits(self.slow_client),
                "give a factor above 0, and of no more than 1000000, like 4",
            );
        }
        if let Some(ratio) = self.ratio
            && !(ratio > 0.0 && ratio.is_finite())
        {
            return refuse("what may be left", ratio.to_string(), "give a ratio above 0, like 0.35");
        }
        if self.computing == Some(Duration::ZERO) {
            return refuse(
                "what a message may compute",
                "no time".to_owned(),
                "give a time above 0, like 20us",
            );
        }
        let connections = self.holder.connections;
        if let Some(receivers) = self.receivers.filter(|receivers| *receivers > connections) {
            return refuse(
                "the number of receivers",
                format!("{receivers}, of {connections} connections"),
                "give at least as many connections",
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
            computing: self.computing,
            ratio: self.ratio,
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
}

#[cfg(test)]
mod tests;
