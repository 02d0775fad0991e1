//! How small, and in how much memory, at every setting of the grid? Asks the sweep for what is not kept yet, and keeps it point by point.

use super::direction::build;
use super::kept::Key;
use super::recording::Stream;
use super::{Options, Phase, Progress, TuneError, Work};
use lastmile_payload::message_codec::{Deflate, MessageCodec};
use lastmile_payload::sweep::{self, Connection, Grid, Interrupted, Interval, Observer, Point, exact, sampled};
use lastmile_report::tune::Sampling;
use lastmile_units::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

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

    /// What of the grid is found together: what is counted can be parted, a sample is drawn for all of it.
    fn parts(self, grid: &Grid) -> Vec<Grid> {
        match self {
            Self::Sampled(_) => vec![grid.clone()],
            Self::Counted => {
                let each: BTreeSet<bool> = grid.takeover.iter().copied().collect();
                let half = |takeover| Grid {
                    takeover: vec![takeover],
                    ..grid.clone()
                };
                each.into_iter().map(half).collect()
            }
        }
    }

    fn parameters(self) -> String {
        match self {
            Self::Counted => "counted".to_owned(),
            Self::Sampled(sampling) => format!("{sampling:?}"),
        }
    }
}

/// The points of a stream, in the order of the grid's settings.
pub(super) fn points(stream: &Stream<'_>, work: &mut Work<'_>) -> Result<Vec<Point>, TuneError> {
    let options = work.options;
    let connections = Connection::of(stream.messages);
    let how = How::of(stream, options);
    let key = |setting: Deflate| key(stream, setting, &how.parameters());
    let kept = |work: &Work<'_>, setting: Deflate| -> Option<Point> {
        let written = work.kept.find::<Written>(&key(setting))?;
        Some(written.point(setting))
    };
    for part in how.parts(&options.grid) {
        if part.settings().into_iter().all(|setting| kept(work, setting).is_some()) {
            continue;
        }
        for point in swept(&connections, &part, how, work)? {
            work.kept.keep(&key(point.setting), &Written::of(&point))?;
        }
    }
    let all = options.grid.settings().into_iter();
    Ok(all
        .map(|setting| kept(work, setting).expect("every point was just kept"))
        .collect())
}

fn key(stream: &Stream<'_>, setting: Deflate, how: &str) -> Key {
    let codec = MessageCodec::Deflate(setting);
    Key::new(stream.content, &build(&codec), format!("{codec} {how}"))
}

/// Sweeps on threads of its own, so that this one can tell how far it is.
fn swept(connections: &[Connection<'_>], grid: &Grid, how: How, work: &mut Work<'_>) -> Result<Vec<Point>, TuneError> {
    let (tell, told) = mpsc::channel();
    let observer = Watch {
        tell,
        interrupt: work.workers.interrupt,
    };
    let (threads, interrupt) = (work.workers.threads, work.workers.interrupt);
    std::thread::scope(|scope| {
        let sweep = scope.spawn(move || match how {
            How::Counted => exact(connections, grid, threads, &observer),
            How::Sampled(sampling) => sampled(connections, grid, sampling, threads, &observer),
        });
        for done in told {
            (work.progress)(Progress {
                phase: Phase::Sweeping,
                done,
            });
        }
        let swept = sweep.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // A sample that was broken off is smaller than it should be.
        if interrupt.load(Ordering::Relaxed) {
            return Err(TuneError::Interrupted);
        }
        swept.map_err(|Interrupted| TuneError::Interrupted)
    })
}

/// Tells how far the sweep is, and stops it where someone asks to.
struct Watch<'a> {
    tell: mpsc::Sender<f64>,
    interrupt: &'a AtomicBool,
}

impl Observer for Watch<'_> {
    fn progress(&self, done: f64) -> ControlFlow<()> {
        // Fails only where the receiver is gone, that is, where telling has panicked.
        let gone = self.tell.send(done).is_err();
        if gone || self.interrupt.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// A point, as it is written down: its setting is in the key.
#[derive(Serialize, Deserialize)]
struct Written {
    compressed: Bytes,
    ratio: f64,
    ratio_ci95: Option<[f64; 2]>,
    memory: Bytes,
}

impl Written {
    fn of(point: &Point) -> Self {
        Self {
            compressed: point.compressed,
            ratio: point.ratio,
            ratio_ci95: point.ratio_ci95.map(|interval| [interval.low, interval.high]),
            memory: point.memory,
        }
    }

    fn point(self, setting: Deflate) -> Point {
        Point {
            setting,
            compressed: self.compressed,
            ratio: self.ratio,
            ratio_ci95: self.ratio_ci95.map(|[low, high]| Interval { low, high }),
            memory: self.memory,
        }
    }
}
