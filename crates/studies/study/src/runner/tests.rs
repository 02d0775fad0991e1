use super::*;
use crate::cell::expand;
use crate::figure;
use crate::file::Study;
use crate::observation::Observation;
use lastmile_testbed::testbed::TestbedObserver;
use rand_core::Rng as _;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

const STUDY: &str = "name = 'test'\nquestion = ''\nrepeats = 3\ninterval = '2 min'\n\
                     [factors]\ncodec = ['identity', 'gzip:1', 'gzip:6', 'gzip:9']\nlink = ['wpt/3g', 'wpt/cable']";

fn study(more: &str) -> Study {
    Study::parse("test.toml", &format!("{more}\n{STUDY}")).unwrap()
}

/// One sample per repeat, drawn from its seeds, so that any other influence on a result shows.
fn draw(cell: &Cell, context: &RunContext<'_>) -> Vec<Outcome> {
    let one = |repeat| {
        let mut observation = Observation::default();
        let drawn = context.seeds(cell, repeat).link.rng().next_u32();
        observation.sample(figure::TRANSFER_TIME, f64::from(drawn));
        Ok(observation)
    };
    context.repeats.clone().map(one).collect()
}

struct Ran {
    ending: RunEnd,
    outcomes: Outcomes,
    journal: String,
}

fn run(study: &Study, experiment: &dyn Experiment, threads: usize, held: &str, interrupt: &AtomicBool) -> Ran {
    observed_run(study, experiment, threads, held, interrupt, None)
}

fn observed_run(
    study: &Study,
    experiment: &dyn Experiment,
    threads: usize,
    held: &str,
    interrupt: &AtomicBool,
    observer: Option<&dyn Observer>,
) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    std::fs::write(&path, held).unwrap();
    let (mut journal, mut outcomes) = Journal::open(&path).unwrap();
    let costs = CostTable::free();
    let threads = NonZeroUsize::new(threads).unwrap();
    let run = StudyRunner {
        expanded: &expand(study).unwrap(),
        experiment,
        costs: &costs,
        captures: None,
        threads,
        interrupt,
        observer,
    };
    let ending = run.execute(&mut journal, &mut outcomes, &mut |_| ()).unwrap();
    Ran {
        ending,
        outcomes,
        journal: std::fs::read_to_string(&path).unwrap(),
    }
}

#[test]
fn results_do_not_depend_on_how_many_cells_run_at_once() {
    let go = AtomicBool::new(false);
    let alone = run(&study(""), &draw, 1, "", &go);
    let together = run(&study(""), &draw, 4, "", &go);
    assert_eq!(alone.ending, RunEnd::Complete);
    assert_eq!(alone.outcomes.len(), 8);
    assert_eq!(alone.outcomes, together.outcomes);
    let sorted = |journal: &str| {
        let mut lines: Vec<_> = journal.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&alone.journal), sorted(&together.journal));
}

/// Counts what it is told, and doubts every figure.
#[derive(Default)]
struct Counter {
    begun: Mutex<usize>,
    ended: Mutex<Vec<u64>>,
}

impl Observer for Counter {
    fn begin(&self, _: &Cell) {
        *self.begun.lock().unwrap() += 1;
    }

    fn observer_of_world(&self, _: &Cell) -> Option<Box<dyn TestbedObserver>> {
        None
    }

    fn end(&self, _: &Cell, first: u64, outcomes: &mut [Outcome]) {
        for (repeat, outcome) in (first..).zip(outcomes) {
            self.ended.lock().unwrap().push(repeat);
            outcome.as_mut().unwrap().doubts.extend(crate::doubt::observed(0.5));
        }
    }
}

#[test]
fn an_observer_sees_every_cell_and_its_doubts_are_kept_while_the_figures_stay_as_they_were() {
    let go = AtomicBool::new(false);
    let counter = Counter::default();
    let observed = observed_run(&study("fresh = 'repeat'"), &draw, 2, "", &go, Some(&counter));
    let alone = run(&study("fresh = 'repeat'"), &draw, 2, "", &go);
    assert_eq!(*counter.begun.lock().unwrap(), 24);
    let mut ended = std::mem::take(&mut *counter.ended.lock().unwrap());
    ended.sort_unstable();
    assert_eq!(ended, [[0; 8], [1; 8], [2; 8]].concat());
    for (key, repeats) in &observed.outcomes {
        for (repeat, outcome) in repeats {
            let (observed, alone) = (outcome.as_ref().unwrap(), alone.outcomes[key][repeat].as_ref().unwrap());
            assert_eq!(observed.figures, alone.figures);
            assert_eq!((observed.doubts.len(), alone.doubts.len()), (1, 0));
        }
    }
    assert_eq!(observed.journal.matches("\"observed\"").count(), 24);
}

#[test]
fn the_repeats_of_a_cell_share_a_world_unless_each_wants_a_fresh_one() {
    let worlds = Mutex::new(Vec::new());
    let note = |cell: &Cell, context: &RunContext<'_>| {
        worlds.lock().unwrap().push((context.repeats.clone(), context.interval));
        draw(cell, context)
    };
    let go = AtomicBool::new(false);
    run(&study(""), &note, 1, "", &go);
    assert_eq!(
        std::mem::take(&mut *worlds.lock().unwrap()),
        vec![(0..3, Duration::from_secs(120)); 8]
    );
    run(&study("fresh = 'repeat'"), &note, 1, "", &go);
    let worlds = worlds.lock().unwrap();
    assert_eq!(worlds.len(), 24);
    assert_eq!(
        worlds[..3]
            .iter()
            .map(|(repeats, _)| repeats.clone())
            .collect::<Vec<_>>(),
        [0..1, 1..2, 2..3]
    );
}

#[test]
fn resuming_runs_what_the_journal_lacks_and_comes_to_the_same_result() {
    let go = AtomicBool::new(false);
    let whole = run(&study(""), &draw, 2, "", &go);
    let lines: Vec<_> = whole.journal.lines().collect();
    // Five lines are one complete world and two repeats of another, which is run again from its start.
    let cut = lines[..5].join("\n") + "\n";
    let ran = Mutex::new(0);
    let count = |cell: &Cell, context: &RunContext<'_>| {
        *ran.lock().unwrap() += 1;
        draw(cell, context)
    };
    let resumed = run(&study(""), &count, 2, &cut, &go);
    assert_eq!(*ran.lock().unwrap(), 7);
    assert_eq!(resumed.outcomes, whole.outcomes);
}

#[test]
fn an_interrupt_ends_the_run_after_the_cells_that_are_running() {
    let stop = AtomicBool::new(false);
    let halfway = |cell: &Cell, context: &RunContext<'_>| {
        stop.store(true, Ordering::Relaxed);
        draw(cell, context)
    };
    let stopped = run(&study(""), &halfway, 1, "", &stop);
    assert_eq!(stopped.ending, RunEnd::Interrupted);
    assert_eq!(stopped.journal.lines().count(), 3, "the running cell was finished");
}

#[test]
fn a_failure_a_panic_a_missing_outcome_and_a_figure_that_is_no_number_are_recorded_with_their_reason() {
    let go = AtomicBool::new(false);
    let bad = |cell: &Cell, context: &RunContext<'_>| {
        let mut outcomes = draw(cell, context);
        match cell.levels["codec"].as_str() {
            "gzip:1" => outcomes[1] = Err(Failure::new("the server refused the connection")),
            "gzip:6" => outcomes.truncate(1),
            "gzip:9" => outcomes[0].as_mut().unwrap().sample(figure::GOODPUT, f64::NAN),
            _ if cell.levels["link"] == "wpt/cable" => panic!("a broken invariant"),
            _ => (),
        }
        outcomes
    };
    let outcomes = run(&study(""), &bad, 2, "", &go).outcomes;
    let reason = |codec: &str, link: &str, repeat: u64| {
        let key = CellKey::from([("codec".into(), codec.into()), ("link".into(), link.into())]);
        outcomes[&key][&repeat].clone().err().map(|failure| failure.reason)
    };
    assert_eq!(reason("gzip:1", "wpt/3g", 0), None);
    assert_eq!(
        reason("gzip:1", "wpt/3g", 1).as_deref(),
        Some("the server refused the connection")
    );
    assert_eq!(reason("gzip:6", "wpt/3g", 0), None);
    assert_eq!(
        reason("gzip:6", "wpt/3g", 2).as_deref(),
        Some("not run, since an earlier repeat in the same world failed")
    );
    assert_eq!(
        reason("gzip:9", "wpt/3g", 0).as_deref(),
        Some("the figure \"goodput\" is not a finite number")
    );
    assert_eq!(
        reason("identity", "wpt/cable", 0).as_deref(),
        Some("it panicked: a broken invariant")
    );
    assert_eq!(reason("identity", "wpt/3g", 0), None);
}

#[test]
fn work_that_two_parts_ask_for_is_done_once() {
    let study =
        study("").expanded() + "\n[[part]]\nname = 'all'\n[[part]]\nname = 'some'\n[part.fixed]\nlink = 'wpt/3g'\n";
    let study = Study::parse("test.toml", &study).unwrap();
    assert_eq!(expand(&study).unwrap().cells.len(), 12);
    assert_eq!(jobs(&expand(&study).unwrap()).len(), 8);
}

#[test]
fn the_repeats_of_a_study_are_those_that_a_run_of_it_makes() {
    // The part `some` asks for two repeats of each of two cells, and shares one of them with `more`, which asks for seven.
    let study = "name = 'test'\nquestion = ''\nrepeats = 3\n[[part]]\nname = 'all'\n[part.factors]\ncodec = ['gzip:1', 'gzip:6']\n\
                 [[part]]\nname = 'some'\nrepeats = 2\n[part.factors]\ncodec = ['gzip:8', 'gzip:9']\n\
                 [[part]]\nname = 'more'\nrepeats = 7\n[part.factors]\ncodec = ['gzip:9']";
    for fresh in ["cell", "repeat"] {
        let study = Study::parse(
            "test.toml",
            &study.replace("repeats = 3", &format!("repeats = 3\nfresh = '{fresh}'")),
        )
        .unwrap();
        let made = run(&study, &draw, 1, "", &AtomicBool::new(false))
            .journal
            .lines()
            .count();
        assert_eq!((planned_repeats(&expand(&study).unwrap()), made), (15, 15));
    }
}

#[test]
fn what_is_simulated_is_run_before_what_takes_real_time() {
    let study = Study::parse(
        "test.toml",
        "name = 'test'\nquestion = ''\n[factors]\nworld = ['emu', 'sim']\nlink = ['wpt/3g', 'wpt/cable']",
    )
    .unwrap();
    let worlds: Vec<_> = jobs(&expand(&study).unwrap())
        .iter()
        .map(|job| job.cell.world().to_string())
        .collect();
    assert_eq!(worlds, ["sim", "sim", "emu", "emu"]);
}

#[test]
fn a_dry_run_names_every_cell_and_the_expected_time() {
    let text = dry_run(&expand(&study("")).unwrap(), &draw, NonZeroUsize::new(2).unwrap(), true);
    assert_eq!(text.lines().count(), 9);
    assert!(text.starts_with("codec identity, link wpt/3g\n"), "{text}");
    // 8 cells x 3 repeats x 0.2 s on 2 threads.
    assert!(
        text.ends_with("8 cells, 24 repeats in all, 2 at once; about 2.40 s\n"),
        "{text}"
    );
}

#[test]
fn a_dry_run_of_many_cells_names_their_number_unless_all_are_wanted() {
    let text = STUDY.replace("'gzip:9'", "'gzip:9', 'br:1', 'br:5'");
    let many = Study::parse("test.toml", &text).unwrap();
    let shown = |all| dry_run(&expand(&many).unwrap(), &draw, NonZeroUsize::MIN, all);
    assert_eq!(shown(true).lines().count(), 13);
    assert!(
        shown(false).starts_with("in all: 12 cells\nEach cell: --details\n12 cells, "),
        "{}",
        shown(false)
    );
}
