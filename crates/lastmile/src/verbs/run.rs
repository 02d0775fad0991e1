//! `lastmile run`: a study is read, run, kept, summed up and shown.

use crate::cli::run::{RunArgs, World};
use crate::exit::Exit;
use crate::{costs, emulation, fail_on, interrupt, output, progress, runs};
use anyhow::{Context as _, bail};
use lastmile_study::builtin;
use lastmile_study::experiment::Programs;
use lastmile_study::file::{self, Rule, Study};
use lastmile_study::journal::{Journal, Outcomes};
use lastmile_study::run_folder::{Kept, Meta, RunFolder};
use lastmile_study::runner::{self, Ending, Progress};
use lastmile_units::duration;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::Path;

/// Runs a study.
///
/// # Errors
/// When the study, a rule or the cost table is not understood, the folder cannot be used, or a world is asked for that is not there.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    let rules: Vec<Rule> = args
        .fail_on
        .iter()
        .map(|text| fail_on::rule(text))
        .collect::<Result<_, _>>()?;
    let (folder, mut kept, mut journal) = match &args.resume {
        Some(run) => resumed(args, run.as_deref())?,
        None => {
            let study = asked(args)?;
            if args.dry_run {
                output::data(&runner::dry_run(&study, &Programs, threads(args, &study)?)?)?;
                return Ok(Exit::Done);
            }
            begun(args, study)?
        }
    };

    if execute(args, &folder, &mut kept, &mut journal)? == Ending::Interrupted {
        output::remark(&format!("stopped; {}", runs::how_to_resume(folder.path())));
        return Ok(Exit::Interrupted);
    }

    // The rules of the command line are the caller's, and no part of the study that is kept.
    let mut gated = kept.study.clone();
    gated.thresholds.0.extend(rules);
    let run = runs::record(&folder, &kept, &gated)?;
    // The page first: what a full disk or a lost pipe does to stdout, the run is kept and can be read.
    if args.no_report {
        output::remark(&format!("run: {}", folder.path().display()));
    } else {
        let page = runs::write_page(&folder, &kept, &run)?;
        output::remark(&format!("report: {}", page.display()));
    }
    output::record(&run, args.format.format)?;
    Ok(fail_on::verdict(&gated, &run))
}

/// How many cells run at once. Those that are emulated wait for packets most of the time, so a core carries several; whether it
/// carried them without delay is measured, and told with their figures. Four is our own choice.
fn threads(args: &RunArgs, study: &Study) -> anyhow::Result<NonZeroUsize> {
    const EMULATED_ON_A_CORE: usize = 4;
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let emulates = study.emulates()?;
    let usual = if emulates {
        cores.saturating_mul(NonZeroUsize::new(EMULATED_ON_A_CORE).expect("four is not zero"))
    } else {
        cores
    };
    Ok(args.threads.unwrap_or(usual))
}

/// The study that was asked for, with what the command line sets over it, and able to run.
fn asked(args: &RunArgs) -> anyhow::Result<Study> {
    let name = args
        .study
        .as_deref()
        .expect("clap asks for a study wherever --resume is not given");
    let mut study = read(name)?;
    overlay(args, &mut study)?;
    leave_out_missing(&mut study)?;
    able(&study)?;
    Ok(study)
}

fn overlay(args: &RunArgs, study: &mut Study) -> anyhow::Result<()> {
    for overriding in &args.set {
        let own = study.set(overriding)?;
        if !own.is_empty() {
            output::remark(&format!(
                "--set {overriding}: these parts keep their own: {}",
                own.join(", ")
            ));
        }
    }
    study.seed = args.seed.unwrap_or(study.seed);
    let world = match args.world {
        Some(World::Sim) => file::World::Simulated,
        Some(World::Emu) => file::World::Emulated,
        None => study.world,
    };
    *study = study.clone().in_world(world, args.full);
    study.repeats = args.repeats.unwrap_or(study.repeats);
    Ok(())
}

/// Names the real servers that this machine has not, and leaves out their cells.
fn leave_out_missing(study: &mut Study) -> anyhow::Result<()> {
    for missing in Programs.missing_servers(study)? {
        output::remark(&format!("left out: {}", missing.why));
        study.leave_out(missing.server);
    }
    Ok(())
}

/// Whether a study can be run on this machine, every cell of it; said before any time is spent. Gets the right to make network
/// namespaces where cells are emulated, which has to be before any thread is started.
fn able(study: &Study) -> anyhow::Result<()> {
    Programs.check(study)?;
    if study.emulates()? {
        // Cells that name their world stay in it, whatever --world says.
        let needs_none = !study.clone().in_world(file::World::Simulated, false).emulates()?;
        let remedy = if needs_none {
            "use --world sim"
        } else {
            "take `world = \"emu\"` out of the study's cells"
        };
        emulation::acquire(&study.name, remedy)?;
    }
    Ok(())
}

/// Reads a study: a built-in one by its name, or else a file.
fn read(name: &str) -> anyhow::Result<Study> {
    if let Some(builtin) = builtin::find(name) {
        return Ok(builtin.study());
    }
    let path = Path::new(name);
    let is_path = path.extension().is_some() || path.components().count() > 1 || path.exists();
    if !is_path {
        let meant = builtin::nearest(name).map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
        bail!("{name:?} is neither a built-in study nor a file{meant} (`lastmile studies` lists them)");
    }
    let text = match std::fs::read(path) {
        Ok(octets) => String::from_utf8(octets)
            .ok()
            .with_context(|| format!("{name}: it is no text (UTF-8); a study is a TOML file"))?,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("{name}: there is no such file; give a study's TOML file, or a name that `lastmile studies` lists")
        }
        Err(error) => return Err(error).with_context(|| format!("{name} cannot be read")),
    };
    if text.trim().is_empty() {
        bail!("{name}: it is empty; `lastmile studies show bulk > {name}` gives one to begin with");
    }
    Ok(Study::parse(name, &text)?)
}

/// A new run in a folder of its own.
fn begun(args: &RunArgs, study: Study) -> anyhow::Result<(RunFolder, Kept, Journal)> {
    let costs = costs::load(&args.cpu)?;
    let folder = runs::create(args.out.as_deref(), &study.name)?;
    let meta = Meta::new(&study, &costs, runs::VERSION);
    let journal = folder.begin(&study, &costs, &meta)?;
    let kept = Kept {
        study,
        costs,
        meta,
        outcomes: Outcomes::new(),
    };
    Ok((folder, kept, journal))
}

/// A run that goes on, in the folder it was begun in: the one named, or the latest of the study. What the command line does not say is
/// as it was.
fn resumed(args: &RunArgs, run: Option<&Path>) -> anyhow::Result<(RunFolder, Kept, Journal)> {
    let named = args.study.as_deref().map(read).transpose()?;
    let folder = match (run, &named) {
        (Some(run), _) => runs::existing(run)?,
        (None, Some(study)) => runs::latest(&study.name)?,
        (None, None) => bail!("which run is to go on? lastmile run --resume RUN, or lastmile run STUDY --resume"),
    };
    let begun = folder.read()?;
    let mut study = named.unwrap_or(begun.study);
    overlay(args, &mut study)?;
    leave_out_missing(&mut study)?;
    able(&study)?;
    let cpu = args.cpu.cpu.as_ref().map_or(begun.meta.cpu, costs::name);
    let (kept, journal) = folder.resume(&study, &cpu, runs::VERSION)?;
    Ok((folder, kept, journal))
}

/// Runs what is lacking, with a bar where someone watches, until Ctrl-C.
fn execute(args: &RunArgs, folder: &RunFolder, kept: &mut Kept, journal: &mut Journal) -> anyhow::Result<Ending> {
    let captures = args.capture.then(|| folder.captures()).transpose()?;
    let interrupt = interrupt::listen(
        "stopping after the cells that are being run; press Ctrl-C again to stop at once, without those",
        format!("stopped at once; {}", runs::how_to_resume(folder.path())),
    )?;
    let bar = progress::bar("repeats");
    let threads = threads(args, &kept.study)?;
    if kept.study.emulates()? {
        let expected = runner::expected_time(&kept.study, &Programs, threads)?;
        output::remark(&format!("cells run in real time: about {}", duration::print(expected)));
    }
    let Kept {
        study, costs, outcomes, ..
    } = kept;
    let run = runner::Run {
        study,
        experiment: &Programs,
        costs,
        captures: captures.as_deref(),
        threads,
        interrupt: &interrupt,
    };
    let mut on_progress = |progress: Progress<'_>| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        bar.set_message(progress.finished.describe());
    };
    let ended = run.execute(journal, outcomes, &mut on_progress);
    bar.finish_and_clear();
    Ok(ended?)
}
