//! Sets the kernel parameters of a host, as far as a network namespace has its own, and reads its TCP counters.

use std::fs;
use std::io;

/// The settings of a host's kernel. The simulated TCP is compared with the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSpec {
    /// Its congestion control, by the name that the kernel gives it: "cubic", "bbr", "reno".
    pub congestion_control: String,
    /// The initial congestion window in segments; none is the kernel's default (10).
    pub initial_window: Option<u32>,
    /// Whether our own programs turn Nagle's algorithm off (`TCP_NODELAY`).
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

/// The kernel parameters of every namespace, and the reasons.
///
/// - `tcp_no_metrics_save`: no connection learns from an earlier one, so that repeats are alike.
/// - `disable_ipv6`: neighbour discovery would put packets on the link that no program sent.
const SETTINGS: [(&str, &str); 2] = [("ipv4/tcp_no_metrics_save", "1"), ("ipv6/conf/all/disable_ipv6", "1")];

/// The further kernel parameters of a router's namespace, in this order, and the reasons (Linux
/// Documentation/networking/ip-sysctl.rst).
///
/// - `ip_forward`: the kernel forwards. Writing it sets others, so it comes first.
/// - `send_redirects`: packets leave by the interface that they came by, and the kernel would redirect senders to a shorter path.
///   An interface sends them where either `all` or its own setting, which is made from `default`, is on.
/// - `rp_filter`: no packet is dropped for the interface that it came by, whatever the machine has set for new namespaces.
const SETTINGS_OF_ROUTERS: [(&str, &str); 5] = [
    ("ipv4/ip_forward", "1"),
    ("ipv4/conf/all/send_redirects", "0"),
    ("ipv4/conf/default/send_redirects", "0"),
    ("ipv4/conf/all/rp_filter", "0"),
    ("ipv4/conf/default/rp_filter", "0"),
];

/// Sets the parameters of the calling thread's namespace, which must not have our interface yet.
///
/// # Errors
/// When a setting that the kernel has cannot be written.
pub(super) fn apply(is_router: bool) -> io::Result<()> {
    let forwarding: &[_] = if is_router {
        &SETTINGS_OF_ROUTERS
    } else {
        // On some machines new namespaces inherit the settings of the first (`net.core.devconf_inherit_init_net`).
        &[("ipv4/ip_forward", "0")]
    };
    for (name, value) in SETTINGS.iter().chain(forwarding) {
        let path = format!("/proc/sys/net/{name}");
        match fs::write(&path, value) {
            // A kernel without IPv6 does not have the parameter.
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

/// The number of segments that TCP has retransmitted so far in the calling thread's namespace (`RetransSegs`, RFC 4022).
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
