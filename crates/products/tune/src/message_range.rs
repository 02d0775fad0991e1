//! The messages that a measurement is made on: all of a stream, or a part, such as those that a dictionary was not made from.

use lastmile_traffic::messages::Messages;
use std::ops::Range;

/// A range of a stream's messages, numbered connection by connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MessageRange {
    /// Its name in reports: `all`, `the second half`.
    pub(super) name: String,
    pub(super) messages: Range<usize>,
}

impl MessageRange {
    /// Every message.
    pub(super) fn all(messages: &Messages) -> Self {
        Self {
            name: "all".to_owned(),
            messages: 0..messages.len(),
        }
    }

    /// The first messages, with at most `most` bytes, but at least one message; all if they have no more bytes.
    pub(super) fn first_bytes(messages: &Messages, most: u64) -> Self {
        if messages.total().get() <= most {
            return Self::all(messages);
        }
        let mut bytes = 0;
        let fitting = messages.payloads().take_while(|payload| {
            bytes += payload.len() as u64;
            bytes <= most
        });
        let count = fitting.count().max(1);
        Self {
            name: format!("the first {count} messages"),
            messages: 0..count,
        }
    }

    /// This part without its first `count` messages; none if nothing remains.
    pub(super) fn after_first(&self, count: usize) -> Option<Self> {
        let start = self.messages.start + count;
        (start < self.messages.end).then(|| Self {
            name: match count {
                1 => "all but the first message".to_owned(),
                _ => format!("all but the first {count} messages"),
            },
            messages: start..self.messages.end,
        })
    }

    /// The second half of this part, by number of messages; none if it has fewer than two.
    pub(super) fn second_half(&self) -> Option<Self> {
        let half = self.messages.len() / 2;
        (half > 0).then(|| Self {
            name: "the second half".to_owned(),
            messages: self.messages.start + half..self.messages.end,
        })
    }

    /// Its messages, connection by connection.
    pub(super) fn connections(&self, messages: &Messages) -> Vec<Range<usize>> {
        let of_it = messages.connections().iter().map(|connection| {
            let own = &connection.messages;
            own.start.max(self.messages.start)..own.end.min(self.messages.end)
        });
        of_it.filter(|own| !own.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{message, recording};

    #[test]
    fn parts_leave_out_what_was_learnt_from_and_keep_connections_apart() {
        let mut messages = ["a1", "a2", "a3", "b1", "b2"].map(message);
        messages[3].connection = 1;
        messages[4].connection = 1;
        let recording = recording(&messages);
        let messages = &recording.messages.sent;
        let all = MessageRange::all(messages);
        assert_eq!(all.connections(messages), [0..3, 3..5]);
        assert_eq!(all.after_first(1).unwrap().connections(messages), [1..3, 3..5]);
        assert_eq!(all.after_first(5), None);
        assert_eq!(all.second_half().unwrap().connections(messages), [2..3, 3..5]);
        assert_eq!(MessageRange::first_bytes(messages, 10), all);
        assert_eq!(MessageRange::first_bytes(messages, 9).messages, 0..4);
        assert_eq!(MessageRange::first_bytes(messages, 1).messages, 0..1);
    }
}
