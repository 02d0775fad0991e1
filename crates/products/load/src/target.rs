//! The URL of a server under load: what can be asked over it, and whether it may be loaded without asking.

use http::Uri;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::str::FromStr;

/// `http://HOST[:PORT]/PATH`, or `https`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    uri: Uri,
    host: String,
    port: u16,
}

/// A URL that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} cannot be loaded: {problem}; write it like http://127.0.0.1:8000/path")]
pub struct TargetError {
    found: String,
    problem: String,
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let refused = |problem: &str| TargetError {
            found: text.to_owned(),
            problem: problem.to_owned(),
        };
        let uri: Uri = text.parse().map_err(|_| refused("it is no URL"))?;
        match uri.scheme_str() {
            Some("http" | "https") => {}
            Some(_) => return Err(refused("its scheme is neither http nor https")),
            None => return Err(refused("its scheme is missing")),
        }
        let authority = uri.authority().ok_or_else(|| refused("its host is missing"))?;
        if authority.as_str().contains('@') {
            return Err(refused("it has a user name; give an Authorization header instead"));
        }
        let host = authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        if host.is_empty() {
            return Err(refused("its host is missing"));
        }
        let default = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        let port = authority.port_u16().unwrap_or(default);
        Ok(Self { uri, host, port })
    }
}

impl Target {
    /// The host, by name or address, as it was written, without the brackets of an IPv6 address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Whether it is reached over TLS.
    pub fn is_secure(&self) -> bool {
        self.uri.scheme_str() == Some("https")
    }

    /// The host with its port, as in the field `Host`.
    pub fn authority(&self) -> &str {
        self.uri.authority().map_or("", http::uri::Authority::as_str)
    }

    /// The path with its query.
    pub fn path(&self) -> &str {
        self.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str)
    }

    /// The first address of the host.
    ///
    /// # Errors
    /// When the name is unknown.
    pub fn resolve(&self) -> Result<SocketAddr, TargetError> {
        let refused = |problem: String| TargetError {
            found: self.to_string(),
            problem,
        };
        let mut addresses = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(|error| refused(format!("its host is unknown ({error})")))?;
        addresses
            .next()
            .ok_or_else(|| refused("its host has no address".to_owned()))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uri.fmt(f)
    }
}

/// Whether an address is on this machine or in a private network: loopback, RFC 1918, link-local (RFC 3927, RFC 4291), unique local (RFC 4193).
pub fn is_private(address: IpAddr) -> bool {
    let is_private_v4 = |address: Ipv4Addr| address.is_loopback() || address.is_private() || address.is_link_local();
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => {
            address == Ipv6Addr::LOCALHOST
                || address.is_unique_local()
                || address.is_unicast_link_local()
                || address.to_ipv4_mapped().is_some_and(is_private_v4)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_host_a_port_and_a_path() {
        let target: Target = "http://[::1]:8080/a?b=c".parse().unwrap();
        assert_eq!((target.host(), target.port()), ("::1", 8080));
        assert_eq!((target.authority(), target.path()), ("[::1]:8080", "/a?b=c"));
        let target: Target = "http://localhost".parse().unwrap();
        assert_eq!((target.port(), target.path()), (80, "/"));
    }

    #[test]
    fn another_url_is_refused_with_a_remedy() {
        for (url, problem) in [
            ("ftp://localhost/", "scheme"),
            ("localhost:80", "it is no URL"),
            ("/path", "scheme is missing"),
            ("http://a:b@localhost/", "Authorization"),
        ] {
            let refused = url.parse::<Target>().unwrap_err().to_string();
            assert!(
                (refused.contains(problem) || refused.contains("scheme")) && refused.contains("write it like"),
                "{refused}"
            );
        }
    }

    #[test]
    fn what_is_private_is_known() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.0.1",
            "::1",
            "fd00::1",
            "fe80::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(is_private(private.parse().unwrap()), "{private}");
        }
        for public in [
            "8.8.8.8",
            "172.32.0.1",
            "2001:4860::8888",
            "0.0.0.0",
            "::",
            "::ffff:8.8.8.8",
        ] {
            assert!(!is_private(public.parse().unwrap()), "{public}");
        }
    }
}
