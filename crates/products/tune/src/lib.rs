//! Finds the compression setting for a stream of messages: ratio, memory and CPU time of every setting, the one to use, and its effect on links.
//!
//! [`tune()`] turns a whole transcript into the record that is published, in these steps:
//!
//! | step | file |
//! | --- | --- |
//! | the streams of the transcript | `recording` |
//! | the order of measurements in one direction | `measure_direction` |
//! | measurements stored by an earlier run | `result_cache` |
//! | size and memory at every setting of the grid | `payload::sweep`, called by `grid_results` |
//! | other codecs, dictionaries, policies | `alternative_codecs` on a `message_range`, by `measure`, as `trial_results`; `policy` |
//! | the settings worth timing, and their CPU time | `shortlist`, `timing` by `lab`'s `cpu_clock` |
//! | messages that go to many connections at once | `broadcast` |
//! | the memory of all connections | `context_memory` |
//! | the Pareto front, and the setting to use | `pareto`; `select`, `candidates` all, by each `candidate`'s figures |
//! | delivery times over a link | `delivery` |
//! | the record, with sentences and configurations | `direction_report`, `answer`, `prose`, `findings`, `doubts`, `snippets` |
//! | rules of `--fail-on` on the record | [`rules`] |
//!
//! Sizes and memory are counted and are the same on every machine; only CPU time is measured.

mod alternative_codecs;
mod answer;
mod as_run;
mod broadcast;
mod candidate;
mod candidates;
mod context_memory;
mod csv;
mod delivery;
mod direction_report;
mod document;
mod doubts;
mod findings;
mod grid_results;
mod measure;
mod measure_direction;
mod message_range;
mod pareto;
mod policy;
mod prose;
pub mod record;
mod recording;
mod result_cache;
pub mod rules;
mod select;
mod shortlist;
mod snippets;
mod timing;
mod trial_results;

pub use context_memory::ServerProfile;
pub use doubts::DOUBTS;
pub use recording::{End, Recording};
pub use result_cache::{JOURNAL, ResultCache};
pub use snippets::{SnippetRequest, snippets as configurations};

use crate::record::{Sampling, Tuning};
use lastmile_link::LinkSpec;
use lastmile_sweep::Grid;
use lastmile_testbed::invalid_option::{InvalidOption, check_slow_down};
use lastmile_testbed::journal::JournalError;
use lastmile_testbed::settings::World;
use lastmile_units::workers::{self, Workers};
use lastmile_units::{ByteCount, Seed};
use measure_direction::Direction;
use select::Constraints;
use std::num::{NonZeroU16, NonZeroU64, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The options of a tuning.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many connections the server has (memory is multiplied by it, CPU time is measured over as many contexts), and how many cores.
    pub server: ServerProfile,
    /// Limit on the memory of all connections together; none: no limit.
    pub memory: Option<ByteCount>,
    /// Limit on the CPU time to compress a message; none: no limit.
    pub computing: Option<Duration>,
    /// Limit on the ratio, compressed over raw: the cheapest setting within it is chosen. None: about the lowest ratio.
    pub ratio: Option<f64>,
    /// To how many connections a server's message goes, on average; none: as recorded.
    pub receivers: Option<NonZeroU64>,
    /// How many messages a second each connection carries in each direction; none: as recorded, where that is known. Positive and finite.
    pub rate: Option<f64>,
    /// The settings of permessage-deflate.
    pub grid: Grid,
    /// Whether every byte is compressed at every point, however many there are.
    pub sampling: Sampling,
    /// Whether other codecs and dictionaries are tried too.
    pub beyond: bool,
    /// How long CPU time is measured for each direction, in wall-clock time; a minimum number of rounds is always finished. Zero: only those.
    pub timing: Duration,
    /// The links, with the names they were requested by.
    pub links: Vec<(String, LinkSpec)>,
    /// The worlds in which messages are delivered; the emulated one takes real time and needs permission to make network namespaces.
    pub worlds: Vec<World>,
    /// When messages are sent over links.
    pub pace: Pace,
    /// How often each stream is delivered over a link with randomness; in the emulated world, over any link.
    pub repeats: NonZeroU64,
    /// How many times slower the client's CPU is than this machine's, in the simulated world.
    pub slow_client: f64,
    /// The root of every random choice.
    pub seed: u64,
    /// How many threads work while nothing is timed.
    pub threads: NonZeroUsize,
    /// Stops the work with [`TuneError::Interrupted`] once another thread sets it.
    pub interrupt: Arc<AtomicBool>,
}

/// When messages are sent over a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// As recorded; where the transcript gives no times, as [`Pace::OneByOne`].
    Recorded,
    /// At this rate, in messages per second, evenly spaced.
    Rate(f64),
    /// Each once the previous one has been decoded.
    OneByOne,
}

impl Default for Options {
    /// One connection of a server with 4 cores, no limits, the whole grid and the codecs beyond it, 8 s of timing, no links; a client that is
    /// 4 times slower, as in `lastmile advise`. The numbers are our own choice.
    fn default() -> Self {
        Self {
            server: ServerProfile {
                connections: NonZeroU64::MIN,
                cores: const { NonZeroU16::new(4).unwrap() },
            },
            memory: None,
            computing: None,
            ratio: None,
            receivers: None,
            rate: None,
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

/// How far the work has got.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// What is being done: `delivering over the links`.
    pub phase: &'static str,
    /// How much of the phase is done, from 0 to 1.
    pub done: f64,
}

const SWEEPING: &str = "compressing at every setting of permessage-deflate";
const TRYING_CODECS: &str = "compressing with other codecs and dictionaries";
const TIMING: &str = "measuring the CPU time of candidates";
const TRYING_POLICIES: &str = "trying sender policies";
const DELIVERING: &str = "delivering over the links";

/// Why a tuning fails.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// An option is out of its range.
    #[error(transparent)]
    Option(#[from] InvalidOption),
    /// No message has payload.
    #[error("{transcript}: {}, so there is nothing to compress; record messages with payload", without_payload(.messages))]
    Empty {
        /// Where it was read from.
        transcript: String,
        /// How many messages there were.
        messages: usize,
    },
    /// A codec does not restore its input, or is not available.
    #[error("{setting}: {problem}; leave it out, and report this as a bug")]
    Codec {
        /// The setting.
        setting: String,
        /// What happened.
        problem: String,
    },
    /// Messages do not arrive over a link.
    #[error("over link {link} messages do not arrive: {why}; try a link with less loss")]
    Link {
        /// The link's name.
        link: String,
        /// What happened.
        why: String,
    },
    /// The emulated world is not available.
    #[error("the emulated world is not available: {0}")]
    World(String),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The work was interrupted. Finished measurements are in the journal.
    #[error("interrupted: finished measurements are kept, and --resume continues from there")]
    Interrupted,
}

/// States that none of the messages has payload.
fn without_payload(messages: &usize) -> String {
    match messages {
        1 => "its one message has no payload".to_owned(),
        several => format!("none of {several} messages has payload"),
    }
}

impl From<workers::Interrupted> for TuneError {
    fn from(_: workers::Interrupted) -> Self {
        Self::Interrupted
    }
}

/// The state that all steps share.
struct TuneContext<'a> {
    options: &'a Options,
    kept: &'a mut ResultCache,
    progress: &'a mut (dyn FnMut(Progress) + Send),
    workers: Workers<'a>,
}

/// Measures every setting of `options` on the recording, and reports which to use. Measurements that `kept` holds already are not repeated;
/// new ones are stored there.
///
/// # Errors
/// When an option is out of range, there is nothing to compress, a codec fails, messages do not arrive, the journal cannot be written, or
/// the work is interrupted.
pub fn tune(
    recording: &Recording,
    options: &Options,
    kept: &mut ResultCache,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Tuning, TuneError> {
    options.check()?;
    let streams = recording.streams();
    if streams.is_empty() {
        return Err(TuneError::Empty {
            transcript: recording.source.clone(),
            messages: recording.count(),
        });
    }
    let mut work = TuneContext {
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
    let links = delivery::deliver(&directions, &mut work)?;
    Ok(answer::tuning(recording, options, &directions, links))
}

impl Options {
    fn check(&self) -> Result<(), InvalidOption> {
        let refuse = |option, found: String, remedy| Err(InvalidOption::new(option, found, remedy));
        if self.grid.settings().is_empty() {
            return refuse("the grid", "empty".to_owned(), "give each axis at least one value");
        }
        check_slow_down("the client's slow-down", self.slow_client)?;
        if let Some(ratio) = self.ratio
            && !(ratio > 0.0 && ratio.is_finite())
        {
            return refuse(
                "the limit on the ratio",
                ratio.to_string(),
                "give a ratio above 0, like 0.35",
            );
        }
        if self.computing == Some(Duration::ZERO) {
            return refuse(
                "the limit on CPU time per message",
                "zero".to_owned(),
                "give a time above 0, like 20us",
            );
        }
        let connections = self.server.connections;
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
                format!("{rate} per second"),
                "give a number above 0, like 10",
            ),
            _ => Ok(()),
        }
    }

    fn limits(&self) -> Constraints {
        Constraints {
            holder: self.server,
            memory: self.memory,
            computing: self.computing,
            ratio: self.ratio,
        }
    }

    fn root(&self) -> Seed {
        Seed::new(self.seed).derive("tune")
    }
}

impl TuneContext<'_> {
    fn report_progress(&mut self, phase: &'static str, done: f64) {
        (self.progress)(Progress { phase, done });
    }
}

#[cfg(test)]
mod tests;
