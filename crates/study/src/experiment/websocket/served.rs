//! Who sends the messages: our own server, or a real one?

use super::Arranged;
use crate::experiment::plan::WebSocket;
use crate::observation::Failure;
use crate::site::{Laboratory, Site};
use crate::websocket::{Conversation, PORT};
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
    /// Starts whoever is `asked` for, with the messages of the conversation to send.
    pub(in crate::experiment) fn start<W: Laboratory>(
        site: &Site<W>,
        asked: &WebSocket,
        arranged: &Arranged,
    ) -> Result<Self, Failure> {
        if asked.server.is_ours() {
            return Ok(Self::ByUs);
        }
        #[cfg(target_os = "linux")]
        return running::Peer::start(site, asked, &arranged.conversation).map(Self::ByPeer);
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

#[cfg(target_os = "linux")]
mod running {
    use super::{Conversation, Failure, Laboratory, Site, WebSocket};
    use crate::peer::{Inputs, PeerSpec, Server};
    use crate::websocket::{Clients, Coding, Outgoing};
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use lastmile_payload::message_codec::MessageCodec;
    use lastmile_payload::transcript::Kind;
    use lastmile_units::Seed;
    use lastmile_world::Host as _;
    use std::fs;
    use std::time::Duration;
    use tempfile::TempDir;

    /// Where peers listen: ports below 1024 are not for everyone.
    pub(super) const PORT: u16 = 8080;
    /// How many connections are opened before those that count. Our own choice.
    const WARM_UP: usize = 20;
    /// What peers deliver: a line a message.
    const FILE: &str = "messages.jsonl";

    /// A real server, with the folders that are its own.
    pub(in crate::experiment) struct Peer {
        // It is stopped before its folders go.
        server: Server,
        _folders: TempDir,
    }

    impl Peer {
        pub(super) fn start<W: Laboratory>(
            site: &Site<W>,
            asked: &WebSocket,
            conversation: &Conversation,
        ) -> Result<Self, Failure> {
            let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
            let messages = conversation.connections.iter().flat_map(|connection| &connection.down);
            let lines: String = messages
                .map(|message| line(message, conversation.is_timed()))
                .collect::<Result<_, _>>()?;
            let folders = TempDir::with_prefix("lastmile-").map_err(|error| failed(&error))?;
            let (state, data) = (folders.path().join("state"), folders.path().join("data"));
            fs::create_dir(&state)
                .and_then(|()| fs::create_dir(&data))
                .and_then(|()| fs::write(data.join(FILE), lines))
                .map_err(|error| failed(&error))?;
            let peer = PeerSpec::named(asked.server.as_str()).map_err(|error| failed(&error))?;
            let inputs = Inputs {
                host: *site.server.address(PORT).ip(),
                port: PORT,
                message_compression: asked.deflate.map_or(MessageCodec::Identity, MessageCodec::Deflate),
                ..Inputs::new("deliver", data, state)
            };
            // A process is in the network namespace of the thread that starts it.
            let started = site
                .world
                .inside(&site.server, || peer.start(&inputs, &|_command| Ok(())))?;
            let peer = Self {
                server: started.map_err(|error| failed(&error))?,
                _folders: folders,
            };
            Self::warm_up(site, asked)?;
            Ok(peer)
        }

        /// Opens connections that do not count, over the server's own loopback, and drops them: what a compiler at run time makes of
        /// a program takes some to settle.
        fn warm_up<W: Laboratory>(site: &Site<W>, asked: &WebSocket) -> Result<(), Failure> {
            let clients = Clients {
                host: site.server.clone(),
                address: site.server.address(PORT),
                deflate: asked.deflate,
                coding: Coding::free(),
                seed: Seed::new(0),
            };
            let connections = async move {
                for number in 0..WARM_UP {
                    clients.open(number).await.map(drop)?;
                }
                Ok(())
            };
            site.world
                .run_for(W::LIMIT, connections)
                .map_err(|halt| Failure::new(halt.to_string()))?
        }

        pub(super) fn cpu_time(&self) -> Result<Duration, Failure> {
            self.server
                .cpu_time()
                .map_err(|error| Failure::new(format!("the server's CPU time is not known: {error}")))
        }
    }

    /// A message as peers read it.
    fn line(message: &Outgoing, is_timed: bool) -> Result<String, Failure> {
        let mut fields = serde_json::Map::new();
        let (opcode, data) = match message.kind {
            Kind::Text => match std::str::from_utf8(&message.payload) {
                Ok(text) => (1, text.to_owned()),
                Err(error) => return Err(Failure::new(format!("a text message is not UTF-8: {error}"))),
            },
            Kind::Binary => (2, STANDARD.encode(&message.payload)),
        };
        fields.insert("opcode".to_owned(), opcode.into());
        fields.insert("data".to_owned(), data.into());
        if is_timed {
            fields.insert("time".to_owned(), message.after.as_secs_f64().into());
        }
        Ok(serde_json::Value::Object(fields).to_string() + "\n")
    }
}
