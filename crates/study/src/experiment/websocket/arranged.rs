//! Which messages of a workload go over which connection of a cell, and when?

use crate::experiment::plan::WebSocket;
use crate::observation::Failure;
use crate::settings::{Pace, ServerName};
use crate::websocket::{Coding, Connection, Conversation, Due, Outgoing, Start};
use lastmile_payload::transcript::{Direction, Message};
use lastmile_report::record::Doubt;
use lastmile_units::{Bytes, Seed};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

/// No more connections are opened: our own choice. A cell has one client host and one link, and beyond some hundred of them it is load that is asked for.
const CONNECTIONS_MOST: usize = 256;

/// A workload's messages, arranged.
pub(in crate::experiment) struct Arranged {
    pub(super) conversation: Rc<Conversation>,
    /// Messages of the client that a real server is not sent.
    left_out: usize,
}

impl Arranged {
    /// The messages of a workload; of one that is generated, those of `seed`.
    pub(in crate::experiment) fn of(asked: &WebSocket, seed: Seed) -> Result<Self, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
        let messages = asked.messages.workload.messages(seed).map_err(|error| failed(&error))?;
        let arranged = Self::arrange(asked, &messages);
        let count = arranged.conversation.connections.len();
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
        if arranged.conversation.messages() == 0 {
            return Err(Failure::new(format!(
                "there is no message for {} to send: what a transcript has as sent goes from the server to the client",
                asked.server
            )));
        }
        Ok(arranged)
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
            let due = match asked.pace {
                Pace::Recorded => {
                    let first = firsts.get(&message.connection).copied().flatten();
                    Due::After(message.at.unwrap_or_default().saturating_sub(first.unwrap_or_default()))
                }
                Pace::Every(interval) => {
                    Due::After(interval.saturating_mul(u32::try_from(side.len()).unwrap_or(u32::MAX)))
                }
                Pace::OneByOne => Due::OneByOne,
            };
            side.push(outgoing(asked, message, due));
        }
        for connection in connections.values_mut() {
            connection.forget_by(&asked.messages.policy);
        }
        Self {
            conversation: Rc::new(Conversation {
                connections: connections.into_values().collect(),
                start: Start::OwnOpening,
            }),
            left_out,
        }
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

fn outgoing(asked: &WebSocket, message: &Message, due: Due) -> Outgoing {
    let (policy, size) = (&asked.messages.policy, Bytes::from(message.payload.len()));
    let pieces = match &asked.coding {
        Coding::Extension { .. } if policy.codes(message.kind, size) => policy.pieces(size),
        // An application codes a message whole, whatever it is parted into.
        Coding::Application { .. } => vec![size],
        Coding::Identity | Coding::Extension { .. } => Vec::new(),
    };
    Outgoing {
        kind: message.kind,
        payload: message.payload.clone(),
        due,
        fragment: policy.fragment,
        pieces,
        afresh: false,
    }
}
