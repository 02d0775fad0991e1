//! The size and memory at every setting of the grid, from the journal or from a sweep. A sweep is stored part by part, so that an interrupted
//! one resumes with the remaining parts.

use super::candidate::ZLIB_DEFAULT;
use super::recording::Stream;
use super::result_cache::{Key, ResultCache, build};
use super::{Options, Phase, Progress, TuneContext, TuneError};
use crate::record::Sampling;
use lastmile_codec::message::{Deflate, MessageCodec};
use lastmile_sweep::{self as sweep, Connection, Interrupted, Interval, Observer, Point, SweepResult, exact, sampled};
use lastmile_testbed::journal::JournalError;
use lastmile_traffic::messages::ContentHash;
use lastmile_units::ByteCount;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

/// Longer streams are sampled unless all points are to be exact: our own choice, about ten seconds on two cores.
const EXACT_BYTES_MAX: u64 = 1_000_000;

/// How points are measured.
#[derive(Clone, Copy)]
enum SweepMode {
    /// Every byte is compressed, or the result is proven to be the same.
    Exact,
    /// A sample of the messages is compressed.
    Sampled(sweep::Sampling),
}

impl SweepMode {
    fn for_stream(stream: &Stream<'_>, options: &Options) -> Self {
        let short = stream.messages.total().get() <= EXACT_BYTES_MAX;
        if options.sampling == Sampling::Exact || short {
            Self::Exact
        } else {
            Self::Sampled(sweep::Sampling {
                seed: options.root().derive("sample"),
                ..sweep::Sampling::default()
            })
        }
    }

    fn parameters(self) -> String {
        match self {
            Self::Exact => "counted".to_owned(),
            Self::Sampled(sampling) => format!("{sampling:?}"),
        }
    }
}

/// The keys of a sweep in the journal.
struct CacheKeys {
    content: ContentHash,
    build: String,
    /// The grid, and how its points are measured.
    parameters: String,
}

impl CacheKeys {
    fn new(stream: &Stream<'_>, how: SweepMode, options: &Options) -> Self {
        Self {
            content: stream.content,
            build: build(&MessageCodec::Deflate(ZLIB_DEFAULT)),
            parameters: format!("{:?} {}", options.grid, how.parameters()),
        }
    }

    fn sweep_key(&self) -> Key {
        Key::new(self.content, &self.build, self.parameters.clone())
    }

    fn part_key(&self, name: &str) -> Key {
        Key::new(self.content, &self.build, format!("{name} of {}", self.parameters))
    }
}

/// The points of a stream, in the order of the grid's settings.
pub(super) fn points(stream: &Stream<'_>, work: &mut TuneContext<'_>) -> Result<SweepResult, TuneError> {
    let how = SweepMode::for_stream(stream, work.options);
    let keys = CacheKeys::new(stream, how, work.options);
    let settings = work.options.grid.settings();
    let kept = work.kept.find::<StoredPoints>(&keys.sweep_key());
    if let Some(kept) = kept.filter(|kept| kept.points.len() == settings.len()) {
        return Ok(kept.swept(settings));
    }
    let swept = sweep(stream, how, &keys, work)?;
    work.kept.store(&keys.sweep_key(), &StoredPoints::from_swept(&swept))?;
    Ok(swept)
}

/// Sweeps on other threads, so that this thread can report progress.
fn sweep(
    stream: &Stream<'_>,
    how: SweepMode,
    keys: &CacheKeys,
    work: &mut TuneContext<'_>,
) -> Result<SweepResult, TuneError> {
    let connections = Connection::from_messages(stream.messages);
    let (grid, threads, interrupt) = (&work.options.grid, work.workers.threads, work.workers.interrupt);
    let (sender, receiver) = mpsc::channel();
    let observer = SweepObserver {
        sender,
        interrupt,
        keys,
        journal: Mutex::new(Journal {
            kept: &mut *work.kept,
            failed: None,
        }),
    };
    let progress = &mut *work.progress;
    std::thread::scope(|scope| {
        let sweep = scope.spawn(|| {
            // The sender of progress is dropped when the sweep is done.
            let observer = observer;
            let swept = match how {
                SweepMode::Exact => exact(&connections, grid, threads, &observer),
                SweepMode::Sampled(sampling) => sampled(&connections, grid, sampling, threads, &observer),
            };
            let failed = observer.journal().failed.take();
            (swept, failed)
        });
        for done in receiver {
            progress(Progress {
                phase: Phase::Sweeping,
                done,
            });
        }
        let (swept, failed) = sweep.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        if let Some(failed) = failed {
            return Err(failed.into());
        }
        // The sample of an interrupted sweep is too small.
        if interrupt.load(Ordering::Relaxed) {
            return Err(TuneError::Interrupted);
        }
        swept.map_err(|Interrupted| TuneError::Interrupted)
    })
}

/// Reports the progress of the sweep, stores its parts, and stops it on an interrupt.
struct SweepObserver<'a> {
    sender: mpsc::Sender<f64>,
    interrupt: &'a AtomicBool,
    keys: &'a CacheKeys,
    journal: Mutex<Journal<'a>>,
}

struct Journal<'a> {
    kept: &'a mut ResultCache,
    /// Why a part could not be stored.
    failed: Option<JournalError>,
}

impl<'a> SweepObserver<'a> {
    fn journal(&self) -> MutexGuard<'_, Journal<'a>> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for SweepObserver<'_> {
    fn progress(&self, done: f64) -> ControlFlow<()> {
        // Fails only if the receiver is gone, that is, if reporting progress has panicked.
        let gone = self.sender.send(done).is_err();
        if gone || self.interrupt.load(Ordering::Relaxed) || self.journal().failed.is_some() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn cached(&self, part: &str) -> Option<Vec<u64>> {
        self.journal().kept.find(&self.keys.part_key(part))
    }

    fn store(&self, part: &str, figures: &[u64]) {
        let mut journal = self.journal();
        if let Err(failed) = journal.kept.store(&self.keys.part_key(part), &figures) {
            journal.failed = Some(failed);
        }
    }
}

/// The results of a sweep as stored; the settings are in the key.
#[derive(Serialize, Deserialize)]
struct StoredPoints {
    points: Vec<StoredPoint>,
    sampled: Option<ByteCount>,
    distinct_streams: usize,
}

#[derive(Serialize, Deserialize)]
struct StoredPoint {
    compressed: ByteCount,
    ratio: f64,
    ratio_ci95: Option<[f64; 2]>,
    memory: ByteCount,
}

impl StoredPoints {
    fn from_swept(swept: &SweepResult) -> Self {
        let point = |point: &Point| StoredPoint {
            compressed: point.compressed,
            ratio: point.ratio,
            ratio_ci95: point.ratio_ci95.map(|interval| [interval.low, interval.high]),
            memory: point.memory,
        };
        Self {
            points: swept.points.iter().map(point).collect(),
            sampled: swept.sampled,
            distinct_streams: swept.distinct_streams,
        }
    }

    fn swept(self, settings: Vec<Deflate>) -> SweepResult {
        let point = |(setting, written): (Deflate, StoredPoint)| Point {
            setting,
            compressed: written.compressed,
            ratio: written.ratio,
            ratio_ci95: written.ratio_ci95.map(|[low, high]| Interval { low, high }),
            memory: written.memory,
        };
        SweepResult {
            points: settings.into_iter().zip(self.points).map(point).collect(),
            sampled: self.sampled,
            distinct_streams: self.distinct_streams,
        }
    }
}
