//! How small, and in how much memory, at every setting of the grid? Asks the sweep for what is not kept yet, and keeps it point by point.

use super::kept::Key;
use super::recording::Stream;
use super::{Phase, Progress, TuneError, Work, build};
use lastmile_payload::message_codec::{Deflate, MessageCodec};
use lastmile_payload::sweep::{Connection, Grid, Interrupted, Interval, Observer, Point, exact};
use lastmile_units::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

/// The points of a stream, in the order of the grid's settings.
pub(super) fn points(stream: &Stream<'_>, work: &mut Work<'_>) -> Result<Vec<Point>, TuneError> {
    let options = work.options;
    let connections = connections(stream);
    let how = "counted";
    let kept = |work: &Work<'_>, setting: Deflate| -> Option<Point> {
        work.kept
            .find::<Written>(&key(stream, setting, how))
            .map(|written| written.point(setting))
    };
    for takeover in options.grid.takeover.iter().copied().collect::<BTreeSet<_>>() {
        let half = Grid {
            takeover: vec![takeover],
            ..options.grid.clone()
        };
        let missing = half
            .settings()
            .into_iter()
            .filter(|setting| kept(work, *setting).is_none());
        let levels: BTreeSet<u8> = missing.map(|setting| setting.level).collect();
        if levels.is_empty() {
            continue;
        }
        let missing = Grid {
            levels: levels.into_iter().collect(),
            ..half
        };
        for point in swept(&connections, &missing, work)? {
            work.kept.keep(&key(stream, point.setting, how), &Written::of(&point))?;
        }
    }
    let all = options.grid.settings().into_iter();
    Ok(all
        .map(|setting| kept(work, setting).expect("every point was just kept"))
        .collect())
}

fn connections<'a>(stream: &Stream<'a>) -> Vec<Connection<'a>> {
    let of_each = stream.messages.connections().iter();
    of_each
        .map(|connection| Connection {
            messages: connection
                .messages
                .clone()
                .map(|message| stream.messages.payload(message))
                .collect(),
        })
        .collect()
}

fn key(stream: &Stream<'_>, setting: Deflate, how: &str) -> Key {
    let codec = MessageCodec::Deflate(setting);
    Key::new(stream.content, &build(&codec), format!("{codec} {how}"))
}

/// Sweeps on threads of its own, so that this one can tell how far it is.
fn swept(connections: &[Connection<'_>], grid: &Grid, work: &mut Work<'_>) -> Result<Vec<Point>, TuneError> {
    let (tell, told) = mpsc::channel();
    let observer = Watch {
        tell,
        interrupt: work.workers.interrupt,
    };
    let threads = work.workers.threads;
    std::thread::scope(|scope| {
        let sweep = scope.spawn(move || exact(connections, grid, threads, &observer));
        for done in told {
            (work.progress)(Progress {
                phase: Phase::Sweeping,
                done,
            });
        }
        let swept = sweep.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
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
