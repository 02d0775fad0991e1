//! What does each verb do? One file a verb.

mod advise;
mod compare;
mod completions;
mod conform;
mod doctor;
mod inspect;
pub(crate) mod link;
mod man;
mod profiles;
mod report;
mod run;
mod studies;
mod tune;

use crate::cli::{Cli, Verb};
use crate::exit::Exit;

/// Does what was typed.
///
/// # Errors
/// As the verb has it; see [`crate::exit`] for the exit code of each.
pub(crate) fn dispatch(cli: Cli) -> anyhow::Result<Exit> {
    match cli.verb {
        Verb::Advise(args) => advise::advise(&args),
        Verb::Tune(args) => tune::tune(&args),
        Verb::Run(args) => run::run(&args),
        Verb::Report(args) => report::report(&args),
        Verb::Compare(args) => compare::compare(&args),
        Verb::Inspect(args) => inspect::inspect(&args),
        Verb::Studies(args) => studies::studies(&args),
        Verb::Link(args) => link::link(&args),
        Verb::Profiles(args) => profiles::profiles(args.verb),
        Verb::Doctor(args) => doctor::doctor(&args),
        Verb::Conform(args) => conform::conform(&args),
        Verb::Completions(args) => completions::completions(&args),
        Verb::Man => man::man(),
    }
}
