//! Who sends the objects: our own server and filter, or a real one?

use super::{OBJECT_STREAM, PORT};
use crate::experiment::plan::Objects;
use crate::observation::Failure;
use crate::settings::ServerName;
use crate::site::{Laboratory, Site};
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

    /// The port it listens on.
    pub(super) const fn port(&self) -> u16 {
        match self {
            Self::ByUs => PORT,
            #[cfg(target_os = "linux")]
            Self::ByPeer(_) => running::PORT,
        }
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

/// Whether a server can be had on this machine; otherwise what is missing.
pub(in crate::experiment) fn is_there(server: &ServerName) -> Result<(), String> {
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
    use super::{Failure, Laboratory, OBJECT_STREAM, ObjectStream, Objects, ServerName, Site};
    use crate::cost::CostTable;
    use crate::experiment::computing::Computing;
    use crate::experiment::objects::client;
    use crate::peer::{Inputs, PeerSpec, Server};
    use lastmile_units::{Bytes, Seed};
    use lastmile_world::Host as _;
    use std::fs;
    use std::rc::Rc;
    use std::time::Duration;
    use tempfile::TempDir;

    /// Where peers listen: ports below 1024 are not for everyone.
    pub(super) const PORT: u16 = 8080;
    /// How many requests are answered before those that count. Our own choice: beyond it, Java servers' CPU time a response no
    /// longer falls by much.
    const WARM_UP: usize = 300;

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
            // As small as it can be told to: the cases' responses are to be compressed whatever their size.
            let minimum_size = peer.server.as_ref().map_or(Bytes::ZERO, |server| server.minimum_size);
            let inputs = Inputs {
                host: *site.server.address(PORT).ip(),
                port: PORT,
                compression: objects.codec,
                media_type: OBJECT_STREAM.to_owned(),
                minimum_size,
                ..Inputs::new("get", data, state)
            };
            // A process is in the network namespace of the thread that starts it.
            let started = site
                .world
                .inside(&site.server, || peer.start(&inputs, &|_command| Ok(())))?;
            let peer = Self {
                server: started.map_err(|error| failed(&error))?,
                _folders: folders,
            };
            Self::warm_up(site, objects)?;
            Ok(peer)
        }

        /// Has the server answer some requests that do not count, over its own loopback: what a compiler at run time makes of a
        /// program takes hundreds of calls to settle.
        fn warm_up<W: Laboratory>(site: &Site<W>, objects: &Objects) -> Result<(), Failure> {
            let (server, objects) = (site.server.clone(), objects.clone());
            let address = server.address(PORT);
            let requests = async move {
                for _ in 0..WARM_UP {
                    let (costs, nobody) = (Rc::new(CostTable::free()), Seed::new(0));
                    let computing = Computing::new(server.clone(), costs, objects.codec, nobody);
                    let extracted = client::extract(server.clone(), address, objects.clone(), computing).await;
                    extracted.map_err(|error| format!("the server does not serve: {error}"))?;
                }
                Ok(())
            };
            let ended: Result<(), String> = site
                .world
                .run_for(W::LIMIT, requests)
                .map_err(|halt| Failure::new(halt.to_string()))?;
            ended.map_err(Failure::new)
        }

        pub(super) fn cpu_time(&self) -> Result<Duration, Failure> {
            self.server
                .cpu_time()
                .map_err(|error| Failure::new(format!("the server's CPU time is not known: {error}")))
        }
    }
}
