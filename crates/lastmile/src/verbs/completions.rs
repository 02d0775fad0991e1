//! `lastmile completions`: prints the script by which a shell asks the binary for words.

use crate::cli::completions::CompletionsArgs;
use crate::cli::names::VARIABLE;
use crate::exit::Exit;
use crate::output;
use clap_complete::Shell;
use clap_complete::env::Shells;

/// What makes the script for zsh complete at its first TAB, too, where zsh loads it from a file of its `fpath`.
const ZSH_AUTOLOAD: &str = "[ \"$funcstack[1]\" = \"_lastmile\" ] && _clap_dynamic_completer_lastmile \"$@\"\n";

/// Prints the shell's script.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let name = args.shell.to_string();
    let shell = Shells::builtins();
    let shell = shell
        .completer(&name)
        .expect("clap_complete has an engine for each of its shells");
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "lastmile", "lastmile", "lastmile", &mut script)?;
    if args.shell == Shell::Zsh {
        script.extend(ZSH_AUTOLOAD.as_bytes());
    }
    output::print_data(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}
