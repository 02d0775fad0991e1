//! The arguments of `lastmile profiles`.

use super::FormatArg;
use clap::{Args, Subcommand};

/// List the link profiles, show a link, or compare two
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile profiles list                          all, with their figures
  lastmile profiles list wpt                      those of one set
  lastmile profiles list 3g                       the 3G of every set
  lastmile profiles show wpt/3g                   one, with its figures' source
  lastmile profiles show 'wpt/3g+loss=1%'         a profile with changes
  lastmile profiles diff wpt/3g chrome/slow-3g    how two differ")]
pub(crate) struct ProfilesArgs {
    #[command(subcommand)]
    pub(crate) verb: ProfilesVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfilesVerb {
    /// List the link profiles with their figures
    List {
        /// Only those whose names and sets have all these words: wpt, 3g, 'chrome slow' [default: all]
        #[arg(value_name = "WORD")]
        words: Vec<String>,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Show everything about a link, including its figures' source
    Show {
        /// A profile, with or without changes: wpt/3g, 'wpt/3g+loss=1%'
        #[arg(value_name = "LINK")]
        link: String,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Show how two links differ
    Diff {
        /// One link
        #[arg(value_name = "A")]
        a: String,
        /// The other
        #[arg(value_name = "B")]
        b: String,
        #[command(flatten)]
        format: FormatArg,
    },
}
