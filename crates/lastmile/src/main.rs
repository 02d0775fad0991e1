//! The binary: verbs, options and output. The work is in the crates below it.

mod cli;
mod clock;
mod cost_table;
mod exit;
mod fail_on;
mod interrupt;
mod links;
mod live;
mod output;
mod privileges;
mod progress;
mod registry;
mod report_file;
mod run_store;
mod transcript;
mod verbs;

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(ended) = lastmile_world::emu::become_init() {
        return ended;
    }
    cli::names::complete();
    exit::report_result(verbs::dispatch(cli::parse()))
}
