//! The arguments of `lastmile doctor`.

use super::FormatArg;
use clap::Args;

/// Check what this machine can do for the emulated world
///
/// Everything is tried, in about two seconds: namespaces are entered, hosts attached, and packets timed over a link. "limited" marks what
/// the emulated world works without, but less well or not for everything. The simulated world works everywhere.
#[derive(Debug, Args)]
#[command(
    after_help = "Exits with 0 where the emulated world works, and with 3 where it does not.

Examples:
  lastmile doctor                     what works, what does not, what to do
  lastmile doctor --format json       for a program
  sudo lastmile doctor                the same for root"
)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) format: FormatArg,
}
