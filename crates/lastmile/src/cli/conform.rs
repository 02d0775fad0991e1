//! What can be typed after `lastmile conform`?

use super::FormatArg;
use clap::Args;
use lastmile_study::conform::Target;
use std::time::Duration;

/// Ask a WebSocket server whether it keeps RFC 6455 and RFC 7692 (permessage-deflate)
///
/// The server must send every message back, as echo servers do. Each rule is asked about over a connection of its own: how a connection
/// begins and ends, how permessage-deflate is negotiated and kept to, which compressed messages are read, and whether what no endpoint may
/// send fails the connection. TLS is not spoken: probe the server behind its proxy.
#[derive(Debug, Args)]
#[command(after_help = "Exits with 99 where a rule is broken.

Examples:
  lastmile conform ws://127.0.0.1:9001/                  every rule, one by one
  lastmile conform ws://127.0.0.1:9001/ --format json    for a program")]
pub(crate) struct ConformArgs {
    /// The server: ws://HOST:PORT/PATH
    #[arg(value_name = "URL")]
    pub(crate) target: Target,

    /// How long an answer may take; all that happens on one connection may take ten times as long
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = patience)]
    pub(crate) patience: Duration,

    #[command(flatten)]
    pub(crate) format: FormatArg,
}

fn patience(text: &str) -> Result<Duration, String> {
    let patience = lastmile_units::duration::parse(text).map_err(|error| error.to_string())?;
    // Nothing is answered in no time: every rule would be broken.
    (!patience.is_zero())
        .then_some(patience)
        .ok_or_else(|| "no server answers in no time; write it like 5s".to_owned())
}
