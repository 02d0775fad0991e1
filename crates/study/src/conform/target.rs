//! Which server? What `ws://` leads to.

use std::fmt;
use std::io;
use std::net::{Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::str::FromStr;

/// A WebSocket server in clear, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    host: String,
    port: u16,
    path: String,
}

/// Text that names no server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no WebSocket server: {problem}")]
pub struct TargetError {
    found: String,
    problem: &'static str,
}

/// That of `http`, which `ws` shares (RFC 6455 section 3).
const DEFAULT_PORT: u16 = 80;

impl Target {
    /// The host and its port, as a `Host` field has them.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The path with its query.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Where it may be reached.
    pub(super) fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        Ok((host, self.port).to_socket_addrs()?.collect())
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let refused = |problem| TargetError {
            found: text.to_owned(),
            problem,
        };
        if !text.bytes().all(|octet| octet.is_ascii_graphic()) {
            return Err(refused(
                "it has a blank, a control character or one beyond ASCII; write its octets like %20, and a host's name as xn--",
            ));
        }
        let rest = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("ws") => rest,
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("wss") => {
                return Err(refused(
                    "TLS is not spoken here; probe it where it is in clear, behind its TLS proxy",
                ));
            }
            Some(_) | None => return Err(refused("write it like ws://127.0.0.1:9001/path")),
        };
        let (authority, path) = match rest.find(['/', '?']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        if path.contains('#') || authority.contains(['#', '@']) {
            return Err(refused("a ws:// address has neither a fragment (#) nor a user (@)"));
        }
        let after_brackets = authority.rfind(']').map_or(0, |at| at + 1);
        let (host, port) = match authority[after_brackets..].rfind(':') {
            Some(at) => {
                let digits = &authority[after_brackets + at + 1..];
                // A number parses with a sign before it, which no port has.
                let is_number = digits.bytes().all(|octet| octet.is_ascii_digit());
                let port = digits.parse().ok().filter(|port| is_number && *port > 0);
                let port = port.ok_or_else(|| refused("its port is a number from 1 to 65535"))?;
                (&authority[..after_brackets + at], port)
            }
            None => (authority, DEFAULT_PORT),
        };
        if host.is_empty() {
            return Err(refused("it names no host; write it like ws://127.0.0.1:9001/path"));
        }
        let within_brackets = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let is_host = match within_brackets {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => !host.contains(['[', ']', ':']),
        };
        if !is_host {
            return Err(refused(
                "its host is a name, an IPv4 address, or an IPv6 address in brackets like [::1]",
            ));
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self {
            host: host.to_owned(),
            port,
            path: format!("{slash}{path}"),
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ws://{}{}", self.authority(), self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_the_usual() {
        for (written, meant) in [
            ("ws://localhost", "ws://localhost:80/"),
            ("ws://localhost:9001", "ws://localhost:9001/"),
            ("ws://h:9001/a/b?c=d", "ws://h:9001/a/b?c=d"),
            ("ws://h?c=d", "ws://h:80/?c=d"),
            ("ws://[::1]:9001/x", "ws://[::1]:9001/x"),
            ("ws://[::1]", "ws://[::1]:80/"),
            ("WS://h:9001/%20", "ws://h:9001/%20"),
        ] {
            assert_eq!(written.parse::<Target>().unwrap().to_string(), meant);
        }
    }

    #[test]
    fn what_is_no_server_is_refused_with_what_would_be_one() {
        for (written, said) in [
            ("localhost:9001", "write it like"),
            ("http://localhost", "write it like"),
            ("wss://localhost", "TLS"),
            ("ws://", "no host"),
            ("ws://:80", "no host"),
            ("ws://h:0", "1 to 65535"),
            ("ws://h:99999", "1 to 65535"),
            ("ws://h/#x", "fragment"),
            ("ws://u@h/", "user"),
            ("ws://h/a b", "blank"),
            ("ws://h/a\r\nX: y", "control"),
            ("ws://h:+1/", "1 to 65535"),
            ("ws://h:/", "1 to 65535"),
            ("ws://[::1", "brackets"),
            ("ws://[::1]x", "brackets"),
            ("ws://::1/", "brackets"),
            ("ws://a:b:9001/", "brackets"),
        ] {
            let error = written.parse::<Target>().unwrap_err().to_string();
            assert!(error.contains(said), "{written}: {error}");
        }
    }
}
