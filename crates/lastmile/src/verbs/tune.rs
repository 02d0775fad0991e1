//! `lastmile tune`: which compression should these messages have?

mod place;
mod recording;

use crate::cli::run::World;
use crate::cli::tune::{Pace, Sample, Strategy, TuneArgs};
use crate::clock::Utc;
use crate::exit::Exit;
use crate::fail_on::tuning;
use crate::output::{Format, WholeTuning};
use crate::{emulation, interrupt, links, output, progress, runs};
use lastmile_payload::message_codec;
use lastmile_payload::sweep::Grid;
use lastmile_report::page::{self, Provenance};
use lastmile_report::tune::{Sampling, Tuning};
use lastmile_study::cost::this_machine;
use lastmile_study::settings;
use lastmile_study::tune::{self, Holder, Options, Phase, Progress, TuneError};
use place::Place;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How finely a bar moves.
const STEPS: f64 = 1000.0;

/// Compresses messages in every way, and says which to use.
///
/// # Errors
/// When the transcript, a link or an option is not understood, there is nothing to compress, or the report cannot be written.
pub(crate) fn tune(args: &TuneArgs) -> anyhow::Result<Exit> {
    let links = links::list(&args.link)?;
    let recording = recording::read(args)?;
    if args.world.contains(&World::Emu) {
        // Before any thread is started.
        emulation::acquire("the delivery over links", "use --world sim")?;
    }
    // The place of what is kept is made first: what takes long is not done in vain.
    let place = Place::open(args)?;
    let mut kept = place.kept()?;
    let go_on = place.how_to_go_on();
    let interrupt = interrupt::listen(
        "stopping; press Ctrl-C again to stop at once",
        format!("stopped at once; {go_on}"),
    )?;
    let options = Options {
        links: links.into_iter().map(|link| (link.name(), link)).collect(),
        ..asked(args, interrupt)
    };
    let bar = progress::bar("steps");
    bar.set_length(STEPS as u64);
    let mut on_progress = |progress: Progress| {
        bar.set_position((progress.done * STEPS) as u64);
        bar.set_message(doing(progress.phase));
    };
    let tuned = tune::tune(&recording, &options, &mut kept, &mut on_progress);
    bar.finish_and_clear();
    let mut tuning = match tuned {
        Ok(tuning) => tuning,
        Err(TuneError::Interrupted) => {
            output::remark(&format!("stopped; {go_on}"));
            return Ok(Exit::Interrupted);
        }
        Err(error) => {
            place.give_up();
            return Err(error.into());
        }
    };
    tuning.thresholds = tuning::hold(&args.fail_on, &tuning);
    // The page first: what a lost pipe does to stdout, the figures can be read. And where it cannot be written, they are printed.
    let page = write_page(&place, &tuning);
    if args.all && matches!(args.format.format, Format::Table | Format::Md) {
        output::record(&WholeTuning(&tuning), args.format.format)?;
    } else {
        output::record(&tuning, args.format.format)?;
    }
    page?;
    Ok(tuning::verdict(&args.fail_on, &tuning))
}

/// What the command line asks for; what it does not say is as the engine has it.
fn asked(args: &TuneArgs, interrupt: Arc<AtomicBool>) -> Options {
    let defaults = Options::default();
    Options {
        holder: Holder {
            connections: args.connections,
            cores: args.cores,
        },
        memory: args.memory,
        computing: args.cpu,
        ratio: args.ratio,
        receivers: args.receivers,
        grid: Grid {
            strategies: each_once(&args.strategy).map(of_zlib).collect(),
            ..Grid::default()
        },
        sampling: match args.sample {
            Sample::Exact => Sampling::Exact,
            Sample::Auto => Sampling::Auto,
        },
        beyond: !args.deflate_only,
        timing: args.timing.unwrap_or(defaults.timing),
        pace: match args.pace {
            Pace::Recorded => tune::Pace::Recorded,
            Pace::OneByOne => tune::Pace::OneByOne,
            Pace::Rate(rate) => tune::Pace::Rate(rate),
        },
        repeats: args.repeats.unwrap_or(defaults.repeats),
        slow_client: args.slow_client.unwrap_or(defaults.slow_client),
        worlds: worlds(&args.world, defaults.worlds),
        seed: args.seed,
        threads: args.threads.unwrap_or(defaults.threads),
        interrupt,
        ..defaults
    }
}

/// What is named twice is tried once.
fn each_once(named: &[Strategy]) -> impl Iterator<Item = Strategy> {
    let first = |(at, strategy): &(usize, &Strategy)| !named[..*at].contains(strategy);
    named.iter().enumerate().filter(first).map(|(_, strategy)| *strategy)
}

/// Those that are asked for, each once.
fn worlds(asked: &[World], usual: Vec<settings::World>) -> Vec<settings::World> {
    let mut worlds = Vec::new();
    for world in asked {
        let world = match world {
            World::Sim => settings::World::Simulated,
            World::Emu => settings::World::Emulated,
        };
        if !worlds.contains(&world) {
            worlds.push(world);
        }
    }
    if worlds.is_empty() { usual } else { worlds }
}

const fn of_zlib(strategy: Strategy) -> message_codec::Strategy {
    match strategy {
        Strategy::Default => message_codec::Strategy::Default,
        Strategy::Filtered => message_codec::Strategy::Filtered,
        Strategy::HuffmanOnly => message_codec::Strategy::HuffmanOnly,
        Strategy::Rle => message_codec::Strategy::Rle,
        Strategy::Fixed => message_codec::Strategy::Fixed,
    }
}

const fn doing(phase: Phase) -> &'static str {
    match phase {
        Phase::Sweeping => "compressing at every setting of permessage-deflate",
        Phase::Beyond => "compressing by other codecs and with dictionaries",
        Phase::Timing => "timing what may be advised",
        Phase::Policies => "trying what a sender can decide",
        Phase::Delivering => "delivering over the links",
    }
}

fn write_page(place: &Place, tuning: &Tuning) -> anyhow::Result<()> {
    let Some((folder, name)) = place.page() else {
        return Ok(());
    };
    let provenance = Provenance {
        command: runs::typed(),
        machine: this_machine(),
        finished: Some(Utc::now().words()),
        study: None,
    };
    folder.write_whole(name, page::tuning_page(tuning, &provenance).as_bytes())?;
    output::remark(&format!("report: {}", runs::within(folder, name).display()));
    Ok(())
}
