//! The verbs, each in a file of its own.

mod advise;
mod compare;
mod completions;
mod conform;
mod demo;
mod doctor;
mod encode;
pub(crate) mod events;
mod inspect;
pub(crate) mod link;
mod load;
mod man;
mod perturb;
mod profiles;
mod record;
mod report;
mod route;
mod run;
mod studies;
mod time;
mod tune;

use crate::cli::{Cli, Verb};
use crate::exit::Exit;

/// Runs the verb that was typed.
///
/// # Errors
/// Those of the verb; see [`crate::exit`] for the exit code of each.
pub(crate) fn dispatch(cli: Cli) -> anyhow::Result<Exit> {
    match cli.verb {
        Verb::Demo => demo::demo(),
        Verb::Record(args) => record::record(&args),
        Verb::Advise(args) => advise::advise(&args),
        Verb::Tune(args) => tune::tune(&args),
        Verb::Encode(args) => encode::encode(&args),
        Verb::Run(args) => run::run(&args),
        Verb::Report(args) => report::report(&args),
        Verb::Compare(args) => compare::compare(&args),
        Verb::Inspect(args) => inspect::inspect(&args),
        Verb::Studies(args) => studies::studies(&args),
        Verb::Link(args) => link::link(&args),
        Verb::Time(args) => time::time(&args),
        Verb::Load(args) => load::load(&args),
        Verb::Route(args) => route::route(&args),
        Verb::Monitor(args) => events::monitor::monitor(&args),
        Verb::Sensor(args) => events::sensor::sensor(&args),
        Verb::Emit(args) => events::emit::emit(&args),
        Verb::Query(args) => events::query::query(&args),
        Verb::Subscribe(args) => events::subscribe::subscribe(&args),
        Verb::Audit(args) => events::audit::audit(&args),
        Verb::Salvage(args) => events::salvage::salvage(&args),
        Verb::Perturb(args) => perturb::perturb(&args),
        Verb::Profiles(args) => profiles::profiles(args.verb),
        Verb::Doctor(args) => doctor::doctor(&args),
        Verb::Conform(args) => conform::conform(&args),
        Verb::Completions(args) => completions::completions(&args),
        Verb::Man => man::man(),
    }
}
