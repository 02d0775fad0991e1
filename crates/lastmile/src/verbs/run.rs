//! `lastmile run`: reads, runs, stores, summarises and shows a study.

use crate::cli::run::RunArgs;
use crate::exit::Exit;
use crate::live::{self, Live};
use crate::registry::{CATALOGUE, DELIVERIES, did_you_mean};
use crate::{cost_table, fail_on, interrupt, output, privileges, progress, run_store};
use anyhow::{Context as _, anyhow, bail};
use lastmile_deliveries::missing_servers;
use lastmile_study::cell::{Expanded, expand};
use lastmile_study::file::{self, Rule, Study, StudyError};
use lastmile_study::journal::{Journal, Outcomes};
use lastmile_study::observer::Observer;
use lastmile_study::run_folder::{Meta, RunFolder, StoredRun};
use lastmile_study::runner::{self, Progress, RunEnd};
use lastmile_units::duration;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::Path;

/// Runs a study.
///
/// # Errors
/// When the study, a rule or the cost table is not understood, the folder cannot be used, or the world is not available here.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    if let Some(address) = &args.live {
        // Before anything is made: the run would be refused only after it.
        live::check_address(address, &args.token)?;
    }
    let rules: Vec<Rule> = args
        .fail_on
        .iter()
        .map(|text| fail_on::parse_rule(text))
        .collect::<Result<_, _>>()?;
    let (folder, mut kept, mut journal) = match &args.resume {
        Some(run) => resume_run(args, run.as_deref())?,
        None => {
            let study = requested_study(args)?;
            if args.dry_run {
                let expanded = expand(&study)?;
                let all = args.format.details;
                output::print_data(&runner::dry_run(&expanded, &DELIVERIES, threads(args, &expanded), all))?;
                return Ok(Exit::Done);
            }
            start_run(args, study)?
        }
    };

    if execute(args, &folder, &mut kept, &mut journal)? == RunEnd::Interrupted {
        output::note(&format!("stopped; {}", run_store::how_to_resume(folder.path())));
        return Ok(Exit::Interrupted);
    }

    // The rules of the command line are the caller's, and not part of the stored study.
    let mut gated = kept.study.clone();
    gated.thresholds.0.extend(rules);
    let run = run_store::record(&folder, &kept, &gated)?;
    // The page first, so that it exists even where stdout fails, by a full disk or a closed pipe.
    let written = if args.no_report {
        format!("run: {}", folder.path().display())
    } else {
        format!("report: {}", run_store::write_page(&folder, &kept, &run)?.display())
    };
    let printed = output::print_record(&run, args.format.format());
    output::note(&written);
    printed?;
    Ok(fail_on::run_exit(&gated, &run))
}

/// How many cells run at once. Emulated cells wait for packets most of the time, so a core runs several; whether it
/// ran them without delay is measured, and reported with their figures. Four is our own choice. A real browser needs the machine alone.
fn threads(args: &RunArgs, expanded: &Expanded<'_>) -> NonZeroUsize {
    const EMULATED_ON_A_CORE: usize = 4;
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let usual = if DELIVERIES.run_alone(expanded) {
        NonZeroUsize::MIN
    } else if expanded.emulates() {
        cores.saturating_mul(NonZeroUsize::new(EMULATED_ON_A_CORE).expect("four is not zero"))
    } else {
        cores
    };
    args.threads.unwrap_or(usual)
}

/// The requested study, with the command line's settings, after checking that it can run.
fn requested_study(args: &RunArgs) -> anyhow::Result<Study> {
    let name = args
        .study
        .as_deref()
        .expect("clap asks for a study wherever --resume is not given");
    let mut study = read(name)?;
    apply_overrides(args, &mut study)?;
    skip_missing_servers(&mut study)?;
    check_requirements(&study)?;
    Ok(study)
}

fn apply_overrides(args: &RunArgs, study: &mut Study) -> anyhow::Result<()> {
    for overriding in &args.set {
        let own = study.set(overriding).map_err(|error| with_copy(args, &error))?;
        if !own.is_empty() {
            output::note(&format!(
                "--set {overriding}: these parts keep their own: {}",
                own.join(", ")
            ));
        }
    }
    study.seed = args.seed.unwrap_or(study.seed);
    let world = args.world.unwrap_or(study.world);
    *study = study.clone().in_world(world, args.full);
    study.repeats = args.repeats.unwrap_or(study.repeats);
    Ok(())
}

/// The error of a setting; of a built-in study, which has no file to change, with how to get one.
fn with_copy(args: &RunArgs, error: &StudyError) -> anyhow::Error {
    let builtin = args.study.as_deref().and_then(|name| CATALOGUE.find(name));
    let copy = builtin.map_or_else(String::new, |builtin| {
        format!(
            "; begin with a copy: `lastmile studies show {} > mine.toml`",
            builtin.name
        )
    });
    anyhow!("{error}{copy}")
}

/// Names the real servers that this machine lacks, and leaves out their cells.
fn skip_missing_servers(study: &mut Study) -> anyhow::Result<()> {
    for missing in missing_servers(&expand(study)?) {
        output::note(&format!("left out: {}", missing.why));
        study.exclude_server(missing.server);
    }
    Ok(())
}

/// Checks, before any time is spent, that this machine can run every cell of a study. Acquires the right to make network
/// namespaces where cells are emulated, which has to be done before any thread is started.
fn check_requirements(study: &Study) -> anyhow::Result<()> {
    let expanded = expand(study)?;
    DELIVERIES.check(&expanded)?;
    if expanded.emulates() {
        // Cells that name their world stay in it, whatever --world says.
        let needs_none = !expand(&study.clone().in_world(file::World::Simulated, false))?.emulates();
        let remedy = if needs_none {
            "use --world sim"
        } else {
            "remove `world = \"emu\"` from the study's cells"
        };
        privileges::acquire(&study.name, remedy)?;
    }
    Ok(())
}

/// Reads a study: a built-in one by its name, or else a file.
fn read(name: &str) -> anyhow::Result<Study> {
    if let Some(builtin) = CATALOGUE.find(name) {
        return Ok(builtin.study());
    }
    let path = Path::new(name);
    let is_path = path.extension().is_some() || path.components().count() > 1 || path.exists();
    if !is_path {
        let meant = did_you_mean(name);
        bail!("{name:?} is neither a built-in study nor a file{meant} (`lastmile studies` lists them)");
    }
    let text = match std::fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes)
            .ok()
            .with_context(|| format!("{name}: it is not text (UTF-8); a study is a TOML file"))?,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("{name}: there is no such file; give a study's TOML file, or a name that `lastmile studies` lists")
        }
        Err(error) => return Err(error).with_context(|| format!("{name} cannot be read")),
    };
    if text.trim().is_empty() {
        bail!("{name}: it is empty; begin with a copy: `lastmile studies show bulk > {name}`");
    }
    Ok(Study::parse(name, &text)?)
}

/// A new run in a folder of its own.
fn start_run(args: &RunArgs, study: Study) -> anyhow::Result<(RunFolder, StoredRun, Journal)> {
    let costs = cost_table::load(&args.cpu)?;
    let folder = run_store::create(args.out.as_deref(), &study.name)?;
    let meta = Meta::new(&study, &costs, run_store::VERSION);
    let journal = folder.begin(&study, &costs, &meta)?;
    let kept = StoredRun {
        study,
        costs,
        meta,
        outcomes: Outcomes::new(),
    };
    Ok((folder, kept, journal))
}

/// A run that continues in its folder: the one named, or the latest of the study. Options that the command line does not give are
/// unchanged.
fn resume_run(args: &RunArgs, run: Option<&Path>) -> anyhow::Result<(RunFolder, StoredRun, Journal)> {
    let named = args.study.as_deref().map(read).transpose()?;
    let folder = match (run, &named) {
        (Some(run), _) => run_store::open_run(run)?,
        (None, Some(study)) => run_store::latest(&study.name)?,
        (None, None) => bail!("name the run to resume: lastmile run --resume RUN, or lastmile run STUDY --resume"),
    };
    let begun = folder.read()?;
    let mut study = named.unwrap_or(begun.study);
    apply_overrides(args, &mut study)?;
    skip_missing_servers(&mut study)?;
    check_requirements(&study)?;
    let cpu = args.cpu.cpu.as_ref().map_or(begun.meta.cpu, cost_table::table_name);
    let (kept, journal) = folder.resume(&study, &cpu, run_store::VERSION)?;
    Ok((folder, kept, journal))
}

/// Runs the missing repeats, with a progress bar, until Ctrl-C.
fn execute(args: &RunArgs, folder: &RunFolder, kept: &mut StoredRun, journal: &mut Journal) -> anyhow::Result<RunEnd> {
    let captures = args.capture.then(|| folder.captures()).transpose()?;
    let interrupt = interrupt::install_handler(
        "stopping after the cells in progress; press Ctrl-C again to stop at once, without them",
        format!("stopped at once; {}", run_store::how_to_resume(folder.path())),
    )?;
    let bar = progress::bar("repeats");
    let StoredRun {
        study, costs, outcomes, ..
    } = kept;
    let expanded = expand(study)?;
    let threads = threads(args, &expanded);
    if expanded.emulates() {
        let expected = runner::expected_time(&expanded, &DELIVERIES, threads);
        output::note(&format!("cells run in real time: about {}", duration::print(expected)));
    }
    let live = args
        .live
        .map(|address| Live::start(address, &args.token, folder, study))
        .transpose()?;
    let run = runner::StudyRunner {
        expanded: &expanded,
        experiment: &DELIVERIES,
        costs,
        captures: captures.as_deref(),
        threads,
        interrupt: &interrupt,
        observer: live.as_ref().map(|live| live as &dyn Observer),
    };
    let mut on_progress = |progress: Progress<'_>| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        bar.set_message(progress.finished.describe());
        if let Some(live) = &live {
            live.show_progress(progress);
        }
    };
    let ended = run.execute(journal, outcomes, &mut on_progress);
    bar.finish_and_clear();
    if let Some(live) = live {
        live.end();
    }
    Ok(ended?)
}
