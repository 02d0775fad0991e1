//! The arguments of `lastmile encode`.

use super::FormatArg;
use super::transcript::TranscriptArgs;
use clap::Args;
use lastmile_document_formats::Encoding;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Compare encodings, compression and batches for your own messages
///
/// Your JSON documents, one a line or the messages of any transcript that `tune` reads, are written in every encoding by a schema that is inferred and shown, or in protobuf by your own (--proto), compressed one by one, over the whole connection and
/// with a dictionary, alone and in batches, and delivered over the links in a simulated network. The answer says what to do first on each link.
/// Every encoded document is decoded again, and must be equal to the original.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile encode events.jsonl                           over three links
  lastmile encode events.jsonl --link wpt/3g             over one link
  lastmile encode page.har --link wpt/3g                 saved by a browser
  lastmile encode app.jsonl --field data                 a field of a log
  lastmile encode events.jsonl --rate 2 --wait 10s       batches may take 10 s
  lastmile encode events.jsonl --encodings json,protobuf  some encodings
  lastmile encode orders.jsonl --proto shop.proto        your own schema
  lastmile encode events.jsonl --format json             for a program")]
pub(crate) struct EncodeArgs {
    #[command(flatten)]
    pub(crate) documents: TranscriptArgs,

    /// The links, separated by commas [default: published/dialup-56k,wpt/3g,wpt/cable]
    #[arg(long, value_name = "LINKS")]
    pub(crate) link: Vec<String>,

    /// The encodings to try, separated by commas [default: all]
    #[arg(long, value_name = "ENCODINGS", value_delimiter = ',', value_parser = parse_encoding)]
    pub(crate) encodings: Vec<Encoding>,

    /// Your own schema for protobuf: a .proto file, whose imports are in its folder [default: the inferred schema]
    ///
    /// Documents are written by protobuf's JSON mapping; one that does not fit is an error.
    #[arg(long, value_name = "FILE")]
    pub(crate) proto: Option<PathBuf>,

    /// The message of --proto that a document is [default: the only one that no other message uses]
    #[arg(long, value_name = "NAME", requires = "proto")]
    pub(crate) message: Option<String>,

    /// How many messages are sent together, separated by commas
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', default_value = "1,10,100,1000")]
    pub(crate) batches: Vec<NonZeroUsize>,

    /// How many messages arise in a second: it gives the time that messages wait for their batch
    #[arg(long, value_name = "RATE", default_value = "10", value_parser = parse_rate)]
    pub(crate) rate: f64,

    /// The longest mean wait for a batch that the answer may recommend
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = lastmile_units::duration::parse)]
    pub(crate) wait: Duration,

    /// The most documents that are encoded, from the beginning of the file
    #[arg(long = "documents", value_name = "COUNT", default_value = "10000")]
    pub(crate) documents_max: NonZeroUsize,

    /// Measure no CPU time: the same documents then give the same record
    #[arg(long)]
    pub(crate) no_timing: bool,

    /// The root of every random choice
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The report's file [default: none is written]
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Print every row in tables
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) format: FormatArg,
}

/// The default links: a modem, a phone and a house.
pub(crate) const LINKS: &str = "published/dialup-56k,wpt/3g,wpt/cable";

fn parse_encoding(text: &str) -> Result<Encoding, String> {
    let named = Encoding::ALL.iter().find(|encoding| encoding.name() == text);
    named.copied().ok_or_else(|| {
        let names: Vec<&str> = Encoding::ALL.iter().map(|encoding| encoding.name()).collect();
        format!("there is no such encoding; there are {}", names.join(", "))
    })
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text
        .trim_end_matches("/s")
        .parse()
        .map_err(|_| "write it like 10 or 0.5".to_owned())?;
    (rate > 0.0 && rate.is_finite())
        .then_some(rate)
        .ok_or_else(|| "it must be above 0".to_owned())
}
