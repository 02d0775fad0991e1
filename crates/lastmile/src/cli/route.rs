//! The arguments of `lastmile route`.

use clap::{Args, ValueEnum};
use lastmile_units::{ByteCount, duration};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Gather the one-way calls of back ends, and send each client compressed batches
///
/// Clients and back ends speak the Ice protocol. A client connects to --clients, calls createSession of the object `router`, whose category
/// is the client's name, and gets its calls over the same connection. A back end connects to --back-ends, calls register of the object `router` whose
/// category is its own name (`prices/router`), and then makes one-way calls of objects whose category is the client's name. It reaches only the clients and
/// operations that --allow names: one rule per line, of a back end, a client and an operation, each by its name or * for all.
///
/// A call waits for others for --batch-time at most, and longer only while the client's connection is busy. Calls that find a client's queue
/// full are dropped and counted. At the end, after Ctrl-C or SIGTERM, a line of JSON on stdout accounts for every call.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile route --allow rules.txt                         on this machine alone
  lastmile route --allow rules.txt --clients 0.0.0.0:4063  for clients elsewhere

rules.txt:
  prices  *     tick         # the back end prices may call tick of every client
  news    anna  headline")]
pub(crate) struct RouteArgs {
    /// The file of rules: who may call what
    #[arg(long, value_name = "FILE")]
    pub(crate) allow: PathBuf,

    /// The address that clients connect to
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4063")]
    pub(crate) clients: SocketAddr,

    /// The address that back ends connect to
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4064")]
    pub(crate) back_ends: SocketAddr,

    /// The most calls of a batch
    #[arg(long, value_name = "N", default_value = "1000")]
    pub(crate) batch: NonZeroUsize,

    /// The longest time that a call waits for others
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = duration::parse)]
    pub(crate) batch_time: Duration,

    /// The bytes of calls that may wait for one client
    #[arg(long, value_name = "SIZE", default_value = "256kB")]
    pub(crate) queue: ByteCount,

    /// Whether batches are compressed by bzip2
    #[arg(long, value_enum, default_value_t)]
    pub(crate) compress: Compress,
}

/// Which batches are compressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compress {
    /// Those that become shorter
    #[default]
    IfSmaller,
    /// Those of 100 bytes and more, as Ice does it
    Ice,
    /// None
    Never,
}
