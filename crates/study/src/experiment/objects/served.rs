//! Who sends the objects: our own server and filter, or a real one?

use super::{OBJECT_STREAM, PORT};
use crate::experiment::laboratory::Laboratory;
use crate::experiment::plan::Objects;
use crate::experiment::site::Site;
use crate::observation::Failure;
use lastmile_payload::workload::ObjectStream;
use std::time::Duration;

/// Who serves on a site, for as long as it stands.
pub(in crate::experiment) enum Served {
    /// Our own server, a new one for each repeat.
    ByUs,
    /// A peer that runs inside the server's host.
    #[cfg(target_os = "linux")]
    ByPeer(running::Peer),
}

impl Served {
    /// Starts whoever `objects` asks for, with `stream` to serve.
    pub(in crate::experiment) fn start<W: Laboratory>(
        site: &Site<W>,
        objects: &Objects,
        stream: &ObjectStream,
    ) -> Result<Self, Failure> {
        if objects.server.is_ours() {
            return Ok(Self::ByUs);
        }
        #[cfg(target_os = "linux")]
        return running::Peer::start(site, objects, stream).map(Self::ByPeer);
        #[cfg(not(target_os = "linux"))]
        Err(Failure::new("real servers run on Linux alone"))
    }

    /// The CPU time that a peer has had; none of our own server, which the world meters.
    pub(super) fn cpu_time(&self) -> Result<Option<Duration>, Failure> {
        match self {
            Self::ByUs => Ok(None),
            #[cfg(target_os = "linux")]
            Self::ByPeer(peer) => peer.cpu_time().map(Some),
        }
    }
}

#[cfg(target_os = "linux")]
mod running {
    use super::{Failure, Laboratory, OBJECT_STREAM, ObjectStream, Objects, PORT, Site};
    use crate::experiment::objects::client;
    use crate::peer::{Inputs, PeerSpec, Server};
    use lastmile_units::Bytes;
    use lastmile_world::Host as _;
    use std::fs;
    use std::time::Duration;
    use tempfile::TempDir;

    /// A real server, with the folders that are its own.
    pub(in crate::experiment) struct Peer {
        // It is stopped before its folders go.
        server: Server,
        _folders: TempDir,
    }

    impl Peer {
        pub(super) fn start<W: Laboratory>(
            site: &Site<W>,
            objects: &Objects,
            stream: &ObjectStream,
        ) -> Result<Self, Failure> {
            let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
            let folders = TempDir::with_prefix("lastmile-").map_err(|error| failed(&error))?;
            let (state, data) = (folders.path().join("state"), folders.path().join("data"));
            let file = data.join(client::PATH.trim_start_matches('/'));
            fs::create_dir(&state)
                .and_then(|()| fs::create_dir(&data))
                .and_then(|()| fs::write(&file, stream.concat()))
                .map_err(|error| failed(&error))?;
            let peer = PeerSpec::named(objects.server.as_str()).map_err(|error| failed(&error))?;
            let inputs = Inputs {
                host: *site.server.address(PORT).ip(),
                port: PORT,
                operation: "get".to_owned(),
                state,
                data,
                compression: objects.codec,
                media_type: OBJECT_STREAM.to_owned(),
                minimum_size: Bytes::ZERO,
            };
            // A process is in the network namespace of the thread that starts it.
            let started = site
                .world
                .inside(&site.server, || peer.start(&inputs, &|_command| Ok(())))?;
            Ok(Self {
                server: started.map_err(|error| failed(&error))?,
                _folders: folders,
            })
        }

        pub(super) fn cpu_time(&self) -> Result<Duration, Failure> {
            self.server
                .cpu_time()
                .map_err(|error| Failure::new(format!("the server's CPU time is not known: {error}")))
        }
    }
}
