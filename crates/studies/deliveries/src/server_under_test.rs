//! The server under test: our own, or a real one.
//!
//! A real server is started inside the server's host with the one file that it serves, answers some warm-up requests, and ends with the
//! testbed.

use lastmile_study::cell::Expanded;
use lastmile_study::settings::ServerName;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::testbed::{Testbed, TestbedWorld};
use std::future::Future;
use std::net::SocketAddrV4;
use std::time::Duration;

/// The server of a testbed, for as long as that exists.
pub(super) enum ServerUnderTest {
    /// Our own server, a new one for each repeat.
    Ours,
    /// A peer that runs inside the server's host.
    #[cfg(target_os = "linux")]
    Real(running::Peer),
}

/// The inputs of a real server.
pub(super) struct ServerJob {
    pub(super) operation: &'static str,
    /// The name of the file that it serves, and its content.
    pub(super) file: (&'static str, Vec<u8>),
    /// Its options by name, where they differ from its defaults.
    pub(super) options: Vec<(&'static str, String)>,
}

impl ServerUnderTest {
    /// Starts `server` on a host. `service` gives a real server's inputs; `warm_up` gets its address, and sends it the warm-up requests.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(unused_variables, reason = "real servers run on Linux only")
    )]
    pub(super) fn start<W: TestbedWorld, F: Future<Output = Result<(), Failure>> + 'static>(
        testbed: &Testbed<W>,
        host: &W::Host,
        server: &ServerName,
        service: impl FnOnce() -> Result<ServerJob, Failure>,
        warm_up: impl FnOnce(SocketAddrV4) -> F,
    ) -> Result<Self, Failure> {
        if server.is_ours() {
            return Ok(Self::Ours);
        }
        #[cfg(target_os = "linux")]
        return running::Peer::start(testbed, host, server, service()?, warm_up).map(Self::Real);
        #[cfg(not(target_os = "linux"))]
        Err(Failure::new("real servers run on Linux only"))
    }

    /// The port that a real server listens on.
    pub(super) const fn port(&self) -> Option<u16> {
        match self {
            Self::Ours => None,
            #[cfg(target_os = "linux")]
            Self::Real(_) => Some(running::PORT),
        }
    }

    /// The CPU time that a real server has used so far.
    pub(super) fn cpu_time(&self) -> Result<Option<Duration>, Failure> {
        match self {
            Self::Ours => Ok(None),
            #[cfg(target_os = "linux")]
            Self::Real(peer) => peer.cpu_time().map(Some),
        }
    }

    /// The CPU time of serving: of a real server what it has used since `before`, of ours what the world has `metered`.
    pub(super) fn cpu_time_since(&self, before: Option<Duration>, metered: Duration) -> Result<Duration, Failure> {
        let now = self.cpu_time()?;
        Ok(now.map_or(metered, |now| now.saturating_sub(before.unwrap_or_default())))
    }
}

/// A server, or a generator, that a study asks for and that is not installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingServer {
    /// Which program.
    pub server: ServerName,
    /// What is missing, and the remedy.
    pub why: String,
}

/// The real servers and generators that a study asks for and this machine lacks.
pub fn missing_servers(expanded: &Expanded<'_>) -> Vec<MissingServer> {
    let mut missing: Vec<MissingServer> = Vec::new();
    let settings = expanded.cells.iter().map(|cell| &cell.settings);
    for server in settings.flat_map(|settings| settings.server.iter().chain(&settings.generator)) {
        if !missing.iter().any(|known| known.server == *server)
            && let Err(why) = is_there(server)
        {
            let server = server.clone();
            missing.push(MissingServer { server, why });
        }
    }
    missing
}

/// Whether a server is installed on this machine; otherwise what is missing.
fn is_there(server: &ServerName) -> Result<(), String> {
    if server.is_ours() {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    return running::is_there(server);
    #[cfg(not(target_os = "linux"))]
    Err("real servers run on Linux only".to_owned())
}

#[cfg(target_os = "linux")]
mod running {
    use super::{Duration, Failure, Future, ServerJob, ServerName, SocketAddrV4, Testbed, TestbedWorld};
    use lastmile_testbed::peer::{Inputs, PeerSpec, Server};
    use lastmile_world::Host as _;
    use std::fs;
    use tempfile::TempDir;

    /// The port of peers: ports below 1024 need a privilege.
    pub(super) const PORT: u16 = 8080;
    /// The timeout of the warm-up, which goes over the server's own loopback and takes seconds. Our own choice.
    const WARM_UP_LIMIT: Duration = Duration::from_secs(10 * 60);

    /// A real server, with its own folders.
    pub(crate) struct Peer {
        // Declared first, so that it is stopped before its folders are removed.
        server: Server,
        _folders: TempDir,
    }

    pub(super) fn is_there(server: &ServerName) -> Result<(), String> {
        let peer = PeerSpec::named(server.as_str()).map_err(|error| error.to_string())?;
        peer.is_installed().map(drop).map_err(|missing| missing.to_string())
    }

    impl Peer {
        pub(super) fn start<W: TestbedWorld, F: Future<Output = Result<(), Failure>> + 'static>(
            testbed: &Testbed<W>,
            host: &W::Host,
            server: &ServerName,
            service: ServerJob,
            warm_up: impl FnOnce(SocketAddrV4) -> F,
        ) -> Result<Self, Failure> {
            let folders = TempDir::with_prefix("lastmile-").map_err(Failure::from_error)?;
            let (state, data) = (folders.path().join("state"), folders.path().join("data"));
            let (file, content) = service.file;
            fs::create_dir(&state)
                .and_then(|()| fs::create_dir(&data))
                .and_then(|()| fs::write(data.join(file), content))
                .map_err(Failure::from_error)?;
            let peer = PeerSpec::named(server.as_str()).map_err(Failure::from_error)?;
            let address = host.address(PORT);
            let mut inputs = Inputs {
                host: *address.ip(),
                port: PORT,
                ..Inputs::new(service.operation, data, state)
            };
            for (option, value) in service.options {
                inputs = inputs.with(option, &value);
            }
            // A process inherits the network namespace of the thread that starts it.
            let started = testbed
                .world
                .in_namespace_of(host, || peer.start(&inputs, &|_command| Ok(())))?;
            let peer = Self {
                server: started.map_err(Failure::from_error)?,
                _folders: folders,
            };
            let warmed_up = testbed.world.run_for(WARM_UP_LIMIT, warm_up(address));
            warmed_up.map_err(Failure::from_error)??;
            Ok(peer)
        }

        pub(super) fn cpu_time(&self) -> Result<Duration, Failure> {
            self.server
                .cpu_time()
                .map_err(|error| Failure::new(format!("the server's CPU time cannot be read: {error}")))
        }
    }
}
