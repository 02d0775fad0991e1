//! What can be typed after `lastmile inspect`?

use super::FormatArg;
use clap::Args;
use std::path::PathBuf;

/// Inspect a capture: flows, retransmissions, round trips, HTTP
///
/// Reads pcap and pcapng, of any size, in one pass. Says of each TCP connection how long it took, what each side sent, sent again and
/// received out of order, how long acknowledgements took, and what was asked and answered in clear HTTP/1.1. A file whose end is cut
/// off is read as far as it goes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile inspect client.pcapng                         tables
  lastmile inspect client.pcapng --html client.html      with time and sequence
  lastmile inspect client.pcapng --format json | jq .http
  lastmile inspect client.pcapng --segments | less       each segment
  ssh server tcpdump -w - port 80 | lastmile inspect -

Near the sender of the data, round trips are whole, and every segment that was
sent again is seen twice. Capture there where you can.")]
pub(crate) struct InspectArgs {
    /// The capture, pcap or pcapng; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// Write a page with the figures and time-sequence plots of the connections that carried most
    #[arg(long, value_name = "PAGE")]
    pub(crate) html: Option<PathBuf>,

    /// Print a line for each TCP segment instead of what they come to: text, or with --format json an object
    ///
    /// Numbers count from the beginning of their connection. The objects are of the schema lastmile/segment/1, and have both addresses.
    /// Lines are printed as the capture is read.
    #[arg(long, conflicts_with = "html")]
    pub(crate) segments: bool,
}
