//! How small, and in how much memory, at every setting of the grid? Asks the sweep, unless its points are kept, and keeps what it finds
//! part by part, so that a sweep that was interrupted goes on with the parts that are left.

use super::candidate::USUAL;
use super::direction::build;
use super::kept::{Kept, Key};
use super::recording::Stream;
use super::{Options, Phase, Progress, TuneError, Work};
use crate::journal::JournalError;
use lastmile_payload::message_codec::{Deflate, MessageCodec};
use lastmile_payload::sweep::{self, Connection, Interrupted, Interval, Observer, Point, Swept, exact, sampled};
use lastmile_payload::transcript::ContentHash;
use lastmile_report::tune::Sampling;
use lastmile_units::Bytes;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

/// Where nobody asks for all to be counted, longer streams are sampled: our own choice, some ten seconds on two cores.
const COUNTED_MOST: u64 = 1_000_000;

/// How points are come by.
#[derive(Clone, Copy)]
enum How {
    /// Every octet is compressed, or proven to give the same.
    Counted,
    /// A sample of them is.
    Sampled(sweep::Sampling),
}

impl How {
    fn of(stream: &Stream<'_>, options: &Options) -> Self {
        let short = stream.messages.total().get() <= COUNTED_MOST;
        if options.sampling == Sampling::Exact || short {
            Self::Counted
        } else {
            Self::Sampled(sweep::Sampling {
                seed: options.root().derive("sample"),
                ..sweep::Sampling::default()
            })
        }
    }

    fn parameters(self) -> String {
        match self {
            Self::Counted => "counted".to_owned(),
            Self::Sampled(sampling) => format!("{sampling:?}"),
        }
    }
}

/// What a sweep is found again by.
struct Keys {
    content: ContentHash,
    build: String,
    /// The grid, and how its points are come by.
    parameters: String,
}

impl Keys {
    fn of(stream: &Stream<'_>, how: How, options: &Options) -> Self {
        Self {
            content: stream.content,
            build: build(&MessageCodec::Deflate(USUAL)),
            parameters: format!("{:?} {}", options.grid, how.parameters()),
        }
    }

    fn whole(&self) -> Key {
        Key::new(self.content, &self.build, self.parameters.clone())
    }

    fn part(&self, name: &str) -> Key {
        Key::new(self.content, &self.build, format!("{name} of {}", self.parameters))
    }
}

/// The points of a stream, in the order of the grid's settings.
pub(super) fn points(stream: &Stream<'_>, work: &mut Work<'_>) -> Result<Swept, TuneError> {
    let how = How::of(stream, work.options);
    let keys = Keys::of(stream, how, work.options);
    let settings = work.options.grid.settings();
    let kept = work.kept.find::<Written>(&keys.whole());
    if let Some(kept) = kept.filter(|kept| kept.points.len() == settings.len()) {
        return Ok(kept.swept(settings));
    }
    let swept = sweep(stream, how, &keys, work)?;
    work.kept.keep(&keys.whole(), &Written::of(&swept))?;
    Ok(swept)
}

/// Sweeps on threads of its own, so that this one can tell how far it is.
fn sweep(stream: &Stream<'_>, how: How, keys: &Keys, work: &mut Work<'_>) -> Result<Swept, TuneError> {
    let connections = Connection::of(stream.messages);
    let (grid, threads, interrupt) = (&work.options.grid, work.workers.threads, work.workers.interrupt);
    let (tell, told) = mpsc::channel();
    let observer = Watch {
        tell,
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
            // Whoever tells is gone when the sweep is done.
            let observer = observer;
            let swept = match how {
                How::Counted => exact(&connections, grid, threads, &observer),
                How::Sampled(sampling) => sampled(&connections, grid, sampling, threads, &observer),
            };
            let failed = observer.journal().failed.take();
            (swept, failed)
        });
        for done in told {
            progress(Progress {
                phase: Phase::Sweeping,
                done,
            });
        }
        let (swept, failed) = sweep.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        if let Some(failed) = failed {
            return Err(failed.into());
        }
        // A sample that was broken off is smaller than it should be.
        if interrupt.load(Ordering::Relaxed) {
            return Err(TuneError::Interrupted);
        }
        swept.map_err(|Interrupted| TuneError::Interrupted)
    })
}

/// Tells how far the sweep is, keeps its parts, and stops it where someone asks to.
struct Watch<'a> {
    tell: mpsc::Sender<f64>,
    interrupt: &'a AtomicBool,
    keys: &'a Keys,
    journal: Mutex<Journal<'a>>,
}

struct Journal<'a> {
    kept: &'a mut Kept,
    /// Why a part could not be kept.
    failed: Option<JournalError>,
}

impl<'a> Watch<'a> {
    fn journal(&self) -> MutexGuard<'_, Journal<'a>> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Watch<'_> {
    fn progress(&self, done: f64) -> ControlFlow<()> {
        // Fails only where the receiver is gone, that is, where telling has panicked.
        let gone = self.tell.send(done).is_err();
        if gone || self.interrupt.load(Ordering::Relaxed) || self.journal().failed.is_some() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn kept(&self, part: &str) -> Option<Vec<u64>> {
        self.journal().kept.find(&self.keys.part(part))
    }

    fn found(&self, part: &str, figures: &[u64]) {
        let mut journal = self.journal();
        if let Err(failed) = journal.kept.keep(&self.keys.part(part), &figures) {
            journal.failed = Some(failed);
        }
    }
}

/// What a sweep has found, as it is written down: the settings are in the key.
#[derive(Serialize, Deserialize)]
struct Written {
    points: Vec<WrittenPoint>,
    sampled: Option<Bytes>,
    distinct_streams: usize,
}

#[derive(Serialize, Deserialize)]
struct WrittenPoint {
    compressed: Bytes,
    ratio: f64,
    ratio_ci95: Option<[f64; 2]>,
    memory: Bytes,
}

impl Written {
    fn of(swept: &Swept) -> Self {
        let point = |point: &Point| WrittenPoint {
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

    fn swept(self, settings: Vec<Deflate>) -> Swept {
        let point = |(setting, written): (Deflate, WrittenPoint)| Point {
            setting,
            compressed: written.compressed,
            ratio: written.ratio,
            ratio_ci95: written.ratio_ci95.map(|[low, high]| Interval { low, high }),
            memory: written.memory,
        };
        Swept {
            points: settings.into_iter().zip(self.points).map(point).collect(),
            sampled: self.sampled,
            distinct_streams: self.distinct_streams,
        }
    }
}
