//! How a page is loaded: the protocol, its encryption and connections, and the CPUs on either side.

use lastmile_report::connections::Connections;
use lastmile_testbed::http::Version;
use lastmile_testbed::invalid_option::{InvalidOption, check_slow_down};

/// How a page is loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadOptions {
    /// The protocol of every host: HTTP/1.1 over six connections per host, as in browsers, or HTTP/2 over one. None gives each host the
    /// recorded one.
    pub protocol: Option<Version>,
    /// Whether connections are encrypted.
    pub tls: bool,
    /// Whether they are open before the first request, with grown congestion windows.
    pub connections: Connections,
    /// How many times slower the client's CPU is than the cost table's machine.
    pub slow_client: f64,
    /// The servers; each host of the page has its own.
    pub server: ServerSpec,
}

/// A server's CPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServerSpec {
    /// How many responses it compresses at the same time.
    pub cores: u16,
    /// How many times slower it is than the cost table's machine.
    pub slow_down: f64,
    /// The share that other requests keep busy, from 0 to below 1.
    pub load: f64,
}

impl Default for LoadOptions {
    /// The recorded protocols over TLS, cold. The client is 4 times slower, as Lighthouse models a mid-range phone on a desktop
    /// (`cpuSlowdownMultiplier`). The server has 4 cores, half busy: our own choice.
    fn default() -> Self {
        Self {
            protocol: None,
            tls: true,
            connections: Connections::Cold,
            slow_client: 4.0,
            server: ServerSpec {
                cores: 4,
                slow_down: 1.0,
                load: 0.5,
            },
        }
    }
}

impl LoadOptions {
    /// The conditions of a real browser's loads in the emulated world, for loads to compare with them: cold connections to servers that are
    /// not busy.
    #[must_use]
    pub fn beside_browser(protocol: Option<Version>, tls: bool, slow_client: f64) -> Self {
        let usual = Self::default();
        Self {
            protocol,
            tls,
            connections: Connections::Cold,
            slow_client,
            server: ServerSpec {
                slow_down: 1.0,
                load: 0.0,
                ..usual.server
            },
        }
    }

    /// Refuses what no machine or server has.
    ///
    /// # Errors
    /// Names the option, its value and the remedy.
    pub fn check(&self) -> Result<(), InvalidOption> {
        check_slow_down("the client's slow-down", self.slow_client)?;
        check_slow_down("the server's slow-down", self.server.slow_down)?;
        if self.server.cores == 0 {
            return Err(InvalidOption::new(
                "the server's number of cores",
                "0".to_owned(),
                "give at least 1",
            ));
        }
        if !(0.0..1.0).contains(&self.server.load) {
            return Err(InvalidOption::new(
                "the server's load",
                self.server.load.to_string(),
                "give a share from 0 to below 1, like 0.5",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_beside_a_browser_have_its_conditions() {
        let options = LoadOptions::beside_browser(Some(Version::H2), false, 2.0);
        assert!(!options.tls);
        assert_eq!((options.slow_client, options.server.load), (2.0, 0.0));
        assert_eq!(options.protocol, Some(Version::H2));
    }
}
