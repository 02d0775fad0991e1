//! The arguments of `lastmile inspect`.

use super::FormatArg;
use clap::Args;
use std::path::PathBuf;

/// Inspect a capture: flows, retransmissions, round trips, HTTP
///
/// Reads pcap and pcapng, of any size, in one pass. Reports for each TCP connection its duration, what each side sent and retransmitted,
/// what arrived out of order, the round trips, and HTTP/1.1 transactions in clear text. A file whose end is cut
/// off is read as far as it goes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile inspect client.pcapng                         tables
  lastmile inspect client.pcapng --html client.html      with time and sequence
  lastmile inspect client.pcapng --format json | jq .http
  lastmile inspect client.pcapng --segments | less       each segment
  ssh server tcpdump -w - port 80 | lastmile inspect -

Capture near the sender of the data where you can: there, round trips are whole,
and every retransmitted segment is seen twice.")]
pub(crate) struct InspectArgs {
    /// The capture, pcap or pcapng; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// Write a page with the figures, and time-sequence plots of the connections that carried most bytes
    #[arg(long, value_name = "PAGE")]
    pub(crate) html: Option<PathBuf>,

    /// Print a line for each TCP segment instead of a summary: text, or an object with --format json
    ///
    /// Numbers count from the beginning of their connection. The objects have the schema lastmile/segment/1, with both addresses.
    /// Lines are printed as the capture is read.
    #[arg(long, conflicts_with = "html")]
    pub(crate) segments: bool,
}
