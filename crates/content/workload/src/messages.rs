//! Generated messages: from a seed, as each kind of service would send them.
//!
//! All content is artificial: a chat service, a stock ticker, binary telemetry, media that is compressed already, long texts, and mixes
//! of them. [`lastmile_traffic::messages`] reads recorded messages.

mod chat;
mod documents;
mod media;
mod mix;
mod recorded;
mod telemetry;
mod ticker;

pub use chat::Chat;
pub use documents::Documents;
pub use media::Media;
pub use mix::Mix;
pub use recorded::Recorded;
pub use telemetry::Telemetry;
pub use ticker::Ticker;

use super::{WorkloadError, WorkloadSpec};
use lastmile_codec::message::Kind;
use lastmile_traffic::messages::{Direction, Message, jsonl};
use lastmile_units::random::below;
use lastmile_units::{Rng, Seed};
use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroU32};
use std::time::Duration;

/// The seed of the committed examples.
const EXAMPLES: Seed = Seed::new(1);

/// The message streams in `examples/`: contents by path. The same bytes on every machine.
///
/// `chat.txt` has one message per line, all sent over one connection. `service.jsonl` has the messages to and from two users of a chat
/// service, with frames of binary telemetry among them.
///
/// # Errors
/// Never in fact: these workloads are valid.
pub fn example_files() -> Result<BTreeMap<String, Vec<u8>>, WorkloadError> {
    let count = |count| NonZeroU32::new(count).expect("no example is empty");
    let chat = |messages, speakers| Chat {
        messages: count(messages),
        speakers,
    };
    let mut lines = Vec::new();
    for message in chat(666, 0).generate(EXAMPLES) {
        lines.extend_from_slice(&message.payload);
        lines.push(b'\n');
    }
    let telemetry = Telemetry {
        messages: count(40),
        channels: NonZeroU16::new(24).expect("24 is not 0"),
    };
    let parts = vec![WorkloadSpec::Chat(chat(100, 2)), WorkloadSpec::Telemetry(telemetry)];
    let mut service = Vec::new();
    jsonl::write(&Mix { parts }.generate(EXAMPLES)?, &mut service).expect("writing to memory does not fail");
    Ok(BTreeMap::from([
        ("chat.txt".to_owned(), lines),
        ("service.jsonl".to_owned(), service),
    ]))
}

/// A message of the only connection.
fn sent(clock: Timeline, kind: Kind, bytes: Vec<u8>) -> Message {
    Message {
        direction: Direction::Sent,
        at: Some(clock.now),
        kind,
        connection: 0,
        payload: bytes.into(),
    }
}

/// A clock for generated messages.
#[derive(Debug, Default, Clone, Copy)]
struct Timeline {
    /// Since midnight of the first day.
    now: Duration,
}

impl Timeline {
    fn at(now: Duration) -> Self {
        Self { now }
    }

    fn milliseconds(self) -> u64 {
        self.now.as_millis() as u64
    }

    fn advance(&mut self, by: Duration) {
        self.now += by;
    }

    /// Advances by `least` to `most` of `unit`; short times are likelier than long ones.
    fn pause(&mut self, rng: &mut Rng, unit: Duration, least: usize, most: usize) {
        let span = below(rng, most - least + 1) + 1;
        self.advance(unit * (least + below(rng, span)) as u32);
    }

    /// `08:30:00`
    fn time_of_day(self) -> String {
        let seconds = self.now.as_secs();
        let (hours, minutes, seconds) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        format!("{hours:02}:{minutes:02}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests;
