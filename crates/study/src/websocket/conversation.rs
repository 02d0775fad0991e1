//! What goes over each connection, which way, and when is it due?

use lastmile_payload::transcript::Kind;
use lastmile_payload::websocket::Form;
use lastmile_units::Bytes;
use std::time::Duration;

/// Messages, by connection.
#[derive(Debug, Clone)]
pub(crate) struct Conversation {
    pub(crate) connections: Vec<Connection>,
}

/// What goes over one connection.
#[derive(Debug, Default, Clone)]
pub(crate) struct Connection {
    /// When it is opened, after the first is.
    pub(crate) opened_after: Duration,
    /// From the server to the client.
    pub(crate) down: Vec<Outgoing>,
    /// From the client to the server.
    pub(crate) up: Vec<Outgoing>,
}

/// A message that is to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    pub(crate) kind: Kind,
    pub(crate) payload: bytes::Bytes,
    /// When it is due, after the connection has opened at its sender.
    pub(crate) after: Duration,
    pub(crate) form: Form,
    /// The plain sizes of what is compressed in one go: its fragments, or itself; none of what is sent as it is.
    pub(crate) pieces: Vec<Bytes>,
}

impl Conversation {
    fn all(&self) -> impl Iterator<Item = &Outgoing> {
        self.connections
            .iter()
            .flat_map(|connection| connection.down.iter().chain(&connection.up))
    }

    /// How many messages there are to deliver.
    pub(crate) fn messages(&self) -> usize {
        self.all().count()
    }

    /// What they hold.
    pub(crate) fn bytes(&self) -> Bytes {
        self.all().map(|message| Bytes::from(message.payload.len())).sum()
    }

    /// Whether any message waits for its time.
    pub(crate) fn is_timed(&self) -> bool {
        self.all().any(|message| !message.after.is_zero())
    }
}
