//! A run from its study file to its record: interrupting and resuming it does not change the record.

use lastmile_study::cell::{Cell, expand};
use lastmile_study::figure;
use lastmile_study::file::Study;
use lastmile_study::journal::Journal;
use lastmile_study::observation::{Observation, Outcome};
use lastmile_study::run_folder::{Meta, RunFolder, StoredRun};
use lastmile_study::runner::{RunContext, RunEnd, StudyRunner};
use lastmile_study::summary::summarise;
use lastmile_testbed::cpu_cost_model::CostTable;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const VERSION: &str = "0.1.0";

const STUDY: &str = r#"
name = "whole"
question = "Does it matter that a run was interrupted?"
repeats = 4
[factors]
codec = ["identity", "gzip:6"]
link = ["wpt/3g", "wpt/cable", "wpt/dsl"]
[[ratio]]
name = "etdr"
title = "Decrease of the time"
figure = "transfer_time"
form = "decrease"
factor = "codec"
base = "identity"
treated = "gzip:6"
"#;

/// A transfer whose time depends on its link's seed, and is halved by compression.
fn transfer(cell: &Cell, context: &RunContext<'_>) -> Vec<Outcome> {
    let one = |repeat| {
        let plain = (context.seeds(cell, repeat).link.get() % 1000 + 1) as f64 / 100.0;
        let mut observation = Observation::default();
        let half = if cell.levels["codec"] == "identity" { 1.0 } else { 0.5 };
        observation.sample(figure::TRANSFER_TIME, plain * half);
        observation.vary("loss");
        Ok(observation)
    };
    context.repeats.clone().map(one).collect()
}

/// Runs what the folder lacks, until `worlds` worlds are done.
fn go_on(kept: &mut StoredRun, journal: &mut Journal, worlds: usize) -> RunEnd {
    let interrupt = AtomicBool::new(false);
    let done = AtomicUsize::new(0);
    let counted = |cell: &Cell, context: &RunContext<'_>| {
        if done.fetch_add(1, Ordering::Relaxed) + 1 >= worlds {
            interrupt.store(true, Ordering::Relaxed);
        }
        transfer(cell, context)
    };
    let run = StudyRunner {
        expanded: &expand(&kept.study).unwrap(),
        experiment: &counted,
        costs: &kept.costs,
        captures: None,
        observer: None,
        threads: NonZeroUsize::MIN,
        interrupt: &interrupt,
    };
    run.execute(journal, &mut kept.outcomes, &mut |_| ()).unwrap()
}

/// The record of a run in the folder at `path`, in pieces of `worlds_a_piece` worlds.
fn record(path: &Path, worlds_a_piece: usize) -> lastmile_report::record::Run {
    let study = Study::parse("whole.toml", STUDY).unwrap();
    let folder = RunFolder::at(path).unwrap();
    let costs = CostTable::free();
    folder
        .begin(&study, &costs, &Meta::new(&study, &costs, VERSION))
        .unwrap();
    loop {
        let (mut kept, mut journal) = folder.resume(&study, "free", VERSION).unwrap();
        if go_on(&mut kept, &mut journal, worlds_a_piece) == RunEnd::Complete {
            let expanded = expand(&kept.study).unwrap();
            return summarise(&expanded, &kept.outcomes, &kept.meta, "runs/whole");
        }
    }
}

#[test]
fn a_run_in_pieces_comes_to_the_record_of_a_run_in_one_go() {
    let parent = tempfile::tempdir().unwrap();
    let whole = record(&parent.path().join("whole"), usize::MAX);
    assert_eq!(record(&parent.path().join("one"), 1), whole);
    assert_eq!(record(&parent.path().join("four"), 4), whole);
    assert_eq!((whole.cells.len(), whole.ratios.len()), (6, 3));
    // Both cells of a pair have the same link, so that only the treatment differs: exactly half, in every repeat.
    assert!(
        whole
            .ratios
            .iter()
            .all(|ratio| ratio.mean == 0.5 && ratio.population_sd == 0.0 && ratio.ci95.is_none())
    );
    assert!(
        whole
            .cells
            .iter()
            .all(|cell| cell.figures["transfer_time"].ci95.is_some())
    );
}
