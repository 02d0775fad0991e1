//! `lastmile conform`: tests a WebSocket server's conformance.

use crate::cli::conform::ConformArgs;
use crate::exit::Exit;
use crate::{output, progress};
use lastmile_conform as conform;

/// Tests a server on every rule, and prints the results.
///
/// # Errors
/// When nothing listens there, or the server does not switch to WebSocket.
pub(crate) fn conform(args: &ConformArgs) -> anyhow::Result<Exit> {
    let bar = progress::bar("rules");
    let mut done = 0;
    let probed = conform::probe(
        &args.target,
        args.patience,
        env!("CARGO_PKG_VERSION"),
        &mut |all, verdict| {
            done += 1;
            bar.set_length(all as u64);
            bar.set_position(done);
            bar.set_message(verdict.name.clone());
        },
    );
    bar.finish_and_clear();
    let conformance = probed?;
    output::print_record(&conformance, args.format.format())?;
    Ok(Exit::of_check(conformance.broken == 0))
}
