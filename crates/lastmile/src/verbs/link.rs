//! `lastmile link`: a command, or connections to a port, behind a link.

#[cfg(target_os = "linux")]
mod crossing;

use crate::cli::link::LinkArgs;
use crate::exit::Exit;
use crate::links;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// What crosses the link.
pub(crate) enum Traffic<'a> {
    /// What a command sends and receives.
    Command,
    /// Connections to an address of this machine, for a host beyond the link.
    Connections { listen: SocketAddr, to: &'a Remote },
}

/// A host, by name or address, and a port: `localhost:80`, `[::1]:80`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// Where connections come in: `8080` on the loopback address, or `192.168.1.5:8080`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listen(pub(crate) SocketAddr);

/// Runs a command behind a link, or carries connections over one.
///
/// # Errors
/// When the link is not known, or this machine has no network namespaces for this user.
pub(crate) fn link(args: &LinkArgs) -> anyhow::Result<Exit> {
    let link = links::link(&args.link)?;
    let traffic = match (&args.listen, &args.to) {
        (Some(listen), Some(to)) => Traffic::Connections { listen: listen.0, to },
        _ => Traffic::Command,
    };
    #[cfg(target_os = "linux")]
    return crossing::cross(args, &link, &traffic);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (link, traffic);
        Err(crate::exit::Unable(
            "a link that commands can be put behind is made of network namespaces, which Linux alone has".to_owned(),
        )
        .into())
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let port = text
            .parse()
            .map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
        port.or_else(|_| text.parse())
            .map(Self)
            .map_err(|_| "it is neither a port, like 8080, nor an address with one, like 192.168.1.5:8080".to_owned())
    }
}

impl FromStr for Remote {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || "it is no host with a port, like localhost:80 or [::1]:80".to_owned();
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
