//! Who serves on a site: our own server, or a real one?
//!
//! A real one is started inside the server's host with the one file that it is to serve, answers some requests that do not count, and
//! ends with the site.

use crate::observation::Failure;
use crate::settings::ServerName;
use crate::site::{Laboratory, Site};
use lastmile_payload::codec::CodecSpec;
use lastmile_payload::message_codec::MessageCodec;
use std::future::Future;
use std::net::SocketAddrV4;
use std::time::Duration;

/// Who serves on a site, for as long as it stands.
pub(super) enum Served {
    /// Our own server, a new one for each repeat.
    ByUs,
    /// A peer that runs inside the server's host.
    #[cfg(target_os = "linux")]
    ByPeer(running::Peer),
}

/// What a real server is told to do.
pub(super) struct Service {
    pub(super) operation: &'static str,
    /// The name of the file that it serves, and what is in it.
    pub(super) file: (&'static str, Vec<u8>),
    pub(super) media_type: &'static str,
    pub(super) compression: CodecSpec,
    pub(super) message_compression: MessageCodec,
}

impl Default for Service {
    /// Nothing in particular, uncompressed.
    fn default() -> Self {
        Self {
            operation: "",
            file: ("", Vec::new()),
            media_type: "application/octet-stream",
            compression: CodecSpec::IDENTITY,
            message_compression: MessageCodec::Identity,
        }
    }
}

impl Served {
    /// Starts `server` on a site. A real one does as `service` says; `warm_up` is told where it listens, and has it answer what does
    /// not count.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(unused_variables, reason = "real servers run on Linux alone")
    )]
    pub(super) fn start<W: Laboratory, F: Future<Output = Result<(), Failure>> + 'static>(
        site: &Site<W>,
        server: &ServerName,
        service: impl FnOnce() -> Result<Service, Failure>,
        warm_up: impl FnOnce(SocketAddrV4) -> F,
    ) -> Result<Self, Failure> {
        if server.is_ours() {
            return Ok(Self::ByUs);
        }
        #[cfg(target_os = "linux")]
        return running::Peer::start(site, server, service()?, warm_up).map(Self::ByPeer);
        #[cfg(not(target_os = "linux"))]
        Err(Failure::new("real servers run on Linux alone"))
    }

    /// The port that a real one listens on.
    pub(super) const fn port(&self) -> Option<u16> {
        match self {
            Self::ByUs => None,
            #[cfg(target_os = "linux")]
            Self::ByPeer(_) => Some(running::PORT),
        }
    }

    /// The CPU time that a real one has had so far.
    pub(super) fn cpu_time(&self) -> Result<Option<Duration>, Failure> {
        match self {
            Self::ByUs => Ok(None),
            #[cfg(target_os = "linux")]
            Self::ByPeer(peer) => peer.cpu_time().map(Some),
        }
    }

    /// The CPU time that serving took since a real server had had `before`; of ours it is what the world has metered, `metered`.
    pub(super) fn cpu_time_since(&self, before: Option<Duration>, metered: Duration) -> Result<Duration, Failure> {
        let now = self.cpu_time()?;
        Ok(now.map_or(metered, |now| now.saturating_sub(before.unwrap_or_default())))
    }
}

/// Whether a server can be had on this machine; otherwise what is missing.
pub(super) fn is_there(server: &ServerName) -> Result<(), String> {
    if server.is_ours() {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    return running::is_there(server);
    #[cfg(not(target_os = "linux"))]
    Err("real servers run on Linux alone".to_owned())
}

#[cfg(target_os = "linux")]
mod running {
    use super::{Duration, Failure, Future, Laboratory, ServerName, Service, Site, SocketAddrV4};
    use crate::peer::{Inputs, PeerSpec, Server};
    use lastmile_units::Bytes;
    use lastmile_world::Host as _;
    use std::fs;
    use tempfile::TempDir;

    /// Where peers listen: ports below 1024 are not for everyone.
    pub(super) const PORT: u16 = 8080;
    /// Warming up goes over the server's own loopback, and takes seconds; after so long it has got stuck. Our own choice.
    const WARM_UP_LIMIT: Duration = Duration::from_secs(10 * 60);

    /// A real server, with the folders that are its own.
    pub(in crate::experiment) struct Peer {
        // It is stopped before its folders go.
        server: Server,
        _folders: TempDir,
    }

    pub(super) fn is_there(server: &ServerName) -> Result<(), String> {
        let peer = PeerSpec::named(server.as_str()).map_err(|error| error.to_string())?;
        peer.is_installed().map(drop).map_err(|missing| missing.to_string())
    }

    impl Peer {
        pub(super) fn start<W: Laboratory, F: Future<Output = Result<(), Failure>> + 'static>(
            site: &Site<W>,
            server: &ServerName,
            service: Service,
            warm_up: impl FnOnce(SocketAddrV4) -> F,
        ) -> Result<Self, Failure> {
            let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
            let folders = TempDir::with_prefix("lastmile-").map_err(|error| failed(&error))?;
            let (state, data) = (folders.path().join("state"), folders.path().join("data"));
            let (file, content) = service.file;
            fs::create_dir(&state)
                .and_then(|()| fs::create_dir(&data))
                .and_then(|()| fs::write(data.join(file), content))
                .map_err(|error| failed(&error))?;
            let peer = PeerSpec::named(server.as_str()).map_err(|error| failed(&error))?;
            let address = site.server.address(PORT);
            let inputs = Inputs {
                host: *address.ip(),
                port: PORT,
                compression: service.compression,
                message_compression: service.message_compression,
                media_type: service.media_type.to_owned(),
                // As small as it can be told to: what is to be compressed is, whatever its size.
                minimum_size: peer.server.as_ref().map_or(Bytes::ZERO, |server| server.minimum_size),
                ..Inputs::new(service.operation, data, state)
            };
            // A process is in the network namespace of the thread that starts it.
            let started = site
                .world
                .inside(&site.server, || peer.start(&inputs, &|_command| Ok(())))?;
            let peer = Self {
                server: started.map_err(|error| failed(&error))?,
                _folders: folders,
            };
            let warmed_up = site.world.run_for(WARM_UP_LIMIT, warm_up(address));
            warmed_up.map_err(|halt| failed(&halt))??;
            Ok(peer)
        }

        pub(super) fn cpu_time(&self) -> Result<Duration, Failure> {
            self.server
                .cpu_time()
                .map_err(|error| Failure::new(format!("the server's CPU time is not known: {error}")))
        }
    }
}
