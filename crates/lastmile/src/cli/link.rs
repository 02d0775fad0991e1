//! The arguments of `lastmile link`.

use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// Put a command behind a link, with real kernels, sockets and packets
///
/// COMMAND runs with its whole tree of processes in network namespaces of its own, as root or as any user, without set-up. down is
/// towards COMMAND. COMMAND reaches services on this machine's loopback address as host.lastmile:PORT, by TCP: its packets cross the
/// link to a host at the far end, whose proxy relays each connection without delay. It reaches nothing else, unless --allow-net
/// is given. When COMMAND or lastmile ends, however it is killed, every process that COMMAND started ends too.
///
/// stdout and the exit code are COMMAND's: 128 + n where signal n ended it, 127 where there is no such program, 126 where
/// it cannot be run. COMMAND gets SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 and SIGUSR2. A line on stderr at the end gives
/// bytes and packets, drops by cause, the longest queue, how late packets were delivered, and how long programs waited for a CPU; where
/// the 99th percentile of lateness is above its bound (5 % of the time that a full packet takes in the faster direction, and at least
/// 0.5 ms), packets were lost outside the link model, or the waits may have made the whole more than 5 % longer, the line says
/// INVALID. Where no packet crossed the link, it says that.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile link wpt/3g -- curl http://host.lastmile:8000/   a local service
  lastmile link 'wpt/3g+loss=1%' --capture caps -- make it  keep the packets
  lastmile link wpt/cable --allow-net -- git clone URL      the Internet too
  lastmile link wpt/3g -- bash                              to try things in
  lastmile link wpt/3g --listen 8080 --to localhost:80      a port, no command

`lastmile profiles list` names the links.")]
pub(crate) struct LinkArgs {
    /// The link: a profile, with or without changes: wpt/3g, 'wpt/3g+loss=1%'
    #[arg(value_name = "PROFILE")]
    pub(crate) link: String,

    /// Relay connections instead of running a command: accept them here, on 127.0.0.1 where no address is given
    ///
    /// Each crosses the link and is relayed to the host and port of --to, until Ctrl-C or SIGTERM. Exit code 0.
    #[arg(long, value_name = "[ADDRESS:]PORT", requires = "to", conflicts_with = "command")]
    pub(crate) listen: Option<Listen>,

    /// The destination of --listen's connections, as this machine reaches it
    #[arg(long, value_name = "HOST:PORT", requires = "listen", conflicts_with = "command")]
    pub(crate) to: Option<Remote>,

    /// Write packets to near.pcapng and far.pcapng (sent and received at each end) and drops.pcapng (with causes) in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) capture: Option<PathBuf>,

    /// The root of the link's random choices, from 0 to 2^64 - 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The congestion control at both ends, by the kernel's name: cubic, bbr, reno
    #[arg(long, value_name = "NAME", default_value = "cubic")]
    pub(crate) congestion_control: String,

    /// Let COMMAND reach the outside network too, over the link
    ///
    /// This carries TCP to any IPv4 address, and DNS queries to this machine's name servers. No other UDP (so no QUIC), no IPv6,
    /// and no ICMP: a ping is answered at the link's far end. A connection that is refused outside is first established, and then reset.
    #[arg(long, conflicts_with = "listen")]
    pub(crate) allow_net: bool,

    /// Print no summary at the end
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// The format of the last line on stderr
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", conflicts_with = "quiet")]
    pub(crate) format: SummaryFormat,

    /// The command to run, with its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "listen")]
    pub(crate) command: Vec<OsString>,
}

/// The format of a summary in one line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormat {
    /// For a person
    #[default]
    Text,
    /// One JSON object, by its schema
    Json,
}

/// A host, by name or address, and a port: `localhost:80`, `[::1]:80`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// The address that accepts connections: `8080` on the loopback address, or `192.168.1.5:8080`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listen(pub(crate) SocketAddr);

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let port = text
            .parse()
            .map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
        port.or_else(|_| text.parse()).map(Self).map_err(|_| {
            "it is neither a port, like 8080, nor an address with a port, like 192.168.1.5:8080".to_owned()
        })
    }
}

impl FromStr for Remote {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || "it is not a host with a port, like localhost:80 or [::1]:80".to_owned();
        let (host, port) = text.rsplit_once(':').ok_or_else(wanted)?;
        let port = port.parse().map_err(|_| wanted())?;
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = bracketed.unwrap_or(host);
        if host.is_empty() || port == 0 || (host.contains(':') && bracketed.is_none()) {
            return Err(wanted());
        }
        Ok(Self {
            host: host.to_owned(),
            port,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_the_loopback_address() {
        let listen = |text: &str| text.parse::<Listen>().map(|listen| listen.0.to_string());
        assert_eq!(listen("8080"), Ok("127.0.0.1:8080".to_owned()));
        assert_eq!(listen("0.0.0.0:80"), Ok("0.0.0.0:80".to_owned()));
        assert_eq!(listen("[::1]:80"), Ok("[::1]:80".to_owned()));
        assert!(listen("localhost:80").is_err() && listen("80000").is_err() && listen("").is_err());
    }

    #[test]
    fn a_remote_is_a_host_with_a_port() {
        let remote = |text: &str| text.parse::<Remote>().map(|remote| (remote.host, remote.port));
        assert_eq!(remote("localhost:80"), Ok(("localhost".to_owned(), 80)));
        assert_eq!(remote("[::1]:80"), Ok(("::1".to_owned(), 80)));
        for wrong in ["localhost", ":80", "a:0", "::1:80", "a:b", "a:70000"] {
            assert!(remote(wrong).is_err(), "{wrong}");
        }
    }
}
