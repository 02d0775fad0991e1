//! The arguments of `lastmile studies`.

use super::FormatArg;
use clap::{Args, Subcommand};

/// List the built-in studies, or show one
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  lastmile studies                          their names and questions
  lastmile studies show bulk                one, as its TOML file
  lastmile studies show bulk > mine.toml    to begin your own with"
)]
pub(crate) struct StudiesArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<StudiesVerb>,

    #[command(flatten)]
    pub(crate) format: FormatArg,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudiesVerb {
    /// Print a built-in study's TOML file
    Show {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
    },
}
