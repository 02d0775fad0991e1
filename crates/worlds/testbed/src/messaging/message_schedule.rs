//! The schedule of messages: their connections, directions and due times.

use lastmile_codec::message::Kind;
use lastmile_codec::message::Policy;
use lastmile_units::ByteCount;
use std::time::Duration;

/// The messages of each connection.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// The connections, in the order of their numbers.
    pub connections: Vec<Connection>,
    /// The instant that messages are timed from.
    pub start: ClockOrigin,
}

/// The time from which the due times of a connection's messages count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockOrigin {
    /// When their sender's end has opened, as in any program: a server's first message may have to wait for the rest of the handshake.
    OwnOpening,
    /// When both ends have opened, so that no delivery time includes part of the handshake.
    BothOpenings,
}

/// The messages of one connection.
#[derive(Debug, Default, Clone)]
pub struct Connection {
    /// When it is opened, counted from the opening of the first.
    pub opened_after: Duration,
    /// From the server to the client.
    pub down: Vec<ScheduledMessage>,
    /// From the client to the server.
    pub up: Vec<ScheduledMessage>,
}

/// A message to send.
#[derive(Debug, Clone)]
pub struct ScheduledMessage {
    /// Text or binary.
    pub kind: Kind,
    /// Its content.
    pub payload: bytes::Bytes,
    /// When it is sent.
    pub due: SendTime,
    /// The payload size of its frames; none sends it in one frame. A message that the application compresses is fragmented afterwards.
    pub fragment: Option<ByteCount>,
    /// The plain sizes of the pieces that are compressed at once: its fragments, or itself; empty if it is sent uncompressed.
    pub pieces: Vec<ByteCount>,
    /// Whether the compression context is reset before it, which needs no signalling in permessage-deflate.
    pub reset_context: bool,
}

/// When a message is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendTime {
    /// This long after the [`ClockOrigin`].
    After(Duration),
    /// Once the message before it in the same direction has been decompressed; the first at the start.
    OneByOne,
}

impl Conversation {
    fn all(&self) -> impl Iterator<Item = &ScheduledMessage> {
        self.connections
            .iter()
            .flat_map(|connection| connection.down.iter().chain(&connection.up))
    }

    /// The number of messages.
    pub fn messages(&self) -> usize {
        self.all().count()
    }

    /// The total size of their payloads.
    pub fn bytes(&self) -> ByteCount {
        self.all().map(|message| ByteCount::from(message.payload.len())).sum()
    }

    /// The latest due time that is known beforehand, counted from the opening of the first connection.
    pub(super) fn latest_send_time(&self) -> Duration {
        let of = |connection: &Connection| {
            let messages = connection.down.iter().chain(&connection.up);
            connection.opened_after
                + messages
                    .map(|message| message.due.fixed_delay())
                    .max()
                    .unwrap_or_default()
        };
        self.connections.iter().map(of).max().unwrap_or_default()
    }
}

impl Connection {
    /// Schedules the resets of the compression context that a policy asks for, by the times at which messages are due.
    pub fn schedule_resets(&mut self, policy: &Policy) {
        for side in [&mut self.down, &mut self.up] {
            let mut coded_at = None;
            for message in side.iter_mut().filter(|message| message.is_compressed()) {
                let at = message.due.fixed_delay();
                message.reset_context = coded_at.is_some_and(|coded_at| policy.resets_between(coded_at, at));
                coded_at = Some(at);
            }
        }
    }
}

impl ScheduledMessage {
    /// Whether it is compressed.
    pub fn is_compressed(&self) -> bool {
        !self.pieces.is_empty()
    }
}

impl SendTime {
    /// How long after the start it is due, if that is known beforehand; otherwise zero.
    pub const fn fixed_delay(self) -> Duration {
        match self {
            Self::After(after) => after,
            Self::OneByOne => Duration::ZERO,
        }
    }
}
