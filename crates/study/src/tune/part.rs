//! Which messages is something measured on? All of a stream, or a part of it that keeps what was learnt apart from what it is tried on.

use lastmile_payload::transcript::Messages;
use std::ops::Range;

/// Some messages of a stream, as they are numbered there: connection by connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// As it is told: `all`, `the second half`.
    pub(super) name: String,
    pub(super) messages: Range<usize>,
}

impl Part {
    /// Every message.
    pub(super) fn all(messages: &Messages) -> Self {
        Self {
            name: "all".to_owned(),
            messages: 0..messages.len(),
        }
    }

    /// The first messages, of at most so many octets, one at least; all where they are fewer.
    pub(super) fn first_octets(messages: &Messages, most: u64) -> Self {
        if messages.total().get() <= most {
            return Self::all(messages);
        }
        let mut octets = 0;
        let fitting = messages.payloads().take_while(|payload| {
            octets += payload.len() as u64;
            octets <= most
        });
        let count = fitting.count().max(1);
        Self {
            name: format!("the first {count} messages"),
            messages: 0..count,
        }
    }

    /// What of this part is behind its first `count` messages; none where nothing is.
    pub(super) fn behind(&self, count: usize) -> Option<Self> {
        let start = self.messages.start + count;
        (start < self.messages.end).then(|| Self {
            name: match count {
                1 => "all but the first message".to_owned(),
                _ => format!("all but the first {count} messages"),
            },
            messages: start..self.messages.end,
        })
    }

    /// The second half of this part, by messages; none of fewer than two.
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
    use crate::tune::tests::{message, recording};

    #[test]
    fn parts_leave_out_what_was_learnt_from_and_keep_connections_apart() {
        let mut messages = ["a1", "a2", "a3", "b1", "b2"].map(message);
        messages[3].connection = 1;
        messages[4].connection = 1;
        let recording = recording(&messages);
        let messages = &recording.messages.sent;
        let all = Part::all(messages);
        assert_eq!(all.connections(messages), [0..3, 3..5]);
        assert_eq!(all.behind(1).unwrap().connections(messages), [1..3, 3..5]);
        assert_eq!(all.behind(5), None);
        assert_eq!(all.second_half().unwrap().connections(messages), [2..3, 3..5]);
        assert_eq!(Part::first_octets(messages, 10), all);
        assert_eq!(Part::first_octets(messages, 9).messages, 0..4);
        assert_eq!(Part::first_octets(messages, 1).messages, 0..1);
    }
}
