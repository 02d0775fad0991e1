//! The binary: verbs and flags only. What they do is in the crates below it; here is what they are called, and who hears of it.

mod cli;
mod clock;
mod costs;
mod emulation;
mod exit;
mod fail_on;
mod interrupt;
mod links;
mod output;
mod progress;
mod runs;
mod verbs;

use clap::Parser as _;

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(ended) = lastmile_world::emu::become_init() {
        return ended;
    }
    exit::told(verbs::dispatch(cli::Cli::parse()))
}
