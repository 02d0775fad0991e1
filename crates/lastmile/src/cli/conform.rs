//! The arguments of `lastmile conform`.

use super::FormatArg;
use clap::Args;
use lastmile_conform::Target;
use std::time::Duration;

/// Test a WebSocket server against RFC 6455 and RFC 7692
///
/// The server must send every message back, as echo servers do. Each rule is tested over a connection of its own: how a connection
/// begins and ends, how the server negotiates permessage-deflate and keeps to what it agreed, which compressed messages it reads, and
/// whether it fails the connection on data that no client may send. TLS is not supported: probe the server behind its proxy.
#[derive(Debug, Args)]
#[command(after_help = "Exits with 99 where a rule is broken.

Examples:
  lastmile conform ws://127.0.0.1:9001/                  every rule, one by one
  lastmile conform ws://127.0.0.1:9001/ --format json    for a program")]
pub(crate) struct ConformArgs {
    /// The server: ws://HOST:PORT/PATH
    #[arg(value_name = "URL")]
    pub(crate) target: Target,

    /// The timeout of an answer; a connection may last ten times as long
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_timeout)]
    pub(crate) patience: Duration,

    #[command(flatten)]
    pub(crate) format: FormatArg,
}

fn parse_timeout(text: &str) -> Result<Duration, String> {
    let patience = lastmile_units::duration::parse(text).map_err(|error| error.to_string())?;
    // With a timeout of 0, every rule would be broken.
    (!patience.is_zero())
        .then_some(patience)
        .ok_or_else(|| "it must be longer than 0; write it like 5s".to_owned())
}
