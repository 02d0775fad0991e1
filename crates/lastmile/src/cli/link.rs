//! What can be typed after `lastmile link`?

use crate::verbs::link::{Listen, Remote};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Put a command behind a link: its kernel, its sockets and its packets are real, the link is the model
///
/// COMMAND runs with its whole tree of processes in network namespaces of its own, as root or as any user, without set-up. down is
/// towards COMMAND. What listens on this machine's loopback address it reaches as host.lastmile:PORT, by TCP: its packets cross the
/// link to a host at the far end, whose proxy carries each connection on, without delay. Nothing else is reached, unless --allow-net
/// is given. Everything that COMMAND started is gone when it ends, and when lastmile does, however it is killed.
///
/// stdout is COMMAND's alone, and so is the exit code: 128 + n where signal n ended it, 127 where there is no such program, 126 where
/// it cannot be run. SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 and SIGUSR2 are passed on to it. A line on stderr at the end gives
/// bytes and packets, drops by cause, the longest queue, and how late packets were handed over; where the 99th percentile of that is
/// above its bound (5 % of the time that a full packet takes in the faster direction, and at least 0.5 ms), or packets were lost
/// beside the link, it says INVALID.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile link wpt/3g -- curl http://host.lastmile:8000/   a local service
  lastmile link 'wpt/3g+loss=1%' --capture caps -- make it  keep the packets
  lastmile link wpt/cable --allow-net -- git clone URL      the outside too
  lastmile link wpt/3g -- bash                              to try things in
  lastmile link wpt/3g --listen 8080 --to localhost:80      without wrapping

`lastmile profiles list` names the links.")]
pub(crate) struct LinkArgs {
    /// The link: a profile, with changes or without: wpt/3g, 'wpt/3g+loss=1%'
    #[arg(value_name = "PROFILE")]
    pub(crate) link: String,

    /// Carry connections instead of running a command: take them here, on 127.0.0.1 where no address is given
    ///
    /// Each crosses the link and is carried on to the host and port of --to, until Ctrl-C or SIGTERM. Exit code 0.
    #[arg(long, value_name = "[ADDRESS:]PORT", requires = "to", conflicts_with = "command")]
    pub(crate) listen: Option<Listen>,

    /// Where the connections of --listen lead, as this machine reaches it
    #[arg(long, value_name = "HOST:PORT", requires = "listen", conflicts_with = "command")]
    pub(crate) to: Option<Remote>,

    /// Write packets to near.pcapng, far.pcapng (what each end sent and received) and drops.pcapng (with causes) in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) capture: Option<PathBuf>,

    /// The root of the link's random choices, from 0 to 2^64 - 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// How senders at both ends control congestion, by the kernel's name: cubic, bbr, reno
    #[arg(long, value_name = "NAME", default_value = "cubic")]
    pub(crate) congestion_control: String,

    /// Let COMMAND reach the outside network too, over the link
    ///
    /// Carried are TCP to any IPv4 address, and questions for names, to this machine's name servers. No other UDP (so no QUIC), no IPv6,
    /// and no ICMP: a ping is answered at the link's far end. A connection that is refused outside is first made, and then reset.
    #[arg(long, conflicts_with = "listen")]
    pub(crate) allow_net: bool,

    /// Say nothing at the end
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// How the last line on stderr is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", conflicts_with = "quiet")]
    pub(crate) format: SummaryFormat,

    /// What is run, with its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "listen")]
    pub(crate) command: Vec<OsString>,
}

/// How a summary is written in one line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormat {
    /// For a person
    #[default]
    Text,
    /// One JSON object, as its schema has it
    Json,
}
