//! `lastmile completions`: prints a shell's completion script.

use crate::cli::Cli;
use crate::cli::completions::CompletionsArgs;
use crate::exit::Exit;
use crate::output;
use clap::CommandFactory as _;

/// Prints the shell's script.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lastmile", &mut script);
    output::print_data(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}
