//! The server to probe, as a `ws://` URL.

use std::fmt;
use std::io;
use std::net::{Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::str::FromStr;

/// The address of a WebSocket server without TLS, and the path to request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    host: String,
    port: u16,
    path: String,
}

/// Text that is not a `ws://` URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not a WebSocket server's URL: {problem}")]
pub struct TargetError {
    found: String,
    problem: &'static str,
}

/// The port of `http`, which is also that of `ws` (RFC 6455 section 3).
const DEFAULT_PORT: u16 = 80;

impl Target {
    /// The host and its port, as in a `Host` field.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The path with its query.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The addresses that its host resolves to.
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
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(refused(
                "it contains a space, a control character or a character outside ASCII; percent-encode it (%20), and write a host name as xn--",
            ));
        }
        let rest = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("ws") => rest,
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("wss") => {
                return Err(refused(
                    "conform does not speak TLS; probe the plain-text port behind the TLS proxy",
                ));
            }
            Some(_) | None => return Err(refused("write it like ws://127.0.0.1:9001/path")),
        };
        let (authority, path) = match rest.find(['/', '?']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        if path.contains('#') || authority.contains(['#', '@']) {
            return Err(refused("a ws:// URL has neither a fragment (#) nor a user (@)"));
        }
        let after_brackets = authority.rfind(']').map_or(0, |at| at + 1);
        let (host, port) = match authority[after_brackets..].rfind(':') {
            Some(at) => {
                let digits = &authority[after_brackets + at + 1..];
                // `parse` accepts a sign, which a port cannot have.
                let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
                let port = digits.parse().ok().filter(|port| is_number && *port > 0);
                let port = port.ok_or_else(|| refused("its port must be a number from 1 to 65535"))?;
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
                "its host must be a name, an IPv4 address, or an IPv6 address in brackets like [::1]",
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
            ("ws://h/a b", "space"),
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
