//! `lastmile tune`: finds the compression setting for a stream of messages.

mod output_folder;

use crate::cli::tune::TuneArgs;
use crate::cli::without_duplicates;
use crate::exit::Exit;
use crate::report_file::print_with_report;
use crate::transcript::{self, Purpose, Request};
use crate::{fail_on, interrupt, links, output, privileges, progress};
use lastmile_sweep::Grid;
use lastmile_testbed::settings::World;
use lastmile_traffic::messages::{Direction, LogMapping};
use lastmile_tune::{self as tune, End, Options, Progress, Recording, ServerProfile, TuneError, rules};
use output_folder::TuneOutput;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The resolution of the progress bar.
const STEPS: f64 = 1000.0;

/// Compresses messages with every setting, and reports which to use.
///
/// # Errors
/// When the transcript, a link or an option is not understood, there is nothing to compress, or the report cannot be written.
pub(crate) fn tune(args: &TuneArgs) -> anyhow::Result<Exit> {
    let links = links::list(&args.link)?;
    let recording = recording(args)?;
    if args.world.contains(&World::Emulated) {
        // Before any thread is started.
        privileges::acquire("the delivery over links", "use --world sim")?;
    }
    // The folder is made first, so that a long measurement is not lost for want of it.
    let output = TuneOutput::open(args)?;
    let mut kept = output.open_cache()?;
    let go_on = output.resume_hint();
    let interrupt = interrupt::install_handler(
        "stopping; press Ctrl-C again to stop at once",
        format!("stopped at once; {go_on}"),
    )?;
    let options = Options {
        links,
        ..options_from(args, interrupt)
    };
    let bar = progress::bar("steps");
    bar.set_length(STEPS as u64);
    let mut on_progress = |progress: Progress| {
        bar.set_position((progress.done * STEPS) as u64);
        bar.set_message(progress.phase);
    };
    let tuned = tune::tune(&recording, &options, &mut kept, &mut on_progress);
    bar.finish_and_clear();
    let mut tuning = match tuned {
        Ok(tuning) => tuning,
        Err(TuneError::Interrupted) => {
            output::note(&format!("stopped; {go_on}"));
            return Ok(Exit::Interrupted);
        }
        Err(error) => {
            output.remove_empty_folder();
            return Err(error.into());
        }
    };
    tuning.thresholds = rules::check(&args.fail_on, &tuning);
    print_with_report(&tuning, output.report.as_ref(), args.format.format(), args.all)?;
    Ok(fail_on::tuning_exit(&args.fail_on, &tuning))
}

/// Reads the transcript whole.
fn recording(args: &TuneArgs) -> anyhow::Result<Recording> {
    let mut mapping = args.messages.log_mapping()?;
    if let Some(LogMapping::Fields(fields)) = &mut mapping {
        fields.direction.clone_from(&args.direction_field);
        fields.connection.clone_from(&args.connection_field);
        fields.time.clone_from(&args.time_field);
    }
    let request = Request {
        args: &args.messages,
        mapping,
        server_sends: match args.recorded_at {
            None | Some(End::Server) => Direction::Sent,
            Some(End::Client) => Direction::Received,
        },
        purpose: Purpose::Message,
    };
    let content = transcript::read(request, |_, messages| messages.map(|located| Ok(located?.1)).collect())?;
    Ok(Recording {
        source: content.source,
        format: content.format,
        notes: content.notes,
        recorded_at: args.recorded_at.unwrap_or(content.recorded_at),
        messages: content.messages,
    })
}

/// The options of the command line; those not given have the engine's defaults.
fn options_from(args: &TuneArgs, interrupt: Arc<AtomicBool>) -> Options {
    let defaults = Options::default();
    Options {
        server: ServerProfile {
            connections: args.connections,
            cores: args.cores,
        },
        memory: args.memory,
        computing: args.cpu,
        ratio: args.ratio,
        receivers: args.receivers,
        rate: args.rate,
        grid: Grid {
            strategies: without_duplicates(&args.strategy),
            ..Grid::default()
        },
        sampling: args.sample,
        beyond: !args.deflate_only,
        timing: args.timing.unwrap_or(defaults.timing),
        pace: args.pace,
        repeats: args.repeats.unwrap_or(defaults.repeats),
        slow_client: args.slow_client.unwrap_or(defaults.slow_client),
        worlds: if args.world.is_empty() {
            defaults.worlds
        } else {
            without_duplicates(&args.world)
        },
        seed: args.seed,
        threads: args.threads.unwrap_or(defaults.threads),
        interrupt,
        ..defaults
    }
}
