//! Claims about resuming an interrupted tuning.

use super::*;
use std::path::Path;
use std::sync::atomic::Ordering;

#[test]
fn a_tune_that_is_interrupted_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(JOURNAL);
    let (recording, options) = (chat(), options());
    let stop = Arc::clone(&options.interrupt);
    let mut phases = Vec::new();
    let interrupted = tune(
        &recording,
        &options,
        &mut ResultCache::open(&path).unwrap(),
        &mut |progress| {
            phases.push(progress.phase);
            stop.store(progress.phase == TIMING, Ordering::Relaxed);
        },
    );
    assert!(matches!(interrupted, Err(TuneError::Interrupted)), "{interrupted:?}");
    assert!(phases.contains(&SWEEPING) && phases.contains(&TRYING_CODECS));
    options.interrupt.store(false, Ordering::Relaxed);
    let again = |phases: &mut Vec<&str>| {
        let mut kept = ResultCache::open(&path).unwrap();
        tune(&recording, &options, &mut kept, &mut |progress| {
            phases.push(progress.phase);
        })
        .unwrap()
    };
    let mut phases = Vec::new();
    let resumed = again(&mut phases);
    let is_left = |phase: &&str| matches!(*phase, TIMING | TRYING_POLICIES);
    assert!(phases.iter().all(is_left), "{phases:?}");
    let mut phases = Vec::new();
    assert_eq!(again(&mut phases), resumed, "timings are kept too");
    assert!(phases.is_empty(), "{phases:?}");
}

#[test]
fn a_sweep_that_is_interrupted_again_and_again_loses_one_part_at_most_and_finds_the_same() {
    let recording = made("{ kind = \"chat\", messages = 4000 }");
    let options = Options {
        grid: Grid {
            window_bits: vec![WindowBits::MAX],
            levels: vec![1, 6],
            mem_levels: vec![4, 8],
            ..Grid::default()
        },
        sampling: Sampling::Exact,
        beyond: false,
        ..options()
    };
    let streams = recording.streams();
    let stream = &streams[0];
    let sweep = |kept: &mut ResultCache, until: Option<&Path>| {
        options.interrupt.store(false, Ordering::Relaxed);
        let held = kept.len();
        let mut calls = 0;
        let mut on_progress = |_: Progress| {
            calls += 1;
            let lines = until.map(|path| std::fs::read_to_string(path).unwrap().lines().count());
            if lines.is_some_and(|lines| lines > held) {
                options.interrupt.store(true, Ordering::Relaxed);
            }
        };
        let mut work = TuneContext {
            options: &options,
            kept,
            progress: &mut on_progress,
            workers: Workers {
                threads: NonZeroUsize::MIN,
                interrupt: &options.interrupt,
            },
        };
        let swept = grid_results::points(stream, &mut work);
        (swept, calls)
    };
    let mut whole = ResultCache::in_memory();
    let (expected, calls) = sweep(&mut whole, None);
    let expected = expected.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(JOURNAL);
    let mut interrupts = 0;
    let (found, last) = loop {
        let mut kept = ResultCache::open(&path).unwrap();
        let before = kept.len();
        match sweep(&mut kept, Some(&path)) {
            (Err(TuneError::Interrupted), _) => assert!(kept.len() > before, "what was done is kept"),
            (found, calls) => break (found.unwrap(), calls),
        }
        interrupts += 1;
    };
    assert!(interrupts > 0);
    assert!(last < calls, "the last one had {last} of {calls} steps to do");
    assert_eq!(found, expected);
    assert_eq!(
        ResultCache::open(&path).unwrap().len(),
        whole.len(),
        "no part was found twice"
    );
}
