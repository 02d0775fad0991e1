//! The arguments of `lastmile completions`.

use clap::Args;
use clap_complete::Shell;

/// Print a shell's completion script, which knows link profiles, studies and runs
///
/// The script calls lastmile for the words, so lastmile has to be in the PATH.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile completions fish > ~/.config/fish/completions/lastmile.fish
  lastmile completions zsh > \"${fpath[1]}/_lastmile\"
  source <(lastmile completions bash)                  in ~/.bashrc")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}
