//! What goes over each connection, which way, and when is it due?

use crate::experiment::plan::WebSocket;
use crate::observation::Failure;
use crate::settings::{Pace, ServerName};
use lastmile_payload::transcript::{Direction, Kind, Message};
use lastmile_payload::websocket::Form;
use lastmile_report::record::Doubt;
use lastmile_units::{Bytes, Seed};
use std::collections::BTreeMap;
use std::time::Duration;

/// No more connections are opened: our own choice. A cell has one client host and one link, and beyond some hundred of them it is load that is asked for.
const CONNECTIONS_MOST: usize = 256;

/// The messages of a transcript, by connection.
#[derive(Debug, Clone)]
pub(in crate::experiment) struct Conversation {
    pub(super) connections: Vec<Connection>,
    /// Messages of the client that a real server is not sent.
    left_out: usize,
}

/// What goes over one connection.
#[derive(Debug, Default, Clone)]
pub(super) struct Connection {
    /// When it is opened, after the first is.
    pub(super) opened_after: Duration,
    /// From the server to the client.
    pub(super) down: Vec<Outgoing>,
    /// From the client to the server.
    pub(super) up: Vec<Outgoing>,
}

/// A message that is to be sent.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    pub(super) kind: Kind,
    pub(super) payload: bytes::Bytes,
    /// When it is due, after the connection has opened at its sender.
    pub(super) after: Duration,
    pub(super) form: Form,
    /// The plain sizes of what is compressed in one go: its fragments, or itself; none of what is sent as it is.
    pub(super) pieces: Vec<Bytes>,
}

impl Conversation {
    /// The messages of a workload; of one that is generated, those of `seed`.
    pub(in crate::experiment) fn of(asked: &WebSocket, seed: Seed) -> Result<Self, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
        let messages = asked.messages.workload.messages(seed).map_err(|error| failed(&error))?;
        let conversation = Self::arrange(asked, &messages);
        let count = conversation.connections.len();
        if count > CONNECTIONS_MOST {
            return Err(Failure::new(format!(
                "the messages go over {count} connections, and {CONNECTIONS_MOST} are opened at most; leave some out of the transcript"
            )));
        }
        if !asked.server.is_ours() && count > 1 {
            return Err(Failure::new(format!(
                "the messages go over {count} connections, and {} delivers the same over each; take a workload of one, or server = \"lastmile\"",
                asked.server
            )));
        }
        if conversation.messages() == 0 {
            return Err(Failure::new(format!(
                "there is no message for {} to send: what a transcript has as sent goes from the server to the client",
                asked.server
            )));
        }
        Ok(conversation)
    }

    fn arrange(asked: &WebSocket, messages: &[Message]) -> Self {
        let mut firsts: BTreeMap<u32, Option<Duration>> = BTreeMap::new();
        for message in messages {
            firsts.entry(message.connection).or_insert(message.at);
        }
        let start = firsts.values().flatten().min().copied().unwrap_or_default();
        let is_recorded = asked.pace == Pace::Recorded;
        let mut connections: BTreeMap<u32, Connection> = firsts
            .iter()
            .map(|(number, first)| {
                let first = first.filter(|_| is_recorded).unwrap_or(start);
                let opened_after = first.saturating_sub(start);
                (
                    *number,
                    Connection {
                        opened_after,
                        ..Connection::default()
                    },
                )
            })
            .collect();
        let mut left_out = 0;
        for message in messages {
            let Some(connection) = connections.get_mut(&message.connection) else {
                continue;
            };
            let side = match message.direction {
                Direction::Sent => &mut connection.down,
                Direction::Received if asked.server.is_ours() => &mut connection.up,
                Direction::Received => {
                    left_out += 1;
                    continue;
                }
            };
            let after = match asked.pace {
                Pace::Recorded => {
                    let first = firsts.get(&message.connection).copied().flatten();
                    message.at.unwrap_or_default().saturating_sub(first.unwrap_or_default())
                }
                Pace::Every(interval) => interval.saturating_mul(u32::try_from(side.len()).unwrap_or(u32::MAX)),
            };
            side.push(Outgoing::of(asked, message, after));
        }
        Self {
            connections: connections.into_values().collect(),
            left_out,
        }
    }

    fn all(&self) -> impl Iterator<Item = &Outgoing> {
        self.connections
            .iter()
            .flat_map(|connection| connection.down.iter().chain(&connection.up))
    }

    /// How many messages there are to deliver.
    pub(super) fn messages(&self) -> usize {
        self.all().count()
    }

    /// What they hold.
    pub(super) fn bytes(&self) -> Bytes {
        self.all().map(|message| Bytes::from(message.payload.len())).sum()
    }

    /// Whether any message waits for its time.
    pub(super) fn is_timed(&self) -> bool {
        self.all().any(|message| !message.after.is_zero())
    }

    /// That messages were left out, where they were.
    pub(super) fn doubt(&self, server: &ServerName) -> Option<Doubt> {
        (self.left_out > 0).then(|| Doubt {
            kind: "one-way".to_owned(),
            text: format!(
                "{} messages of the client were not sent: {server} delivers, and takes nothing",
                self.left_out
            ),
        })
    }
}

impl Outgoing {
    fn of(asked: &WebSocket, message: &Message, after: Duration) -> Self {
        let (policy, size) = (&asked.messages.policy, Bytes::from(message.payload.len()));
        let is_compressed = asked.deflate.is_some() && policy.codes(message.kind, size);
        let pieces = if is_compressed { policy.pieces(size) } else { Vec::new() };
        Self {
            kind: message.kind,
            payload: message.payload.clone(),
            after,
            form: Form {
                is_compressed,
                fragment: policy.fragment,
            },
            pieces,
        }
    }
}
