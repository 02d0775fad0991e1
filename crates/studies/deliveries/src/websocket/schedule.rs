//! Schedules the messages of a workload on the connections of a cell.

use super::plan::Plan;
use lastmile_report::record::{Doubt, DoubtKind};
use lastmile_study::settings::{Pace, ServerName};
use lastmile_testbed::failure::Failure;
use lastmile_testbed::messaging::{ClockOrigin, CompressionMode, Connection, Conversation, ScheduledMessage, SendTime};
use lastmile_traffic::messages::{Direction, Message};
use lastmile_units::{ByteCount, Seed};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

/// The greatest number of connections. Our own choice: a cell has one client host and one link, and some hundred connections are already
/// a load test.
const CONNECTIONS_MAX: usize = 256;

/// A workload's messages with their connections and due times.
pub(super) struct Schedule {
    pub(super) conversation: Rc<Conversation>,
    /// The number of client messages that are not sent to a real server.
    left_out: usize,
}

impl Schedule {
    /// Schedules the messages of a workload, which `seed` generates unless they are recorded.
    pub(super) fn from_workload(plan: &Plan, seed: Seed) -> Result<Self, Failure> {
        let messages = plan.messages.workload.messages(seed).map_err(Failure::from_error)?;
        let schedule = Self::arrange(plan, &messages);
        let count = schedule.conversation.connections.len();
        if count > CONNECTIONS_MAX {
            return Err(Failure::new(format!(
                "the messages use {count} connections, but at most {CONNECTIONS_MAX} are opened; remove some from the transcript"
            )));
        }
        if !plan.server.is_ours() && count > 1 {
            return Err(Failure::new(format!(
                "the messages use {count} connections, but {} delivers the same messages over each; use a workload with one, or server = \"lastmile\"",
                plan.server
            )));
        }
        if schedule.conversation.messages() == 0 {
            return Err(Failure::new(format!(
                "there is no message for {} to send: the server sends the messages that a transcript marks as sent",
                plan.server
            )));
        }
        Ok(schedule)
    }

    fn arrange(plan: &Plan, messages: &[Message]) -> Self {
        let mut firsts: BTreeMap<u32, Option<Duration>> = BTreeMap::new();
        for message in messages {
            firsts.entry(message.connection).or_insert(message.at);
        }
        let start = firsts.values().flatten().min().copied().unwrap_or_default();
        let is_recorded = plan.pace == Pace::Recorded;
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
                Direction::Received if plan.server.is_ours() => &mut connection.up,
                Direction::Received => {
                    left_out += 1;
                    continue;
                }
            };
            let due = match plan.pace {
                Pace::Recorded => {
                    let first = firsts.get(&message.connection).copied().flatten();
                    SendTime::After(message.at.unwrap_or_default().saturating_sub(first.unwrap_or_default()))
                }
                Pace::Every(interval) => {
                    SendTime::After(interval.saturating_mul(u32::try_from(side.len()).unwrap_or(u32::MAX)))
                }
                Pace::OneByOne => SendTime::OneByOne,
            };
            side.push(outgoing(plan, message, due));
        }
        for connection in connections.values_mut() {
            connection.schedule_resets(&plan.messages.policy);
        }
        Self {
            conversation: Rc::new(Conversation {
                connections: connections.into_values().collect(),
                start: ClockOrigin::OwnOpening,
            }),
            left_out,
        }
    }

    /// The doubt that messages were left out, if any were.
    pub(super) fn doubt(&self, server: &ServerName) -> Option<Doubt> {
        (self.left_out > 0).then(|| {
            Doubt::new(
                DoubtKind::OneWay,
                format!(
                    "{} messages of the client were not sent: {server} only sends messages",
                    self.left_out
                ),
            )
        })
    }
}

fn outgoing(plan: &Plan, message: &Message, due: SendTime) -> ScheduledMessage {
    let (policy, size) = (&plan.messages.policy, ByteCount::from(message.payload.len()));
    let pieces = match &plan.compression {
        CompressionMode::PermessageDeflate { .. } if policy.compresses(message.kind, size) => policy.pieces(size),
        // An application compresses a whole message, however it is fragmented.
        CompressionMode::ApplicationLayer { .. } => vec![size],
        CompressionMode::Identity | CompressionMode::PermessageDeflate { .. } => Vec::new(),
    };
    ScheduledMessage {
        kind: message.kind,
        payload: message.payload.clone(),
        due,
        fragment: policy.fragment,
        pieces,
        reset_context: false,
    }
}
