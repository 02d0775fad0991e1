//! Holds the messages of one direction in contiguous memory, connection by connection, for repeated passes over them.
//!
//! Each connection has a compression context of its own, so its messages are stored together and in order: by time where every
//! message has a time, or else in the order of the transcript.

use super::{Direction, Message, Transcript, TranscriptError};
use lastmile_codec::message::Kind;
use lastmile_units::ByteCount;
use sha1::{Digest, Sha1};
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

/// Messages of one direction, by connection, indexed from 0 through all connections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Messages {
    bytes: Vec<u8>,
    /// Where each message ends in `bytes`.
    ends: Vec<usize>,
    kinds: Vec<Kind>,
    times: Vec<Option<Duration>>,
    connections: Vec<Connection>,
}

/// The range of messages of one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Its number in the transcript: [`Message::connection`].
    pub number: u32,
    /// The indices of its messages. At least one.
    pub messages: Range<usize>,
}

/// All messages of a transcript, by direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Directions {
    /// The messages sent.
    pub sent: Messages,
    /// The messages received.
    pub received: Messages,
}

impl Transcript<'_> {
    /// Reads all messages into memory. For a moment it holds their bytes about twice, where there is more than one connection or times
    /// run backwards.
    ///
    /// # Errors
    /// The first error of the transcript.
    pub fn gather(self) -> Result<Directions, TranscriptError> {
        let mut gathered = GatheredMessages::default();
        for message in self {
            gathered.push(&message?);
        }
        Ok(gathered.finish())
    }
}

impl Directions {
    /// The messages of one direction.
    pub fn in_direction(&self, direction: Direction) -> &Messages {
        match direction {
            Direction::Sent => &self.sent,
            Direction::Received => &self.received,
        }
    }
}

impl<M: Borrow<Message>> FromIterator<M> for Directions {
    fn from_iter<T: IntoIterator<Item = M>>(messages: T) -> Self {
        let mut gathered = GatheredMessages::default();
        messages.into_iter().for_each(|message| gathered.push(message.borrow()));
        gathered.finish()
    }
}

impl Messages {
    /// The number of messages.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The total size of all payloads.
    pub fn total(&self) -> ByteCount {
        ByteCount::from(self.bytes.len())
    }

    /// The range of [`Messages::bytes`] that holds the payloads of these consecutive messages.
    ///
    /// # Panics
    /// Where an index is out of range.
    pub fn extent(&self, messages: Range<usize>) -> Range<usize> {
        let start = |index: usize| index.checked_sub(1).map_or(0, |before| self.ends[before]);
        start(messages.start)..start(messages.end)
    }

    /// The payload of a message.
    ///
    /// # Panics
    /// Where an index is out of range.
    pub fn payload(&self, index: usize) -> &[u8] {
        &self.bytes[self.extent(index..index + 1)]
    }

    /// The payloads of all messages, in order.
    pub fn payloads(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (0..self.len()).map(|index| self.payload(index))
    }

    /// The type of a message.
    ///
    /// # Panics
    /// Where an index is out of range.
    pub fn kind(&self, index: usize) -> Kind {
        self.kinds[index]
    }

    /// When a message was sent or received, where that is known.
    ///
    /// # Panics
    /// Where an index is out of range.
    pub fn at(&self, index: usize) -> Option<Duration> {
        self.times[index]
    }

    /// All payloads, concatenated.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The connections, by number.
    pub fn connections(&self) -> &[Connection] {
        &self.connections
    }

    /// A hash of all that is known about the messages but the numbers of their connections.
    pub fn content_hash(&self) -> ContentHash {
        let mut hash = Sha1::new();
        let mut number = |value: u64| hash.update(value.to_le_bytes());
        number(self.connections.len() as u64);
        for connection in &self.connections {
            number(connection.messages.len() as u64);
        }
        for index in 0..self.len() {
            number(self.ends[index] as u64);
            number(u64::from(self.kinds[index] == Kind::Text));
            // A time is capped at 584 years and made even, so that 1 can stand for no time.
            let nanoseconds = |at: Duration| u64::try_from(at.as_nanos()).unwrap_or(u64::MAX) & !1;
            number(self.times[index].map_or(1, nanoseconds));
        }
        hash.update(&self.bytes);
        ContentHash(hash.finalize().into())
    }
}

/// The SHA-1 (RFC 3174) of messages: good for finding results that were computed from them, not against deliberate forgery.
/// Printed in 40 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 20]);

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Collects messages by direction and connection.
#[derive(Default)]
struct GatheredMessages {
    by_connection: [BTreeMap<u32, Messages>; 2],
}

impl GatheredMessages {
    fn push(&mut self, message: &Message) {
        let of_direction = &mut self.by_connection[usize::from(message.direction == Direction::Received)];
        let connection = of_direction.entry(message.connection).or_default();
        connection.bytes.extend_from_slice(&message.payload);
        connection.ends.push(connection.bytes.len());
        connection.kinds.push(message.kind);
        connection.times.push(message.at);
    }

    fn finish(self) -> Directions {
        let [sent, received] = self.by_connection.map(joined);
        Directions { sent, received }
    }
}

/// Joins the messages of all connections.
fn joined(by_connection: BTreeMap<u32, Messages>) -> Messages {
    let mut all = Messages::default();
    for (number, messages) in by_connection {
        let mut messages = sort_by_time(messages);
        let (first, before) = (all.len(), all.bytes.len());
        if all.is_empty() {
            all = Messages {
                connections: all.connections,
                ..messages
            };
        } else {
            all.bytes.append(&mut messages.bytes);
            all.ends.extend(messages.ends.iter().map(|end| before + end));
            all.kinds.append(&mut messages.kinds);
            all.times.append(&mut messages.times);
        }
        all.connections.push(Connection {
            number,
            messages: first..all.len(),
        });
    }
    all
}

/// Sorts messages of one connection by time, where every message has one; equal times keep their order.
fn sort_by_time(messages: Messages) -> Messages {
    if messages.times.contains(&None) || messages.times.is_sorted() {
        return messages;
    }
    let mut order = Vec::from_iter(0..messages.len());
    order.sort_by_key(|index| messages.times[*index]);
    let mut ordered = Messages {
        bytes: Vec::with_capacity(messages.bytes.len()),
        ..Messages::default()
    };
    for index in order {
        ordered.bytes.extend_from_slice(messages.payload(index));
        ordered.ends.push(ordered.bytes.len());
        ordered.kinds.push(messages.kinds[index]);
        ordered.times.push(messages.times[index]);
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(direction: Direction, connection: u32, payload: &'static str) -> Message {
        Message {
            direction,
            at: Some(Duration::from_secs(payload.len() as u64)),
            kind: Kind::Text,
            connection,
            payload: payload.into(),
        }
    }

    fn gathered(messages: &[Message]) -> Directions {
        messages.iter().collect()
    }

    #[test]
    fn messages_stand_by_direction_and_connection_in_their_order() {
        use Direction::{Received, Sent};
        let all = gathered(&[
            message(Sent, 7, "one"),
            message(Sent, 2, ""),
            message(Received, 7, "three"),
            message(Sent, 7, "four"),
            message(Sent, 2, "ab"),
        ]);
        assert_eq!(all.sent.bytes(), b"abonefour");
        assert_eq!(
            Vec::from_iter(all.sent.payloads()),
            [b"".as_slice(), b"ab", b"one", b"four"]
        );
        assert_eq!(all.sent.extent(1..3), 0..5);
        assert_eq!((all.sent.len(), all.sent.total()), (4, ByteCount::new(9)));
        assert_eq!(all.sent.at(3), Some(Duration::from_secs(4)));
        let connections: Vec<_> = all
            .sent
            .connections()
            .iter()
            .map(|connection| (connection.number, connection.messages.clone()))
            .collect();
        assert_eq!(connections, [(2, 0..2), (7, 2..4)]);
        assert_eq!(all.in_direction(Received).payload(0), b"three");
    }

    /// A message whose payload says when it went.
    fn timed(direction: Direction, connection: u32, payload: &'static str, at: Option<u64>) -> Message {
        Message {
            at: at.map(Duration::from_millis),
            ..message(direction, connection, payload)
        }
    }

    #[test]
    fn messages_stand_in_the_order_of_their_times_where_each_has_one() {
        use Direction::{Received, Sent};
        let all = gathered(&[
            timed(Sent, 0, "third", Some(30)),
            timed(Received, 0, "later", Some(25)),
            timed(Sent, 0, "2a", Some(20)),
            timed(Sent, 0, "2b", Some(20)),
            timed(Sent, 1, "b", Some(9)),
            timed(Sent, 1, "?", None),
            timed(Sent, 1, "a", Some(8)),
            timed(Received, 0, "sooner", Some(15)),
            timed(Sent, 0, "first", Some(0)),
        ]);
        assert_eq!(
            Vec::from_iter(all.sent.payloads()),
            [b"first".as_slice(), b"2a", b"2b", b"third", b"b", b"?", b"a"]
        );
        assert_eq!(all.sent.at(1), Some(Duration::from_millis(20)));
        assert_eq!(
            Vec::from_iter(all.received.payloads()),
            [b"sooner".as_slice(), b"later"]
        );
    }

    #[test]
    fn a_hash_tells_apart_what_a_compressor_or_a_policy_would_see() {
        use Direction::Sent;
        let hash = |messages: &[Message]| gathered(messages).sent.content_hash().to_string();
        let base = [message(Sent, 0, "ab"), message(Sent, 0, "c")];
        assert_eq!(hash(&base), hash(&base.clone()));
        assert_eq!(hash(&base).len(), 40);
        let renumbered = base.clone().map(|message| Message {
            connection: 9,
            ..message
        });
        assert_eq!(hash(&base), hash(&renumbered));
        let mut others = vec![hash(&base)];
        others.push(hash(&[message(Sent, 0, "a"), message(Sent, 0, "bc")]));
        others.push(hash(&[message(Sent, 0, "ab"), message(Sent, 1, "c")]));
        let binary = |message| Message {
            kind: Kind::Binary,
            ..message
        };
        others.push(hash(&base.clone().map(binary)));
        others.push(hash(&base.clone().map(|message| Message { at: None, ..message })));
        others.push(hash(&[]));
        others.sort_unstable();
        others.dedup();
        assert_eq!(others.len(), 6);
    }
}
