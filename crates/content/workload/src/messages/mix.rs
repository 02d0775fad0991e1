//! A mix of several kinds of messages on one connection, each kind evenly spread among the others.

use crate::{WorkloadError, WorkloadSpec};
use lastmile_traffic::messages::Message;
use lastmile_units::Seed;

/// Several kinds of messages: `{ kind = "mix", parts = [{ kind = "chat", messages = 600 }, { kind = "telemetry", messages = 120 }] }` has
/// a frame of telemetry after every fifth message of the chat.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// Workloads of messages, none of them a mix. Each keeps its order; the first gives the times.
    pub parts: Vec<WorkloadSpec>,
}

impl Mix {
    pub(crate) fn generate(&self, seed: Seed) -> Result<Vec<Message>, WorkloadError> {
        let refused = |problem| WorkloadError::spec("mix", problem);
        if self.parts.is_empty() {
            return Err(refused("it has no parts; list message workloads in parts"));
        }
        if self.parts.iter().any(|part| matches!(part, WorkloadSpec::Mix(_))) {
            return Err(refused("one of its parts is a mix; list that mix's parts here instead"));
        }
        let mut placed = Vec::new();
        for (part, spec) in self.parts.iter().enumerate() {
            let messages = spec.messages(seed.derive("mix").derive_index(part as u64))?;
            let count = messages.len() as u64;
            // A message's position is the exact fraction of its part that has been sent with it.
            let done = messages.into_iter().zip(1..);
            placed.extend(done.map(|(message, number)| PositionedMessage {
                number,
                count,
                part,
                message,
            }));
        }
        placed.sort_by(|one, other| {
            let ahead = u128::from(one.number) * u128::from(other.count);
            let behind = u128::from(other.number) * u128::from(one.count);
            ahead.cmp(&behind).then(one.part.cmp(&other.part))
        });
        let mut at = placed
            .iter()
            .find(|placed| placed.part == 0)
            .and_then(|first| first.message.at);
        let timed = |placed: PositionedMessage| {
            if placed.part == 0 {
                at = placed.message.at;
            }
            Message { at, ..placed.message }
        };
        Ok(placed.into_iter().map(timed).collect())
    }
}

struct PositionedMessage {
    /// The index in its part, from 1.
    number: u64,
    /// The number of messages in its part.
    count: u64,
    part: usize,
    message: Message,
}
