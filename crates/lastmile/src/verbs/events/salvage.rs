//! `lastmile salvage`: takes what is whole out of a damaged folder.

use crate::cli::monitor::SalvageArgs;
use crate::exit::Exit;
use crate::output;
use lastmile_events::uplink::Durability;
use lastmile_monitor::block_on;
use lastmile_monitor::log::{LogSettings, salvage as salvage_log};

/// Takes what is whole out of a damaged folder.
///
/// # Errors
/// When the old folder cannot be read at all, or the new one cannot be used.
pub(crate) fn salvage(args: &SalvageArgs) -> anyhow::Result<Exit> {
    let settings = LogSettings {
        durability: Durability::Process,
        most_bytes: u64::MAX,
        ..LogSettings::default()
    };
    let found = block_on(salvage_log(&args.from, &args.to, settings))??;
    for damaged in &found.damaged {
        output::note(damaged);
    }
    output::note(&format!(
        "{} events of {} sources are in {}; {} numbers are stated as lost there, and {} places could not be read",
        found.events,
        found.sources,
        args.to.display(),
        found.lost,
        found.damaged.len()
    ));
    Ok(Exit::of_check(found.damaged.is_empty() && found.lost == 0))
}
