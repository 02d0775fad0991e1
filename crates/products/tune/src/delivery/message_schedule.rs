//! Plans which messages of a direction are sent, how they are compressed, and when; and their CPU time in the simulated world.

use crate::Pace;
use crate::candidate::Candidate;
use crate::measure_direction::Direction;
use crate::message_range::MessageRange;
use crate::recording::End;
use lastmile_codec::message::{Dictionary, MessageCodec};
use lastmile_testbed::messaging::{
    ClockOrigin, CompressionMode, Connection, Conversation, CpuCost, ScheduledMessage, SendTime,
};
use lastmile_units::ByteCount;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// The messages of the busiest connection that the setting's dictionary was not made from; all without a dictionary; none if none remain.
pub(super) fn outside_training_set(direction: &Direction<'_>, setting: &Candidate) -> Option<Range<usize>> {
    let busiest = direction.stream.busiest();
    let start = match tried_with(direction, setting) {
        Some((part, _)) => busiest.start.max(part.messages.start),
        None => busiest.start,
    };
    (start < busiest.end).then_some(start..busiest.end)
}

/// The part that a setting's dictionary was tried on, and the dictionary; none without a dictionary.
fn tried_with<'a>(
    direction: &'a Direction<'_>,
    setting: &Candidate,
) -> Option<(&'a MessageRange, &'a Arc<Dictionary>)> {
    let known = setting.dictionary.as_ref()?;
    let mut tried = direction.results.iter().filter_map(|tried| {
        let (name, dictionary) = tried.trial.dictionary.as_ref()?;
        (name == known).then_some((&tried.trial.part, dictionary))
    });
    Some(tried.next().expect("a setting with a dictionary has been tried"))
}

/// Whether each of these messages has a time.
pub(super) fn have_timestamps(direction: &Direction<'_>, mut among: Range<usize>) -> bool {
    among.all(|message| direction.stream.messages.at(message).is_some())
}

/// How messages are compressed under a setting, and by which layer.
pub(super) fn compression(direction: &Direction<'_>, setting: &Candidate) -> CompressionMode {
    match tried_with(direction, setting) {
        Some((_, dictionary)) => CompressionMode::with_dictionary(setting.codec, Arc::clone(dictionary)),
        None => CompressionMode::from_codec(setting.codec),
    }
}

/// The messages `among` those of the stream, over one connection that is open before the first is due.
pub(super) fn conversation(
    direction: &Direction<'_>,
    pace: Pace,
    setting: &Candidate,
    among: &Range<usize>,
) -> Conversation {
    let messages = direction.stream.messages;
    let recorded = pace == Pace::Recorded && have_timestamps(direction, direction.stream.busiest());
    let first = messages.at(among.start).unwrap_or_default();
    let policy = setting.policy;
    let outgoing = among.clone().map(|message| {
        let (payload, kind, at) = (messages.payload(message), messages.kind(message), messages.at(message));
        let size = ByteCount::from(payload.len());
        let is_coded = setting.codec != MessageCodec::Identity && policy.compresses(kind, size);
        ScheduledMessage {
            kind,
            payload: bytes::Bytes::copy_from_slice(payload),
            due: match (pace, at) {
                (Pace::Recorded, Some(at)) if recorded => SendTime::After(at.saturating_sub(first)),
                (Pace::Rate(rate), _) => {
                    SendTime::After(Duration::from_secs_f64((message - among.start) as f64 / rate))
                }
                (Pace::Recorded | Pace::OneByOne, _) => SendTime::OneByOne,
            },
            fragment: policy.fragment,
            pieces: if is_coded { policy.pieces(size) } else { Vec::new() },
            reset_context: false,
        }
    });
    let mut connection = Connection::default();
    match direction.stream.sender {
        End::Server => connection.down = outgoing.collect(),
        End::Client => connection.up = outgoing.collect(),
    }
    connection.schedule_resets(&policy);
    Conversation {
        connections: vec![connection],
        start: ClockOrigin::BothOpenings,
    }
}

/// Charges each message a share of a setting's CPU time, in proportion to its bytes; uncompressed messages cost none.
pub(super) struct CpuCostBySize {
    /// The bytes that are compressed, per message on average.
    bytes_per_message: f64,
    encoding: Duration,
    decoding: Duration,
}

impl CpuCostBySize {
    pub(super) fn new(direction: &Direction<'_>, setting: &Candidate) -> Self {
        let messages = direction.stream.messages;
        let coded = (0..messages.len()).filter_map(|message| {
            let size = ByteCount::from(messages.payload(message).len());
            setting.policy.compresses(messages.kind(message), size).then_some(size)
        });
        Self {
            bytes_per_message: coded.sum::<ByteCount>().as_f64() / messages.len() as f64,
            encoding: Duration::from_secs_f64(setting.compress_seconds()),
            decoding: Duration::from_secs_f64(setting.decompress_seconds()),
        }
    }

    fn share(&self, message: &ScheduledMessage) -> f64 {
        // If the average is zero, every compressed message is empty.
        if message.is_compressed() && !message.payload.is_empty() {
            message.payload.len() as f64 / self.bytes_per_message
        } else {
            0.0
        }
    }
}

impl CpuCost for CpuCostBySize {
    fn encoding(&self, message: &ScheduledMessage) -> Duration {
        self.encoding.mul_f64(self.share(message))
    }

    fn decoding(&self, message: &ScheduledMessage) -> Duration {
        self.decoding.mul_f64(self.share(message))
    }
}
