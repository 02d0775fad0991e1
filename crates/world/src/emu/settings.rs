//! How is the kernel of a host set? As far as a namespace has settings of its own; what is set is what is told.

use std::fs;
use std::io;

/// What a host's kernel is told. The default is what the simulated TCP is held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSpec {
    /// Its congestion control, by the name that the kernel gives it: "cubic", "bbr", "reno".
    pub congestion_control: String,
    /// Segments that may be sent before the first acknowledgement; the kernel's own (10) where none is named.
    pub initial_window: Option<u32>,
    /// Whether Nagle's algorithm is off for the sockets of our own programs (`TCP_NODELAY`).
    pub no_delay: bool,
}

impl Default for HostSpec {
    fn default() -> Self {
        Self {
            congestion_control: "cubic".to_owned(),
            initial_window: None,
            no_delay: false,
        }
    }
}

/// What is written to the settings of every namespace, and why.
///
/// - `tcp_no_metrics_save`: no connection learns from an earlier one, so that repeats are alike.
/// - `disable_ipv6`: neighbour discovery would put packets on the link that no program sent.
const SETTINGS: [(&str, &str); 2] = [("ipv4/tcp_no_metrics_save", "1"), ("ipv6/conf/all/disable_ipv6", "1")];

/// Sets the namespace that the calling thread is in.
///
/// # Errors
/// When a setting that the kernel has cannot be written.
pub(super) fn apply() -> io::Result<()> {
    for (name, value) in SETTINGS {
        let path = format!("/proc/sys/net/{name}");
        match fs::write(&path, value) {
            // A kernel without IPv6 has no need to be told.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(io::Error::new(
                    error.kind(),
                    format!("{path} cannot be set to {value}: {error}"),
                ));
            }
            Ok(()) => {}
        }
    }
    Ok(())
}

/// Segments that TCP has sent again in the namespace that the calling thread is in (`RetransSegs`, RFC 4022), so far.
pub(super) fn retransmissions() -> u64 {
    let counters = fs::read_to_string("/proc/thread-self/net/snmp").unwrap_or_default();
    let mut tcp = counters.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (Some(names), Some(values)) = (tcp.next(), tcp.next()) else {
        return 0;
    };
    let mut named = names.split_whitespace().zip(values.split_whitespace());
    named
        .find(|(name, _)| *name == "RetransSegs")
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(0)
}
