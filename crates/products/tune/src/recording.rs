//! A transcript held in memory, and its streams: one per direction.

use crate::record::{self, TranscriptFormat};
use lastmile_traffic::messages::{Connection, ContentHash, Direction, Directions, Messages};
use std::ops::Range;
use std::time::Duration;

/// A transcript, read whole.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The file, as it was named.
    pub source: String,
    /// Its format.
    pub format: TranscriptFormat,
    /// What was assumed or left out while reading it.
    pub notes: Vec<String>,
    /// The end that recorded it: messages that this end sent are [`Direction::Sent`].
    pub recorded_at: End,
    /// The messages of both directions.
    pub messages: Directions,
}

/// An end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The end that a link's `down` leads to, such as a browser.
    Client,
    /// The other end, with many connections.
    Server,
}

/// The messages of one direction.
pub(super) struct Stream<'a> {
    pub(super) direction: record::Direction,
    pub(super) sender: End,
    pub(super) messages: &'a Messages,
    pub(super) content: ContentHash,
}

impl Recording {
    /// One stream per direction that has payload, `sent` first.
    pub(super) fn streams(&self) -> Vec<Stream<'_>> {
        let with_payload = Direction::ALL
            .into_iter()
            .map(|direction| (direction, self.messages.in_direction(direction)))
            .filter(|(_, messages)| messages.total().get() > 0);
        with_payload
            .map(|(direction, messages)| Stream {
                direction: match direction {
                    Direction::Sent => record::Direction::Sent,
                    Direction::Received => record::Direction::Received,
                },
                sender: self.sender(direction),
                messages,
                content: messages.content_hash(),
            })
            .collect()
    }

    /// How many messages there are.
    pub(super) fn count(&self) -> usize {
        self.messages.sent.len() + self.messages.received.len()
    }

    /// From the first message to the last; none where no message has a time.
    pub(super) fn duration(&self) -> Option<Duration> {
        let times = || {
            let of = |messages: &Messages| {
                (0..messages.len())
                    .filter_map(|index| messages.at(index))
                    .collect::<Vec<_>>()
            };
            of(&self.messages.sent).into_iter().chain(of(&self.messages.received))
        };
        Some(times().max()?.saturating_sub(times().min()?))
    }

    /// How many connections there are.
    pub(super) fn connections(&self) -> usize {
        let numbers = |messages: &Messages| {
            messages
                .connections()
                .iter()
                .map(|connection| connection.number)
                .collect::<Vec<_>>()
        };
        let mut connections = [numbers(&self.messages.sent), numbers(&self.messages.received)].concat();
        connections.sort_unstable();
        connections.dedup();
        connections.len()
    }

    /// Which end sends in a direction.
    pub(super) fn sender(&self, direction: Direction) -> End {
        match (direction, self.recorded_at) {
            (Direction::Sent, end) => end,
            (Direction::Received, End::Client) => End::Server,
            (Direction::Received, End::Server) => End::Client,
        }
    }
}

impl Stream<'_> {
    /// The messages of the connection with the most payload, the first of equals: the connection that is delivered over a link.
    pub(super) fn busiest(&self) -> Range<usize> {
        let payload = |connection: &&Connection| self.messages.extent(connection.messages.clone()).len();
        let connections = self.messages.connections().iter().rev();
        connections
            .max_by_key(payload)
            .map_or(0..0, |connection| connection.messages.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{message, recording};
    use lastmile_units::ByteCount;

    #[test]
    fn a_direction_without_payload_is_no_stream_and_the_busiest_connection_is_found() {
        let mut messages = vec![message("b1"), message("a"), message("b2"), message("")];
        messages[0].connection = 7;
        messages[2].connection = 7;
        messages[3].direction = Direction::Received;
        let recording = recording(&messages);
        let streams = recording.streams();
        assert_eq!(streams.len(), 1);
        assert_eq!(
            (streams[0].direction, streams[0].messages.total()),
            (record::Direction::Sent, ByteCount::new(5))
        );
        assert_eq!(streams[0].busiest(), 1..3);
        assert_eq!((recording.connections(), recording.count()), (2, 4));
        assert_eq!(recording.duration(), None);
        assert_eq!(recording.sender(Direction::Received), End::Client);
    }
}
