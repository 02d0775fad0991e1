//! `lastmile perturb`: runs a program in pairs with and without its sensor, and says what the sensor costs.
//!
//! CPU time is the kernel's, of the program and the processes that it waited for; the sensor's own is not in it. The order within a pair changes
//! from pair to pair, so that a machine that warms up or slows down favours neither.

mod document;
mod program;
pub(crate) mod record;
mod sensor;

use crate::cli::perturb::PerturbArgs;
use crate::exit::Exit;
use crate::verbs::perturb::record::{Effect, Perturbation};
use crate::{interrupt, output, progress};
use anyhow::bail;
use lastmile_report::record::Figure;
use lastmile_statistics::interval::interval_95;
use lastmile_statistics::mean;
use lastmile_units::Seed;
use program::Program;
use sensor::OwnSensor;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// The figures of a run by name, in seconds.
type Figures = BTreeMap<&'static str, f64>;

/// Measures a program's sensor.
///
/// # Errors
/// When the program cannot be run or fails, or nothing answers the load.
pub(crate) fn perturb(args: &PerturbArgs) -> anyhow::Result<Exit> {
    let stop = interrupt::install_handler("stopping after this run", "stopped at once".to_owned())?;
    let sensor = OwnSensor::start()?;
    let program = Program::new(args, sensor.environment());
    let bar = progress::bar("pairs");
    bar.set_length(args.pairs.get().into());
    let (mut without, mut with): (Vec<Figures>, Vec<Figures>) = (Vec::new(), Vec::new());
    let mut events = Vec::new();
    // Once before it counts: files and caches are warm for both.
    program.run(false)?;
    for pair in 0..args.pairs.get() {
        for observed in [pair % 2 == 0, pair % 2 != 0] {
            let before = sensor.event_count();
            let figures = program.run(observed)?;
            if observed { &mut with } else { &mut without }.push(figures);
            let emitted = sensor.event_count() - before;
            if observed {
                events.push(emitted as f64);
            } else if emitted > 0 {
                bail!(
                    "the program emitted {emitted} events though it was to run without its sensor: it does not heed LASTMILE_SENSOR or OTEL_SDK_DISABLED"
                );
            }
        }
        bar.inc(1);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    bar.finish_and_clear();
    let record = Perturbation {
        schema: Perturbation::SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: args.command.clone(),
        pairs: without.len() as u64,
        events: mean(&events).unwrap_or_default(),
        effects: effects(&without, &with),
    };
    output::print_record(&record, args.format.format())?;
    Ok(if stop.load(Ordering::Relaxed) {
        Exit::Interrupted
    } else {
        Exit::Done
    })
}

fn effects(without: &[Figures], with: &[Figures]) -> Vec<Effect> {
    let names = without
        .first()
        .map(|figures| figures.keys().copied())
        .into_iter()
        .flatten();
    names
        .filter_map(|name| effect(name, &values(without, name), &values(with, name)))
        .collect()
}

fn values(runs: &[Figures], name: &str) -> Vec<f64> {
    runs.iter().filter_map(|figures| figures.get(name).copied()).collect()
}

fn effect(name: &str, without: &[f64], with: &[f64]) -> Option<Effect> {
    let figure = |values: &[f64]| {
        let runs: Vec<Vec<f64>> = values.iter().map(|value| vec![*value]).collect();
        Figure::of_runs("s", "run", &runs, &["machine".to_owned()], Seed::new(1))
    };
    let differences: Vec<f64> = with.iter().zip(without).map(|(with, without)| with - without).collect();
    let difference = mean(&differences)?;
    let difference_ci95 = interval_95(&differences, Seed::new(1));
    let base = mean(without).filter(|base| *base > 0.0);
    Some(Effect {
        name: name.to_owned(),
        without: figure(without)?,
        with: figure(with)?,
        difference,
        difference_ci95,
        share: base.map(|base| difference / base),
        share_ci95: base.and_then(|base| Some(difference_ci95?.map(|end| end / base))),
    })
}
