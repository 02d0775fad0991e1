//! The size and memory at every setting of the grid, from the journal or from a sweep. A sweep is stored part by part, so that an interrupted
//! one resumes with the remaining parts.

use super::candidate::ZLIB_DEFAULT;
use super::recording::Stream;
use super::result_cache::{Key, ResultCache, build};
use super::{Progress, SWEEPING, TuneContext, TuneError};
use crate::record::Sampling;
use lastmile_codec::message::MessageCodec;
use lastmile_sweep::{self as sweep, Connection, Interrupted, Observer, SweepResult, exact, sampled};
use lastmile_testbed::journal::JournalError;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Longer streams are sampled unless all points are to be exact: our own choice, about ten seconds on two cores.
const EXACT_BYTES_MAX: u64 = 1_000_000;

/// The points of a stream, in the order of the grid's settings.
pub(super) fn points(stream: &Stream<'_>, work: &mut TuneContext<'_>) -> Result<SweepResult, TuneError> {
    let options = work.options;
    let is_exact = options.sampling == Sampling::Exact || stream.messages.total().get() <= EXACT_BYTES_MAX;
    let sampling = (!is_exact).then(|| sweep::Sampling {
        seed: options.root().derive("sample"),
        ..sweep::Sampling::default()
    });
    let how = sampling.map_or_else(|| "counted".to_owned(), |sampling| format!("{sampling:?}"));
    let parameters = format!("{:?} {how}", options.grid);
    let build = build(&MessageCodec::Deflate(ZLIB_DEFAULT));
    let settings = options.grid.settings();
    let key = Key::new(stream.content, &build, parameters.clone());
    let kept = work.kept.find::<SweepResult>(&key);
    if let Some(mut kept) = kept.filter(|kept| kept.points.len() == settings.len()) {
        for (point, setting) in kept.points.iter_mut().zip(settings) {
            point.setting = setting;
        }
        return Ok(kept);
    }
    let part_key = |part: &str| Key::new(stream.content, &build, format!("{part} of {parameters}"));
    let swept = sweep(stream, sampling, &part_key, work)?;
    work.kept.store(&key, &swept)?;
    Ok(swept)
}

/// Sweeps with a sample of the messages, or every byte of them. `part_key` is the key of a part of the sweep.
fn sweep(
    stream: &Stream<'_>,
    sampling: Option<sweep::Sampling>,
    part_key: &(dyn Fn(&str) -> Key + Sync),
    work: &mut TuneContext<'_>,
) -> Result<SweepResult, TuneError> {
    let connections = Connection::from_messages(stream.messages);
    let (grid, threads, interrupt) = (&work.options.grid, work.workers.threads, work.workers.interrupt);
    let observer = SweepObserver {
        interrupt,
        part_key,
        state: Mutex::new(SweepState {
            kept: &mut *work.kept,
            progress: &mut *work.progress,
            failed: None,
        }),
    };
    let swept = match sampling {
        None => exact(&connections, grid, threads, &observer),
        Some(sampling) => sampled(&connections, grid, sampling, threads, &observer),
    };
    if let Some(failed) = observer.state().failed.take() {
        return Err(failed.into());
    }
    // The sample of an interrupted sweep is too small.
    if interrupt.load(Ordering::Relaxed) {
        return Err(TuneError::Interrupted);
    }
    swept.map_err(|Interrupted| TuneError::Interrupted)
}

/// Reports the progress of the sweep, stores its parts, and stops it on an interrupt.
struct SweepObserver<'a> {
    interrupt: &'a AtomicBool,
    part_key: &'a (dyn Fn(&str) -> Key + Sync),
    state: Mutex<SweepState<'a>>,
}

struct SweepState<'a> {
    kept: &'a mut ResultCache,
    progress: &'a mut (dyn FnMut(Progress) + Send),
    /// Why a part could not be stored.
    failed: Option<JournalError>,
}

impl<'a> SweepObserver<'a> {
    fn state(&self) -> MutexGuard<'_, SweepState<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for SweepObserver<'_> {
    fn progress(&self, done: f64) -> ControlFlow<()> {
        let mut state = self.state();
        let phase = SWEEPING;
        (state.progress)(Progress { phase, done });
        if self.interrupt.load(Ordering::Relaxed) || state.failed.is_some() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn cached(&self, part: &str) -> Option<Vec<u64>> {
        self.state().kept.find(&(self.part_key)(part))
    }

    fn store(&self, part: &str, figures: &[u64]) {
        let mut state = self.state();
        if let Err(failed) = state.kept.store(&(self.part_key)(part), &figures) {
            state.failed = Some(failed);
        }
    }
}
