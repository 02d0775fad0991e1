//! Finds broadcasts: messages whose payload a server sends over several connections at about the same time.
//!
//! A broadcast can be compressed once for all receivers if it does not refer to earlier messages of one connection, that is, without context
//! takeover (RFC 7692 section 7.1.1). That pays if messages have many receivers; this file counts them.

use super::recording::{End, Stream};
use lastmile_codec::message::Kind;
use lastmile_traffic::messages::Messages;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::time::Duration;

/// A copy follows the first message within this time: our own choice, ample for a server that loops over its connections, and shorter than
/// the interval at which people repeat a message.
const AT_ONCE: Duration = Duration::from_secs(1);

/// When something was sent, and over which connection.
type Sent = (Duration, usize);

/// How many receivers messages have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Broadcast {
    /// As recorded.
    Recorded {
        messages: u64,
        /// Those whose payload went to another connection just before.
        copies: u64,
        /// Their payload.
        copied_bytes: u64,
    },
    /// As stated in the options.
    Stated(NonZeroU64),
}

impl Broadcast {
    /// The receivers of a server's messages, as stated or as recorded; none for a client, or if no message goes to more than one connection.
    pub(super) fn find(stream: &Stream<'_>, stated: Option<NonZeroU64>) -> Option<Self> {
        if stream.sender != End::Server {
            return None;
        }
        match stated {
            Some(NonZeroU64::MIN) => None,
            Some(receivers) => Some(Self::Stated(receivers)),
            None => Self::recorded(stream.messages),
        }
    }

    fn recorded(messages: &Messages) -> Option<Self> {
        if messages.connections().len() < 2 {
            return None;
        }
        // By kind and payload. A message without a time is left out: it may be far from equal ones.
        let mut alike: BTreeMap<(bool, &[u8]), Vec<Sent>> = BTreeMap::new();
        for (index, connection) in messages.connections().iter().enumerate() {
            for message in connection.messages.clone() {
                if let Some(at) = messages.at(message) {
                    let key = (messages.kind(message) == Kind::Text, messages.payload(message));
                    alike.entry(key).or_default().push((at, index));
                }
            }
        }
        let (mut copies, mut copied_bytes) = (0, 0);
        for ((_, payload), mut sent) in alike {
            sent.sort_unstable();
            let own = copies_among(&sent);
            copies += own;
            copied_bytes += own * payload.len() as u64;
        }
        let messages = messages.len() as u64;
        (copies > 0).then_some(Self::Recorded {
            messages,
            copies,
            copied_bytes,
        })
    }

    /// How many connections a message goes to, on average over different messages.
    pub(super) fn receivers(&self) -> f64 {
        match self {
            Self::Recorded { messages, copies, .. } => *messages as f64 / (messages - copies) as f64,
            Self::Stated(receivers) => receivers.get() as f64,
        }
    }
}

/// How many of these messages are copies. They have equal payload and are in order of time; a copy goes to a connection that has not had the
/// payload yet, no later than [`AT_ONCE`] after the first.
fn copies_among(sent: &[Sent]) -> u64 {
    let mut copies = 0;
    let mut first = None;
    let mut receivers = BTreeSet::new();
    for (at, connection) in sent {
        let is_copy = first.is_some_and(|first| at.saturating_sub(first) <= AT_ONCE) && receivers.insert(*connection);
        if is_copy {
            copies += 1;
        } else {
            first = Some(*at);
            receivers = BTreeSet::from([*connection]);
        }
    }
    copies
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{message, recording};
    use lastmile_traffic::messages::{Direction, Message};

    fn sent(connection: u32, milliseconds: u64, text: &str) -> Message {
        Message {
            connection,
            at: Some(Duration::from_millis(milliseconds)),
            ..message(text)
        }
    }

    fn of(messages: &[Message], stated: Option<u64>) -> Option<Broadcast> {
        let recording = recording(messages);
        Broadcast::find(&recording.streams()[0], stated.and_then(NonZeroU64::new))
    }

    #[test]
    fn what_is_sent_to_several_connections_at_once_counts_its_copies_and_what_is_not_counts_none() {
        let messages = [
            sent(1, 0, "hello"),
            sent(2, 1, "hello"),
            sent(3, 1000, "hello"),
            sent(1, 0, "for one"),
            // Too late to be a copy of the first, and the first of a new group.
            sent(2, 1500, "hello"),
            sent(1, 1600, "hello"),
            // Twice to the same connection.
            sent(3, 0, "again"),
            sent(3, 10, "again"),
        ];
        let found = of(&messages, None).unwrap();
        let expected = Broadcast::Recorded {
            messages: 8,
            copies: 3,
            copied_bytes: 15,
        };
        assert_eq!(found, expected);
        assert_eq!(found.receivers(), 8.0 / 5.0);
    }

    #[test]
    fn nothing_goes_to_many_over_one_connection_or_without_times_or_from_a_client() {
        assert_eq!(of(&[sent(1, 0, "a"), sent(1, 0, "a")], None), None);
        let untimed = [1, 2].map(|connection| Message {
            connection,
            ..message("a")
        });
        assert_eq!(of(&untimed, None), None);
        let received = [1, 2].map(|connection| Message {
            direction: Direction::Received,
            ..sent(connection, 0, "a")
        });
        assert_eq!(of(&received, None), None, "two people who say the same");
        assert_eq!(of(&received, Some(9)), None);
    }

    #[test]
    fn what_is_stated_goes_before_what_was_recorded() {
        let messages = [sent(1, 0, "a"), sent(2, 0, "a")];
        assert_eq!(of(&messages, Some(40)).unwrap().receivers(), 40.0);
        assert_eq!(of(&messages, Some(1)), None);
    }
}
