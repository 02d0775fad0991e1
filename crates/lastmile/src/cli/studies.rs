//! The arguments of `lastmile studies`.

use super::{FormatArg, one_of};
use clap::{Args, Subcommand};
use lastmile_study::keys::{KeyList, LISTS};

/// List the built-in studies, show one, or list what your own may name
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  lastmile studies                          their names and questions
  lastmile studies show bulk                one, as its TOML file
  lastmile studies show bulk > mine.toml    to begin your own with
  lastmile studies keys                     how many keys there are for it
  lastmile studies keys factors             what can be varied, and values
  lastmile studies keys figures queue       the figures about queues"
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
        #[arg(value_name = "STUDY")]
        name: String,
    },
    /// List what a study of your own may name: its keys, their values or units, and what they mean
    Keys {
        /// The list [default: how many keys each list has]
        #[arg(value_name = "LIST", value_parser = one_of(LISTS))]
        list: Option<KeyList>,
        /// Only the rows that have all these words [default: all]
        #[arg(value_name = "WORD")]
        words: Vec<String>,
        #[command(flatten)]
        format: FormatArg,
    },
}
