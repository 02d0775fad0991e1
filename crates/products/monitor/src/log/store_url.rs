//! Where a log is that another machine keeps.

use std::fmt;
use std::str::FromStr;

/// A stream of a NATS server with JetStream: `nats://HOST[:PORT][/STREAM]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreUrl {
    /// The server's URL, with the user and the password where it has them.
    pub server: String,
    /// The stream's name.
    pub stream: String,
}

/// The stream where the URL names none.
const STREAM: &str = "LASTMILE";

impl FromStr for StoreUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = "a store is nats://HOST, nats://HOST:PORT or nats://HOST:PORT/STREAM (tls:// for TLS)";
        let (scheme, rest) = text.split_once("://").ok_or(wanted)?;
        if !matches!(scheme, "nats" | "tls") {
            return Err(format!("{scheme}:// is no store that is known: {wanted}"));
        }
        let (host, stream) = rest.split_once('/').unwrap_or((rest, ""));
        if host.is_empty() {
            return Err(wanted.to_owned());
        }
        let stream = if stream.is_empty() { STREAM } else { stream };
        if let Some(wrong) = stream
            .chars()
            .find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))
        {
            return Err(format!(
                "{wrong:?} stands in the stream's name {stream:?}, which may have letters, digits, _ and -"
            ));
        }
        Ok(Self {
            server: format!("{scheme}://{host}"),
            stream: stream.to_owned(),
        })
    }
}

impl fmt::Display for StoreUrl {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, host) = self.server.split_once("://").expect("it was read so");
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        write!(f, "{scheme}://{host}/{}", self.stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_read_and_written_without_its_password() {
        let url: StoreUrl = "nats://me:secret@hub:4223/EVENTS".parse().unwrap();
        assert_eq!(
            (url.server.as_str(), url.stream.as_str()),
            ("nats://me:secret@hub:4223", "EVENTS")
        );
        assert_eq!(url.to_string(), "nats://hub:4223/EVENTS");
        assert_eq!("nats://hub".parse::<StoreUrl>().unwrap().stream, "LASTMILE");
        for wrong in ["hub", "http://hub", "nats://", "nats://hub/a.b"] {
            assert!(wrong.parse::<StoreUrl>().is_err(), "{wrong}");
        }
    }
}
