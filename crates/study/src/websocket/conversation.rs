//! What goes over each connection, which way, and when is it due?

use lastmile_payload::message_codec::Policy;
use lastmile_payload::transcript::Kind;
use lastmile_units::Bytes;
use std::time::Duration;

/// Messages, by connection.
#[derive(Debug, Clone)]
pub(crate) struct Conversation {
    pub(crate) connections: Vec<Connection>,
    pub(crate) start: Start,
}

/// From when on the messages of a connection are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Their sender's opening, as any program counts: the first of a server may have to wait for the rest of the handshake.
    OwnOpening,
    /// Both ends' opening: the connection stands, and nothing of its beginning is in any message's time.
    BothOpenings,
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
    pub(crate) due: Due,
    /// After how many octets it is parted into frames; none sends it in one. What the application codes is parted as coded.
    pub(crate) fragment: Option<Bytes>,
    /// The plain sizes of what is coded in one go: its fragments, or itself; none of what is sent as it is.
    pub(crate) pieces: Vec<Bytes>,
    /// Whether its compressor forgets all that went before it, which permessage-deflate need not tell.
    pub(crate) afresh: bool,
}

/// When a message is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// So long after the [`Start`].
    After(Duration),
    /// Once the one before it, the same way, has been decoded; the first at the start.
    OneByOne,
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

    /// When the last message is due, as far as that is known beforehand, after the first connection is opened.
    pub(super) fn longest_wait(&self) -> Duration {
        let of = |connection: &Connection| {
            let messages = connection.down.iter().chain(&connection.up);
            connection.opened_after + messages.map(|message| message.due.known()).max().unwrap_or_default()
        };
        self.connections.iter().map(of).max().unwrap_or_default()
    }
}

impl Connection {
    /// Has compressors forget where a policy says so, by the times at which messages are due.
    pub(crate) fn forget_by(&mut self, policy: &Policy) {
        for side in [&mut self.down, &mut self.up] {
            let mut coded_at = None;
            for message in side.iter_mut().filter(|message| message.is_coded()) {
                let at = message.due.known();
                message.afresh = coded_at.is_some_and(|coded_at| policy.forgets(coded_at, at));
                coded_at = Some(at);
            }
        }
    }
}

impl Outgoing {
    /// Whether it is coded at all.
    pub(crate) fn is_coded(&self) -> bool {
        !self.pieces.is_empty()
    }
}

impl Due {
    /// How long after the start it is due, where that is known beforehand; otherwise nothing.
    pub(crate) const fn known(self) -> Duration {
        match self {
            Self::After(after) => after,
            Self::OneByOne => Duration::ZERO,
        }
    }
}
